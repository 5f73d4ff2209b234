"""Offer a task to another agent: one verb for every door, and one for a brain's own outcome (Q3).

The fleet itself writes to the receiver: an offer moves a task and must not wait for a credit, so it counts on no link's limit; but an
agent offers nothing where it may not write. What the giver says of the task is the offer's, not the mail's: nobody's words are lent the
fleet's voice (M12).
"""

from __future__ import annotations

import msgspec

from covey.agents import living
from covey.agents.model import Caller, as_agent
from covey.base.errors import Conflict, Forbidden, Invalid, NotFound
from covey.base.ids import is_id
from covey.brains.model import Parcel
from covey.contexts import entries
from covey.messages import sending
from covey.store import Row, Transaction, locking, statement
from covey.tasks import handing, working
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN
from covey.teams.handoffs import able, reading
from covey.teams.handoffs.model import DEADLINE_S, MOST_HOPS, Handoff, HandoffDraft, check, circle

ADD = statement(__package__, "add")

OWN_ENTRIES = 20
"""So many entries of the giver's context that are about the task go with it."""


@locking(lambda draft, *_, **__: [("task", draft.task_id)] if is_id(str(draft.task_id)) else [])
def offer(tx: Transaction, draft: HandoffDraft, by: Caller) -> Handoff:
    """The offer of a task that waits or runs; the same one again answers with the first.

    A waiting task is set aside until the offer ends. A running one goes on meanwhile: its result counts if it comes first.

    Raises:
        Invalid, TooLarge: The draft is of the wrong form, or something in it is no JSON; `field` is the path.
        NotFound: There is no such task; Unknown, Gone: no such receiver.
        Forbidden: The task is not the caller's to give.
        Conflict: It is offered already, has ended, has come too far, or the receiver can't do it; those who can are named.
    """
    given = check(draft, tx.now)
    assert isinstance(given, HandoffDraft)
    tx.lock("task", given.task_id)
    row = tasks.seek(tx, given.task_id)
    if row is None:
        raise NotFound(f"there is no task {given.task_id!r}; `covey task list` lists ids.", field="taskId")
    owner = _owner(tx, row, by)
    known = _open(tx, row, given.to)
    if known is not None:
        return known
    _check_state(tx, row)
    made = _offer(tx, row, owner, given, by, given.deadline)
    if row.state != "running":
        handing.set_aside(tx, row, owner, made.handoff_id)
    return made


def offer_held(tx: Transaction, agent: str, token: str, parcel: Parcel | None) -> Handoff:
    """The offer that an agent's brain makes of the task at hand: the attempt is over, does not count, and the task is set aside.

    Raises:
        LeaseLost: The token is not current; nothing changed.
        CoveyError: As `offer`.
    """
    row = tx.one(working.HELD, token=token)
    if row is None or row.holder != agent:
        raise working.lost(agent)
    if parcel is None:
        raise Invalid("the outcome hands the task over and does not say to whom; name an agent in handoff.to.", field="handoff")
    given = check(parcel, tx.now)
    known = _open(tx, row, given.to)
    made = known or _offer(tx, row, agent, given, as_agent(agent), None)
    handing.set_aside(tx, row, agent, made.handoff_id)
    return made


def _owner(tx: Transaction, row: Row, by: Caller) -> str:
    """Whose task it is, if the caller may offer it: its owner, the lead and the operator may."""
    owner = handing.owner_of(row)
    if row.state not in OPEN:
        raise Conflict(f"the task {row.id} is {row.state}; only one that has not ended can be handed over.", state=row.state)
    if owner is None:
        raise Conflict(
            f"the task {row.id} waits for whoever is free, so it is nobody's to hand over; `covey task reassign {row.id} AGENT` gives it."
        )
    if by.name != owner and not living.may_command(tx, by):
        raise Forbidden(f"the task {row.id} is {owner}'s, not {by.name}'s to hand over: its owner, the lead and the operator may.")
    return owner


def _open(tx: Transaction, row: Row, to: str) -> Handoff | None:
    """The open offer of the task, if it is to the same one."""
    found = reading.open_of(tx, row.id)
    if found is None:
        return None
    if found.to != to:
        raise Conflict(
            f"the task {row.id} is offered to {found.to} already ({found.handoff_id}), until that one answers; one offer at a time.",
            handoff=found.handoff_id,
            to=found.to,
        )
    found.known = True
    return found


def _check_state(tx: Transaction, row: Row) -> None:
    if row.state == "blocked" and row.split_at is not None:
        raise Conflict(f"the task {row.id} was split, and waits for its parts; hand those over.", state=row.state)
    if row.state != "blocked" or row.waiting_for is None:
        return
    before = tx.one(reading.FIND, id=row.waiting_for)
    if before is not None:
        raise Conflict(f"the task {row.id} can be handed on once {before.giver}'s run is known to have ended; try again then.")
    raise Conflict(f"the task {row.id} waits for an answer ({row.waiting_for}) that is its owner's to hear; try again then.")


