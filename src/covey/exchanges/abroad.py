"""Which of our work is in the hands of an agent of another system: its ids there, so that a restarted agent asks for it, not anew."""

from __future__ import annotations

from typing import NamedTuple

from covey.store import Transaction, relaxed, statement
from covey.store.upkeep import Pruned

PUT = statement(__package__, "abroad_put")
FIND = statement(__package__, "abroad_find")
PRUNE = statement(__package__, "abroad_prune")


class Abroad(NamedTuple):
    """Where a piece of work, or a conversation, is."""

    url: str
    """The card of the agent that has it."""
    task_id: str
    """Empty if it has no task of it."""
    context_id: str


def keep(tx: Transaction, key: str, agent: str, where: Abroad) -> None:
    """Remember it. `key` is the id of our task, message or thread."""
    tx.run(PUT, key=key, agent=agent, url=where.url, task_id=where.task_id, context_id=where.context_id, now=tx.now)


def find(tx: Transaction, key: str, agent: str, url: str) -> Abroad | None:
    """Where it is, if this agent gave it to that card's; None if it is not there."""
    row = tx.one(FIND, key=key)
    return Abroad(row.url, row.task_id, row.context_id) if row is not None and (row.agent, row.url) == (agent, url) else None


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Forget what was abroad longer ago than this."""
    deleted = tx.run(PRUNE, before=tx.now - older_s, limit=limit)
    return Pruned(deleted, after if deleted == limit else None)
