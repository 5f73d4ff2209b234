"""Where the fleet may call out to: an address that somebody configured or sent must not lead into the private network (SSRF).

The name is looked up once, every address that it has is judged, and the connection is made to just those: a name that answers
otherwise the next time changes nothing. Nobody here follows a redirect. Blocking; an event loop calls it in a thread.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from covey.base.errors import Forbidden, Invalid, NotRunning
from covey.base.sockets import secured
from covey.base.target import Target

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_EMBEDDING = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
"""IPv6 addresses whose last 32 bits are an IPv4 address: that one is called in the end."""
_NEVER_PUBLIC = (ipaddress.IPv6Network("64:ff9b:1::/48"), ipaddress.IPv6Network("fec0::/10"))
"""Private ranges that `is_global` takes for public."""
_HOST = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,253}")


class Allowed:
    """Which private places may be called all the same: hosts by name, addresses and networks (`10.0.0.0/8`)."""

    def __init__(self, places: Iterable[str] = (), field: str = "allow_private") -> None:
        self._hosts: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for place in places:
            try:
                self._networks.append(ipaddress.ip_network(place))
            except ValueError:
                if not _HOST.fullmatch(place):
                    said = f"{field} has {place[:100]!r}, which is no host name, address or network like 10.0.0.0/8."
                    raise Invalid(said, field=field) from None
                self._hosts.add(place.lower())

    def has_host(self, host: str) -> bool:
        """Whether whatever this name leads to may be called. Pure."""
        return host.lower().rstrip(".") in self._hosts

    def has(self, address: Address) -> bool:
        """Whether this address may be called although it is private. Pure."""
        return any(address in network for network in self._networks if network.version == address.version)


NOTHING = Allowed()


def inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, else the address itself. Pure."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in _EMBEDDING) and int(address) > 1:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, and of one machine there. Pure."""
    found = inner(address)
    return found.is_global and not (found.is_multicast or found.is_reserved or any(found in network for network in _NEVER_PUBLIC))


def check_address(host: str, text: str, allowed: Allowed = NOTHING) -> None:
    """Refuse an address that a host leads to unless it is public or allowed. Pure.

    Raises:
        Forbidden: It is private; the message says how to allow it.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if not (is_public(address) or allowed.has_host(host) or allowed.has(inner(address))):
        raise Forbidden(
            f"{host} is at {address}, which is a private address; a fleet calls none unless it is allowed. List the host, the address"
            " or its network in allow_private if this is meant.",
            field="url",
        )


def addresses(host: str, port: int, allowed: Allowed = NOTHING) -> list[str]:
    """The addresses of a host, each of them judged; looked up once.

    Raises:
        Forbidden: One of them is private and not allowed.
        NotRunning: The name is not known.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or type(error).__name__
        raise NotRunning(f"{host} can't be found ({said}); is the name right?") from error
    places = list(dict.fromkeys(str(each[4][0]) for each in found))
    for place in places:
        check_address(host, place, allowed)
    return places


def connect(target: Target, allowed: Allowed = NOTHING, *, timeout_s: float) -> socket.socket:
    """A connection to the target, made to an address that was judged; TLS is checked against the host's name.

    Raises:
        Forbidden: The target is private and not allowed.
        NotRunning: Nobody answers there.
    """
    sock = _socket(target, addresses(target.host, target.port, allowed), timeout_s)
    try:
        return secured(sock, target)
    except OSError as error:
        raise NotRunning(f"{target.authority} does not speak TLS as it should ({_said(error)}).") from error


def _socket(target: Target, places: list[str], timeout_s: float) -> socket.socket:
    said = "it has no address"
    for place in places:
        try:
            return socket.create_connection((place, target.port), timeout=timeout_s)
        except OSError as error:
            said = _said(error)
    raise NotRunning(f"{target.authority} can't be reached ({said}).")


def _said(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
