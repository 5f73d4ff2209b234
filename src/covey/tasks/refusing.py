"""Tasks that an agent's brain can't do: one of a shared queue is for the others who have the capability, until all have said so (A1a).

Nobody is given a second time what it has refused.
"""

from __future__ import annotations

from covey.store import Row, Transaction, statement
from covey.tasks import adding
from covey.tasks.model import after_move

REFUSE = statement(__package__, "refuse")
REFUSERS = statement(__package__, "refusers")
UNTRIED = statement(__package__, "untried")

MOST = 20
"""After so many refusals a task is taken for one that nobody can do."""


def mark(agent: str) -> str:
    """How an agent stands in `refused_by`; no name has these brackets. Pure."""
    return f"<{agent}>"


def refused_by(tx: Transaction, ident: str) -> list[str]:
    """The agents whose brains can't do a task, in the order in which they said so."""
    row = tx.one(REFUSERS, id=ident)
    return [name.rstrip(">") for name in row.refused_by.split("<")[1:]] if row is not None and row.refused_by else []


def pass_on(tx: Transaction, row: Row, agent: str, error: str, failed_by: str) -> bool:
    """Whether the task, which this agent's brain can't do, waits for others now. Its attempt does not count."""
    before = refused_by(tx, row.id)
    if row.agent is not None or len(before) + 1 >= MOST:
        return False
    if tx.one(UNTRIED, queue=row.queue, agent=agent, refused_by="".join(map(mark, before))) is None:
        return False
    after_move(row.state, "give_back")
    tx.run(REFUSE, id=row.id, error=error, failed_by=failed_by, mark=mark(agent), now=tx.now)
    tx.happened("task.refused_by", agent=agent, subject=row.id, why=error[:500])
    adding.ring_queue(tx, row.queue)
    return True
