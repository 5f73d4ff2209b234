"""Bearer tokens: the store knows only their hashes (DESIGN, Security). The tokens themselves stand in one file (`base.token_file`)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import NamedTuple

from covey.agents.model import OPERATOR, OWNER, THE_OPERATOR, Caller, as_agent
from covey.store import Transaction, statement

PUT = statement(__package__, "token_put")
OF = statement(__package__, "token_of")
ANY = statement(__package__, "token_any")


class Holder(NamedTuple):
    """Who holds a token."""

    caller: Caller
    external: bool
    """Whether it is an agent without a process of ours, so that its calls are its heartbeat (A5b)."""


def hash_of(token: str) -> str:
    """The hash under which a token is stored. It has 256 random bits, so that no salt and no slow hash is needed. Pure."""
    return hashlib.sha256(token.encode()).hexdigest()


def put(tx: Transaction, name: str, token_hash: str) -> None:
    """This hash is the one of the agent's or the operator's token from now on; the token before it opens nothing any more."""
    if tx.run(PUT, name=name, hash=token_hash, now=tx.now):
        tx.happened("token.changed", agent=name)


def put_all(tx: Transaction, hashes: Mapping[str, str]) -> None:
    """As `put`, for each name."""
    for name, token_hash in hashes.items():
        put(tx, name, token_hash)


def who(tx: Transaction, token_hash: str) -> Holder | None:
    """Whose token has this hash; None if nobody's, or that of an agent who is gone."""
    row = tx.one(OF, hash=token_hash)
    if row is None or not hmac.compare_digest(row.hash, token_hash):
        return None
    if row.name == OPERATOR:
        return Holder(THE_OPERATOR, external=False)
    if row.name.startswith(OWNER):
        return Holder(Caller("owner", row.name), external=False)
    if row.agent is None or row.removed_at is not None:
        return None
    return Holder(as_agent(row.name), external=row.brain == "external")


def any_there(tx: Transaction) -> bool:
    """Whether anybody has a token."""
    return tx.one(ANY) is not None
