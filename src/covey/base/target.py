"""The parts of an http or https address, checked; shared by all that call one."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from covey.base.errors import Invalid

_PORTS = {"http": 80, "https": 443}
_URL_CHARACTERS = 2000


class Target(NamedTuple):
    """An address to call, in its parts."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query; `/` at least."""

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = in_url(self.host)
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def in_url(host: str) -> str:
    """A host as it stands in a URL, an IPv6 address in brackets. Pure."""
    return f"[{host}]" if ":" in host else host


def reached_by(host: str) -> str:
    """The address by which a bound one is reached: one that means `all` by loopback. Pure."""
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound


def authority_of(host: str, port: int) -> str:
    """Host and port by which a bound port is reached, as they stand in a URL. Pure."""
    return f"{in_url(reached_by(host))}:{port}"


def target_of(url: str, field: str = "url") -> Target:
    """The parts of an http or https address. Pure.

    Raises:
        Invalid: It is none, or holds a password, which would end in logs.
    """
    if len(url) > _URL_CHARACTERS or not url.isascii() or not url.isprintable() or " " in url:
        raise Invalid(f"{field} is at most {_URL_CHARACTERS:,} printable ASCII characters without spaces.", field=field)
    try:
        at = urlsplit(url)
        port = at.port
    except ValueError as error:
        # what is said of a port may be a password
        raise Invalid(f"{field} is no address; give one as https://host/path.", field=field) from error
    if at.scheme not in _PORTS or not at.hostname or port == 0:
        raise Invalid(f"{field} must be an http or https address, as https://host/path.", field=field)
    if at.username is not None or at.password is not None:
        raise Invalid(f"{field} holds a name or password before the host; leave it out and give a token or secret.", field=field)
    path = (at.path or "/") + (f"?{at.query}" if at.query else "")
    return Target(at.scheme, at.hostname, port or _PORTS[at.scheme], path)
