"""Who looks at the console: the cookie of a sign-in, known by its hash and remembered for two seconds, and the word that forms carry.

A cookie goes to every port of its host and to every page of its site, so it alone changes nothing: a form needs the word that only our
own pages know (CSRF), and must come from our own origin, port included.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping

from covey.agents import sign_ins, tokens
from covey.agents.model import THE_OPERATOR, Caller
from covey.base.clock import Clock
from covey.base.errors import Forbidden, ForeignOrigin
from covey.base.ids import new_secret
from covey.store import Store

REMEMBERED_S = 2.0
REMEMBERED = 1024
"""So many cookies are remembered at most, wrong ones among them."""
_SECRET = re.compile(r"[A-Za-z0-9_-]{20,100}")


class Visits:
    """Knows which cookies of late were sign-ins that hold. Secrets themselves are never kept."""

    def __init__(self, store: Store, clock: Clock, port: int) -> None:
        self.cookie = f"covey_console_{port}"
        """Named by the port, since cookies of one host are shared by all of its ports: two fleets do not sign each other out."""
        self._store = store
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}

    def secret(self, headers: Mapping[bytes, bytes]) -> str | None:
        """The secret that a request's cookie carries; None if it carries none."""
        found = _cookies(headers).get(self.cookie)
        return found if found is not None and _SECRET.fullmatch(found) else None

    async def caller(self, headers: Mapping[bytes, bytes]) -> Caller | None:
        """The operator, if the request's cookie is a sign-in that holds; else nobody."""
        secret = self.secret(headers)
        return THE_OPERATOR if secret is not None and await self._holds(hash_of(secret)) else None

    async def _holds(self, secret_hash: str) -> bool:
        now = self._clock.boot()
        until, holds = self._known.get(secret_hash, (0.0, False))
        if until > now:
            return holds
        found = await self._store.read(sign_ins.find, secret_hash)
        if found is not None and found.due:
            await self._store.write(sign_ins.prolong, found)
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[secret_hash] = (now + REMEMBERED_S, found is not None)
        return found is not None

    def forget(self) -> None:
        """A sign-in may have ended: each is looked up anew."""
        self._known.clear()

    async def begin(self, token: str) -> str:
        """The secret of a new sign-in by the operator's token.

        Raises:
            Unauthorized: It is not the operator's token.
        """
        secret = new_secret()
        await self._store.write(sign_ins.begin, tokens.hash_of(token.strip()), hash_of(secret))
        return secret

    async def end(self, headers: Mapping[bytes, bytes]) -> None:
        """The sign-in of this request's cookie ends at once."""
        secret = self.secret(headers)
        if secret is not None:
            self._known.pop(hash_of(secret), None)
            await self._store.write(sign_ins.end, hash_of(secret))

    def word(self, headers: Mapping[bytes, bytes]) -> str:
        """What the forms of this sign-in's pages carry."""
        return word_of(self.secret(headers) or "")

    def check(self, headers: Mapping[bytes, bytes], word: str) -> None:
        """Let a form through that one of our own pages sent.

        Raises:
            ForeignOrigin: Another origin's page sent it, if only one of another port.
            Forbidden: It does not carry this sign-in's word.
        """
        check_origin(headers)
        if not hmac.compare_digest(word.encode(), self.word(headers).encode()):
            raise Forbidden(
                "this page is from before you signed in; nothing was done. Load the page again, then do it again.",
                field="csrf",
            )


def check_origin(headers: Mapping[bytes, bytes]) -> None:
    """Let a form through that comes from the origin it is sent to. Pure.

    Raises:
        ForeignOrigin: It comes from elsewhere, or does not say where from.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    site = headers.get(b"sec-fetch-site", b"same-origin")
    if origin.partition("://")[2].lower() != host.lower() or site != b"same-origin":
        raise ForeignOrigin(
            f"a page of {origin[:200] or 'an unnamed origin'} sent this, not one of {host[:200]}; nothing was done.", field="Origin"
        )


def hash_of(secret: str) -> str:
    """The hash under which a secret is stored; it has 256 random bits. Pure."""
    return hashlib.sha256(secret.encode()).hexdigest()


def word_of(secret: str) -> str:
    """The word that belongs to a secret and does not tell it. Pure."""
    return hmac.new(secret.encode(), b"covey console form", hashlib.sha256).hexdigest()[:43]


def _cookies(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """All cookies, as they stand. Other servers of this host set theirs too, and no form of those may hide ours. Pure."""
    parts = (part.partition("=") for part in headers.get(b"cookie", b"").decode("latin-1").split(";"))
    return {name.strip(): value.strip() for name, _, value in parts}


def cookie_of(headers: Mapping[bytes, bytes], name: str) -> str:
    """The value of a cookie; empty if there is none. Pure."""
    return _cookies(headers).get(name, "")
