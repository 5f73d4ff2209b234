"""The names under which this server may be asked for: a web page must not reach a local fleet by DNS rebinding or a cross-site form.

Host must be one of ours on every request, Origin too where it is sent; the port of either does not matter.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import NamedTuple

from covey.base.errors import ForeignOrigin
from covey.base.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared, not bound
REMEMBERED = 256
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://([^/?#@\s]{1,300})")


class Asked(NamedTuple):
    """What a request says of where it comes from."""

    method: str
    host: bytes | None
    origin: bytes | None
    fetch_site: bytes | None
    bound_to: str | None
    """The address that the connection came in on."""


def asked(scope: Mapping[str, object], headers: Mapping[bytes, bytes]) -> Asked:
    """What the scope and headers of a request say. Pure."""
    server = scope.get("server")
    here = str(server[0]) if isinstance(server, tuple | list) and server else None
    return Asked(str(scope["method"]), headers.get(b"host"), headers.get(b"origin"), headers.get(b"sec-fetch-site"), here)


def name_of(authority: str) -> str | None:
    """The host of `host:port`, in lower case and without brackets; None if it is of no such form. Pure."""
    match = _AUTHORITY.fullmatch(authority)
    return (match[1] or match[2]).lower().removesuffix(".") if match else None


class Hosts:
    """Who may be meant, by the settings. Host headers that were found good are remembered."""

    def __init__(self, settings: Settings) -> None:
        self._everywhere = settings.host in EVERYWHERE
        self._names = LOOPBACK | {settings.host.lower()} | {name.lower().strip("[]") for name in settings.allowed_hosts}
        self._good: dict[tuple[bytes, str | None], bool] = {}

    def check(self, request: Asked) -> bool:
        """Whether it was asked for by a loopback name.

        Raises:
            ForeignOrigin: Host or Origin is not ours, or another site's page sends a write.
        """
        key = (request.host or b"", request.bound_to)
        loopback = self._good.get(key)
        if loopback is None:
            loopback = self._check_host(request)
            if len(self._good) < REMEMBERED:
                self._good[key] = loopback
        if request.origin is not None:
            self._check_origin(request)
        if request.fetch_site == b"cross-site" and request.method not in SAFE_METHODS:
            raise ForeignOrigin(
                "another site's page sent this (Sec-Fetch-Site: cross-site); only pages of this fleet may.", field="Sec-Fetch-Site"
            )
        return loopback

    def _check_host(self, request: Asked) -> bool:
        said = (request.host or b"").decode("latin-1")
        name = name_of(said)
        if name is None or not self._ours(name, request.bound_to):
            raise ForeignOrigin(
                f"the Host header is {said[:200]!r}, no name of this fleet; ask for localhost, or list it in `allowed_hosts`.",
                field="Host",
            )
        return name in LOOPBACK

    def _check_origin(self, request: Asked) -> None:
        said = (request.origin or b"").decode("latin-1")
        match = _ORIGIN.fullmatch(said)
        name = name_of(match[1]) if match else None
        if name is None or not self._ours(name, request.bound_to):
            raise ForeignOrigin(
                f"the Origin header is {said[:200]!r}: another site's page; list its host in `allowed_hosts` of covey.toml if it is yours.",
                field="Origin",
            )

    def _ours(self, name: str, bound_to: str | None) -> bool:
        """Bound to all addresses, the one the connection came in on is ours too: an address, unlike a name, can't be rebound."""
        return name in self._names or (self._everywhere and name == bound_to and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
