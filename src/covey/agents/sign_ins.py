"""The operator's sign-ins to the console. The store knows the hash of each one's secret alone; a rotated token ends them all."""

from __future__ import annotations

import hmac
from typing import NamedTuple

from covey.agents import tokens
from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.base.errors import Unauthorized
from covey.store import Transaction, relaxed, statement

BEGIN = statement(__package__, "sign_in_begin")
FIND = statement(__package__, "sign_in_find")
PROLONG = statement(__package__, "sign_in_prolong")
END = statement(__package__, "sign_in_end")
HELD = statement(__package__, "sign_ins_held")
FORGET = statement(__package__, "sign_ins_forget")

UNUSED_S = 12 * 3600.0
"""One that is not used for so long ends."""
LONGEST_S = 7 * 86_400.0
"""Used or not, it ends after so long."""
PROLONGED_EACH_S = 600.0
"""Its use is recorded so often at most."""


class SignIn(NamedTuple):
    """A sign-in that holds; times are store time."""

    hash: str
    began_at: float
    ends_at: float
    due: bool = False
    """Whether its use is to be recorded, so that it ends later."""


class Held(NamedTuple):
    """A sign-in as it is shown: since when, and until when unless it is used again."""

    began_at: float
    ends_at: float


def begin(tx: Transaction, token_hash: str, secret_hash: str) -> SignIn:
    """A new sign-in, by the hash of the operator's token. Those that have ended are forgotten.

    Raises:
        Unauthorized: It is not the operator's token.
    """
    holder = tokens.who(tx, token_hash)
    if holder is None or holder.caller != THE_OPERATOR:
        raise Unauthorized(
            "this is not the operator's token; `covey token show operator` prints it on the fleet's machine.",
            field="token",
        )
    tx.run(FORGET, now=tx.now)
    ends_at = tx.now + UNUSED_S
    tx.run(BEGIN, hash=secret_hash, token_hash=token_hash, now=tx.now, ends_at=ends_at)
    tx.happened("operator.signed_in")
    return SignIn(secret_hash, tx.now, ends_at)


def find(tx: Transaction, secret_hash: str) -> SignIn | None:
    """The sign-in whose secret has this hash; None if there is none, it has ended, or the token was rotated."""
    row = tx.one(FIND, hash=secret_hash, name=OPERATOR, now=tx.now)
    if row is None or not hmac.compare_digest(row.hash, secret_hash):
        return None
    due = row.ends_at < min(tx.now + UNUSED_S - PROLONGED_EACH_S, row.began_at + LONGEST_S)
    return SignIn(row.hash, row.began_at, row.ends_at, due)


def held(tx: Transaction, limit: int = 1000) -> list[Held]:
    """The sign-ins that hold, the youngest first."""
    return [Held(row.began_at, row.ends_at) for row in tx.all(HELD, name=OPERATOR, now=tx.now, limit=limit)]


@relaxed
def prolong(tx: Transaction, found: SignIn) -> None:
    """It was used just now, and ends later for it."""
    tx.run(PROLONG, hash=found.hash, now=tx.now, ends_at=min(tx.now + UNUSED_S, found.began_at + LONGEST_S))


def end(tx: Transaction, secret_hash: str) -> None:
    """The operator has signed out: the secret opens nothing any more."""
    if tx.run(END, hash=secret_hash):
        tx.happened("operator.signed_out")
