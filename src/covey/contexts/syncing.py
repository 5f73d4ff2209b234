"""Context exchanged between buddies: entries merged by id, in any order, any number of times (C6)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden
from covey.base.settings import AgentSettings
from covey.contexts import entries
from covey.contexts.model import Entry
from covey.store import Transaction

BACK = 100
"""So many entries go back at most."""
BACK_CHARS = 2_000_000
"""And so many characters of them, but for a single one that has more."""


class Synced(NamedTuple):
    """How many entries were new here, how many were known, and this agent's own since the time that was asked for."""

    accepted: int
    known: int
    entries: list[Entry]


def sync(tx: Transaction, agent: str, given: list[Entry], by: Caller, *, since: float | None = None, claimed: str | None = None) -> Synced:
    """What came of a buddy's entries here. They enter as notes, as data: they approve nothing (M12).

    Raises:
        Forbidden: The caller is not this agent's buddy, nor the operator; or `from` (`claimed`) is not who it is.
    """
    me = roster.find(tx, agent)
    if claimed is not None and claimed != by.name:
        raise Forbidden(f"from is {claimed!r}, but the token is {by.name}'s; leave `from` out or use the right token.", field="from")
    if by.kind == "agent" and me.buddy != by.name and roster.find(tx, by.name).buddy != agent:
        raise Forbidden(f"{by.name} is not {agent}'s buddy; only buddies exchange context.")
    bound = me.settings.get("max_context", AgentSettings(id=agent, port=0).max_context)
    accepted = entries.merge(tx, agent, given, bound, by=by.name)
    back = _at_once(entries.since(tx, agent, since, limit=BACK)) if since is not None else []
    return Synced(accepted, len(given) - accepted, back)


def _at_once(found: list[Entry]) -> list[Entry]:
    """The first of them that are not too much for one answer, one at least; the rest is asked for from the last one's time on. Pure."""
    room = BACK_CHARS
    for count, entry in enumerate(found):
        room -= len(entry.text)
        if room < 0:
            return found[: max(count, 1)]
    return found
