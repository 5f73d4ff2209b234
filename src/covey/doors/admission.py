"""Who calls: the bearer token of a request, looked up by its hash and remembered for two seconds, so that a rotation holds within them."""

from __future__ import annotations

from covey.agents import external, tokens
from covey.agents.model import Caller
from covey.agents.tokens import Holder
from covey.base.clock import Clock
from covey.base.errors import Unauthorized
from covey.store import Store

REMEMBERED_S = 2.0
REMEMBERED = 1024
"""So many tokens are remembered at most, wrong ones among them."""
SEEN_EACH_S = 10.0
"""An external agent's calls are recorded so often at most."""
_SCHEME = b"bearer "


class Admission:
    """Knows the holder of each token that was shown of late. Tokens themselves are never kept."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, tuple[float, Holder | None]] = {}
        self._seen: dict[str, float] = {}

    async def caller(self, authorization: bytes | None) -> Caller | None:
        """Who calls by this Authorization header; None without one.

        Raises:
            Unauthorized: It is no bearer token, or nobody's.
        """
        if authorization is None:
            return None
        if authorization[:7].lower() != _SCHEME:
            raise Unauthorized("the Authorization header is not `Bearer TOKEN`; `covey token show NAME` prints a token.")
        token = authorization[7:].strip().decode("latin-1")
        holder = await self._holder(tokens.hash_of(token))
        if holder is None:
            raise Unauthorized("nobody has this token; it may have been rotated. `covey token show NAME` prints the current one.")
        if holder.external:
            await self._note(holder.caller.name)
        return holder.caller

    async def _holder(self, token_hash: str) -> Holder | None:
        now = self._clock.boot()
        found = self._known.get(token_hash)
        if found is not None and found[0] > now:
            return found[1]
        holder = await self._store.read(tokens.who, token_hash)
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[token_hash] = (now + REMEMBERED_S, holder)
        return holder

    async def _note(self, name: str) -> None:
        """A call of an external agent is its heartbeat (A5b)."""
        now = self._clock.boot()
        if now - self._seen.get(name, float("-inf")) >= SEEN_EACH_S:
            self._seen[name] = now
            await self._store.write(external.seen, name)
