"""Buddy checks, as they are recorded: who looked after whom, and when (B2). A check costs no model call (A9)."""

from __future__ import annotations

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden
from covey.store import Transaction, relaxed, statement

CHECKED = statement(__package__, "buddy_checked")


@relaxed
def checked(tx: Transaction, agent: str, by: Caller, claimed: str | None = None) -> None:
    """Somebody has checked this agent. It counts as the checker's `lastBuddyCheck` if this is the buddy it watches (B1, B2).

    Raises:
        Forbidden: `from` (`claimed`) is not who the caller is (M11).
    """
    if claimed is not None and claimed != by.name:
        raise Forbidden(f"from is {claimed!r}, but the token is {by.name}'s; leave `from` out or use the right token.", field="from")
    if by.kind == "agent" and roster.find(tx, by.name).buddy == agent:
        tx.run(CHECKED, agent=by.name, now=tx.now)
