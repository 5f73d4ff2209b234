"""What an agent's poll asks: is anything ready, do my flags and leases stand, is there a leader. One cheap read."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.store import Transaction, statement

READY = statement(__package__, "ready")
STANDS = statement(__package__, "stands")


class Standing(NamedTuple):
    """How an agent stands right now."""

    takes_work: bool
    stopped: bool
    gone: bool
    mail: bool
    tasks: bool
    led: bool
    lost: frozenset[str]


def standing(tx: Transaction, agent: str, tokens: list[str], digest_s: float) -> Standing:
    """Whether mail or tasks are ready, which of these tokens are void, and the agent's flags."""
    me = roster.seek(tx, agent)
    if me is None or me.removed_at is not None:
        return Standing(False, True, True, False, False, True, frozenset(tokens))
    row = tx.one(READY, agent=agent, now=tx.now, quiet_before=tx.now - digest_s)
    lost = frozenset(token for token in tokens if tx.one(STANDS, token=token) is None)
    assert row is not None
    return Standing(me.takes_work, me.stopped_at is not None, False, bool(row.mail), bool(row.tasks), bool(row.led), lost)