def _offer(tx: Transaction, row: Row, giver: str, parcel: Parcel, by: Caller, deadline: float | None) -> Handoff:
    if parcel.to == giver:
        raise Invalid(f"to is {giver!r}, whose task it is already; name another agent.", field="to")
    before = reading.of_task(tx, row.id)
    path = _path(before, giver)
    if len(path) > MOST_HOPS:
        raise Conflict(
            f"the task {row.id} was handed over {len(path) - 1} times ({' → '.join(path)}), and {MOST_HOPS} is the most;"
            f" {giver} finishes it, or the operator reassigns it.",
            path=path,
        )
    passed_over = _passed_over(before, giver) if by.name == giver else {}
    receiver = able.receiver_of(tx, row, giver, parcel.to, [*passed_over, *path])
    if receiver in passed_over:
        names = [each.name for each in able.able(tx, row, giver) if each.name not in passed_over]
        raise Conflict(
            f"{receiver} has {passed_over[receiver]} this task already; "
            + (f"offer it to {' or '.join(names[:5])}, or do it." if names else "nobody else is able: do it, or fail it with the reason."),
            field="to",
            candidates=names,
        )
    if by.kind == "agent":
        able.check_linked(tx, giver, receiver)
    return _store(tx, row, giver, receiver, parcel, by, path, deadline)


def _path(before: list[Handoff], giver: str) -> list[str]:
    """Whom the task has passed through by handoffs, its giver last. Pure."""
    accepted = [each for each in before if each.state == "accepted"]
    path = [accepted[0].from_, *(each.to for each in accepted)] if accepted else []
    return path if path and path[-1] == giver else [*path, giver]


def _passed_over(before: list[Handoff], giver: str) -> dict[str, str]:
    """Who has declined the task, or let the offer expire, since it is its giver's: name to which of the two. Pure."""
    since: dict[str, str] = {}
    for each in before:
        if each.state == "accepted":
            since.clear()
        elif each.state in ("declined", "expired") and each.from_ == giver:
            since[each.to] = "declined" if each.state == "declined" else "not answered the offer of"
    return since


def _store(
    tx: Transaction, row: Row, giver: str, receiver: str, parcel: Parcel, by: Caller, path: list[str], deadline: float | None
) -> Handoff:
    ident = tx.new_id("handoff")
    package = {
        "reason": parcel.reason,
        "task_state": parcel.task_state,
        "progress": parcel.progress,
        "context": _context(tx, row.id, giver, parcel, ident),
    }
    until = deadline if deadline is not None else tx.now + DEADLINE_S
    tx.run(
        ADD,
        id=ident,
        task_id=row.id,
        giver=giver,
        receiver=receiver,
        offered_by=by.name,
        package=msgspec.json.encode(package).decode(),
        path=msgspec.json.encode(path).decode(),
        returns=int(receiver in path),
        waited_for=row.waiting_for,
        now=tx.now,
        deadline=until,
    )
    tx.happened("handoff.offered", agent=giver, subject=ident, task=row.id, to=receiver, by=by.name, until=until, path=path)
    _tell(tx, ident, row.id, giver, receiver, circle(path, receiver), until)
    return reading.show(tx, ident)


def _context(tx: Transaction, task_id: str, giver: str, parcel: Parcel, ident: str) -> list[dict[str, object]]:
    """What the receiver is to remember: what the giver says, and what its own context has on this task."""
    said = [
        _entry(f"{ident}.{place}", each.kind, each.text, each.at if each.at is not None else tx.now, task_id)
        for place, each in enumerate(parcel.context)
    ]
    own = [entry for entry in entries.live(tx, giver) if entry.source == task_id][-OWN_ENTRIES:]
    return [*(_entry(each.id, each.kind, each.text, each.at, task_id) for each in own), *said]


def _entry(ident: str, kind: str, text: str, at: float, source: str) -> dict[str, object]:
    return {"id": ident, "kind": kind, "text": text, "at": at, "source": source}


def _tell(tx: Transaction, ident: str, task_id: str, giver: str, receiver: str, back: list[str], until: float) -> None:
    words = [f"{giver} offers you the task {task_id}, with its state and what is to be known of it. It is yours once you accept."]
    if back:
        words.append(f"You have had it before ({' → '.join(back)}): accepting needs your consent too.")
    consent = ' and "consent": true' if back else ""
    words.append(
        f'Your outcome accepts it with "accept": true{consent}, or declines it with "accept": false and the reason in its summary;'
        f" by hand: `covey handoff accept {ident}` or `covey handoff decline {ident}`. If it is not accepted within"
        f" {until - tx.now:.0f} s, it goes back."
    )
    sending.notify(
        tx,
        receiver,
        f"Offered: {task_id} of {giver}",
        " ".join(words),
        type=reading.HANDOVER,
        priority="high",
        related_tasks=[task_id],
        data={reading.OFFER: ident, "taskId": task_id, "from": giver},
        prompts=True,
        expires_at=until,
    )
    tx.ring(receiver)
