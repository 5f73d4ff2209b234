"""Which addresses of others may be called: none that is private, unless the configuration lists it (SSRF). No I/O but the look-up of names.

A name is looked up once, and the address that was found good is the one to connect to: looked up again it might be another.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import urlsplit

from covey.base.errors import Failed, Forbidden, Invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
LookUp = Callable[[str, int], Awaitable[list[str]]]
LOOK_UP_S = 10.0
URL_CHARS = 2000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_HTTP = {"http": 80, "https": 443}


def is_public(text: str) -> bool:
    """Whether an address is one of the open internet. One that carries another inside it is judged by that too. Pure."""
    try:
        address = ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return False
    return address.is_global and not address.is_multicast and all(inner.is_global for inner in _inside(address))


def _inside(address: Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses to which an IPv6 one leads: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def place_of(url: str) -> tuple[str, int]:
    """The host and port of a URL that may be called at all. Pure.

    Raises:
        Invalid: It is no http or https URL with a host, or has a name and password in it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Invalid(f"the URL can't be read ({error}).", field="url") from error
    if len(url) > URL_CHARS or parts.scheme not in _HTTP or not parts.hostname:
        raise Invalid(f"the URL is {url[:200]!r}; give http:// or https:// with a host, at most {URL_CHARS} characters.", field="url")
    if parts.username is not None or parts.password is not None:
        raise Invalid("the URL has a name or password in it; give credentials in their own field.", field="url")
    return parts.hostname, port or _HTTP[parts.scheme]


class Reach:
    """Who may be called. `allowed` lists names, addresses and networks (`10.0.0.0/8`) that may be though they are private."""

    def __init__(self, allowed: Iterable[str] = (), look_up: LookUp | None = None) -> None:
        self._names: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for each in allowed:
            try:
                self._networks.append(ipaddress.ip_network(each, strict=False))
            except ValueError:
                self._names.add(each.lower())
        self._look_up = look_up or _look_up

    async def address(self, host: str, port: int) -> str:
        """The address to connect to.

        Raises:
            Forbidden: The host is, or may be, at an address that is private and not allowed.
            Failed: The name can't be looked up.
        """
        try:
            found = await asyncio.wait_for(self._look_up(host, port), LOOK_UP_S)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise Failed(f"{host[:200]} can't be looked up ({error!r}).", field="url") from error
        if not found or not (host.lower() in self._names or all(self._may_be(each) for each in found)):
            raise Forbidden(
                f"{host[:200]} is at an address that is not of the open internet; list it in `allow_private` of [a2a] if it is yours.",
                field="url",
            )
        return found[0]

    def _may_be(self, text: str) -> bool:
        if is_public(text):
            return True
        address = ipaddress.ip_address(text.split("%", 1)[0])
        return any(address in network for network in self._networks)


async def _look_up(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))
