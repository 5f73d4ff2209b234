"""Accept or decline an offer: the task is the receiver's from then on, or goes on with its giver. It counts for its own offer only."""

from __future__ import annotations

from typing import Literal

from covey.agents import roster
from covey.agents.model import OPERATOR, Caller, as_agent
from covey.base.errors import Conflict, Cycle, Forbidden
from covey.base.settings import AgentSettings
from covey.base.wire import fit
from covey.contexts import entries
from covey.contexts.entries import Entry
from covey.messages import sending
from covey.store import Row, Transaction, statement
from covey.tasks import handing
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN
from covey.teams.handoffs import able, reading
from covey.teams.handoffs.model import Handoff, circle

END = statement(__package__, "end")
WHY_BYTES = 2000

Ending = Literal["accepted", "declined", "expired", "withdrawn"]
_SAID: dict[str, str] = {
    "accepted": "{to} has accepted your task {task}; it is no longer yours.",
    "declined": "{to} declines your task {task}: {why}. It is yours to do, or to offer to somebody else.",
    "expired": "{to} has not answered in time, so your task {task} is yours again.",
    "withdrawn": "The offer of {task} to {to} is off: {why}.",
}


def accept(tx: Transaction, ident: str, by: Caller, *, consent: bool = False) -> Handoff:
    """The handoff, accepted: in this transaction the task leaves its giver, whose token is void, and is the receiver's.

    What goes with it enters the receiver's context. Accepted again by the same one, nothing changes.

    Raises:
        NotFound: There is no such offer. Forbidden: It was made to somebody else.
        Conflict: It is over, or the task has ended or moved.
        Cycle: The task was the receiver's before, and it does not consent; `details["circle"]` is the way it came.
    """
    row = _offered(tx, ident, by, "accepted")
    if row.state == "accepted":
        return _known(row)
    task = _task(tx, row)
    found = Handoff.from_row(row)
    if found.returns and not consent:
        back = circle(found.path, found.to)
        said = f"{' → '.join(back)}: the task {found.task_id} was {found.to}'s before"
        raise Cycle(f"{said}; accept it with consent, or decline.", circle=back)
    _remember(tx, found)
    run = handing.give(tx, task, found.to, ident, row.waited_for, as_agent(found.to))
    return ended(tx, row, "accepted", by.name, awaits_run=run)


def decline(tx: Transaction, ident: str, by: Caller, why: str = "") -> Handoff:
    """The handoff, declined by its receiver, or withdrawn by its giver: the task goes on with its giver.

    Raises:
        NotFound, Forbidden, Conflict: There is no such offer, it is neither made to the caller nor by it, or it is over.
    """
    row = _offered(tx, ident, by, "declined")
    if row.state != "offered":
        return _known(row)
    state: Ending = "withdrawn" if by.name == row.giver else "declined"
    return ended(tx, row, state, by.name, why or ("its giver withdrew it" if state == "withdrawn" else "no reason is given"))


def answer(tx: Transaction, found: Handoff, agent: str, said: bool | None, why: str, *, consent: bool = False) -> Handoff:
    """What an agent's turn on an open offer comes to. A brain that does not say accepts if the agent is able, else it declines (Q3).

    Raises:
        Conflict: As `accept`.
    """
    by = as_agent(agent)
    if said is None:
        row = tasks.seek(tx, found.task_id)
        unable = able.why_unable(tx, row, roster.find(tx, agent)) if row is not None else None
        if found.returns:
            unable = f"it was {agent}'s before ({' → '.join(circle(found.path, agent))}), and nobody said that it may come back"
        said, why = unable is None, unable or why
    return accept(tx, found.handoff_id, by, consent=consent) if said else decline(tx, found.handoff_id, by, why)


def ended(tx: Transaction, row: Row, state: Ending, by: str, why: str = "", awaits_run: str | None = None) -> Handoff:
    """End an open offer, its task locked before: what was set aside goes on, and who offered it hears of it."""
    why = fit(why.strip(), WHY_BYTES)
    tx.run(END, id=row.id, state=state, now=tx.now, by=by, why=why or None, awaits_run=awaits_run)
    if state != "accepted":
        handing.take_up(tx, row.task_id, row.id, row.waited_for)
        tx.ring(row.giver)
    agent = row.receiver if state in ("accepted", "declined") else row.giver
    words = {"from": row.giver, "to": row.receiver}
    tx.happened(f"handoff.{state}", agent=agent, subject=row.id, task=row.task_id, by=by, why=why[:500] or None, **words)
    _tell(tx, row, state, by, why)
    return reading.show(tx, row.id)


def _offered(tx: Transaction, ident: str, by: Caller, wanted: Ending) -> Row:
    """The row of an offer that the caller may answer so, or has; its task is locked.

    Raises:
        NotFound, Forbidden, Conflict: As `accept` and `decline`.
    """
    tx.lock("task", reading.seek(tx, ident).task_id)
    row = reading.seek(tx, ident)
    if by.kind != "operator" and by.name != row.receiver and not (wanted == "declined" and by.name == row.giver):
        raise Forbidden(f"the handoff {ident} is offered to {row.receiver}, not to {by.name}; an answer counts for its own offer only.")
    if row.state == wanted or (row.state == "withdrawn" and wanted == "declined" and by.name == row.giver):
        return row
    if row.state != "offered":
        raise Conflict(f"the handoff {ident} is {row.state} already{': ' + row.why if row.why else ''}.", state=row.state)
    if row.deadline <= tx.now:
        raise Conflict(f"the time to answer the handoff {ident} is over; the task is {row.giver}'s again.", state="expired")
    return row


def _task(tx: Transaction, row: Row) -> Row:
    """The task of an offer, still its giver's."""
    task = tasks.seek(tx, row.task_id)
    if task is None or task.state not in OPEN:
        state = task.state if task is not None else "gone"
        raise Conflict(f"the task {row.task_id} is {state}; there is nothing to take over.", state=state)
    if handing.owner_of(task) != row.giver:
        raise Conflict(f"the task {row.task_id} is no longer {row.giver}'s to give: it is {handing.owner_of(task) or 'nobody'}'s.")
    return task


def _known(row: Row) -> Handoff:
    found = Handoff.from_row(row)
    found.known = True
    return found


def _remember(tx: Transaction, found: Handoff) -> None:
    """What came with the task, in the receiver's context: others' words, as data (C6, M12)."""
    bound = roster.find(tx, found.to).settings.get("max_context", AgentSettings(id=found.to, port=0).max_context)
    given = [Entry(each["id"], each["kind"], each["text"], each["source"], 0, each["at"]) for each in found.context]
    if given:
        entries.merge(tx, found.to, given, bound, by=found.from_)


def _tell(tx: Transaction, row: Row, state: str, by: str, why: str) -> None:
    """Its giver, and the operator if that one offered it, hear what became of an offer; nobody of what it did itself."""
    words = _SAID[state].format(to=row.receiver, task=row.task_id, why=why.rstrip("."))
    for name in {row.giver, row.offered_by} & {row.giver, OPERATOR}:
        if name != by:
            sending.notify(tx, name, f"Handoff {state}: {row.task_id}", words, related_tasks=[row.task_id], data={reading.OFFER: row.id})
