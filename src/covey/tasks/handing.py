"""A task set aside while it is offered to another agent, taken up again, or made the other's (Q3). Who may do so is its callers' matter.

A task that is set aside waits under a mark, the id of the offer: nobody works on it, and only that offer lets it go on.
"""

from __future__ import annotations

from covey.agents.model import THE_SYSTEM, Caller
from covey.messages import handling
from covey.store import Row, Transaction, statement
from covey.tasks import changing, ending, reading, runs, working
from covey.tasks.model import after_move

SET_WAITING = statement(__package__, "set_waiting")


def owner_of(row: Row) -> str | None:
    """Whose task it is: its holder's while it runs, else that of the agent it is for; None: it is in a shared queue. Pure."""
    owner: str | None = row.holder if row.state == "running" else row.agent
    return owner


def set_aside(tx: Transaction, row: Row, owner: str, mark: str) -> None:
    """Nobody works on the task, locked before, until `take_up`; a running attempt ends and does not count. It is its owner's."""
    if row.state != "blocked":
        after_move(row.state, "wait" if row.state == "running" else "block")
    if row.agent != owner:
        changing.move(tx, row, owner, row.capability, THE_SYSTEM)
    _hold(tx, row, owner, mark)


def _hold(tx: Transaction, row: Row, owner: str, mark: str) -> None:
    attempts = row.attempts - (row.state == "running")
    tx.run(working.BLOCK, id=row.id, blockers=row.blockers + 1, waiting_for=mark, split_at=None, attempts=attempts)
    tx.happened("task.set_aside", agent=owner, subject=row.id, handoff=mark)


def is_set_aside(row: Row | None, mark: str) -> bool:
    """Whether it waits for this offer. Pure."""
    return row is not None and row.state == "blocked" and row.waiting_for == mark


def take_up(tx: Transaction, ident: str, mark: str, waited_for: str | None) -> None:
    """The task, locked before, goes on where it was set aside; one that was not, or has ended since, is left as it is."""
    if is_set_aside(reading.seek(tx, ident), mark):
        tx.run(SET_WAITING, id=ident, waiting_for=waited_for)
        ending.unblock(tx, ident)


def give(tx: Transaction, row: Row, to: str, mark: str, waited_for: str | None, by: Caller) -> str | None:
    """Make the task, locked before, another agent's; its old token changes nothing from now on.

    The run that must be known to have ended before the other one begins, if there is one (K4a): `take_up` lets the task go on then.
    """
    if row.state != "running":
        changing.move(tx, row, to, row.capability, by)
        take_up(tx, row.id, mark, waited_for)
        return None
    run = runs.find(tx, row.run_id) if row.run_id is not None else None
    lives = run is not None and run.ended_at is None and bool(run.node)
    handling.give_back(tx, row.token)
    if lives:
        _hold(tx, row, to, mark)
    else:
        working.give_back(tx, row.token, f"{row.holder} handed it over to {to}")
    changing.move(tx, row, to, row.capability, by)
    tx.ring(row.holder)
    return row.run_id if lives else None
