"""Add a task: one verb for every door. Its dependencies are a graph without cycles; its queue and place in line are fixed here."""

from __future__ import annotations

import msgspec

from covey.agents import configuring, roster
from covey.agents.model import Caller
from covey.base import tracing
from covey.base.errors import Cycle, Forbidden, IdTaken, Invalid, NotFound
from covey.base.ids import is_id
from covey.base.rings import tasks_of
from covey.messages.model import TASK_LEVEL_S, order_of
from covey.messages.sending import lock_id
from covey.store import Row, Transaction, locking, statement
from covey.tasks import making, reading, repeating
from covey.tasks.model import CheckedTask, Task, TaskDraft, check, is_shared, queue_of

ADD = statement(__package__, "add")
ADD_NEED = statement(__package__, "add_need")
ID_OF_MESSAGE = statement(__package__, "id_of_message")
OPEN_BY_KEY = statement(__package__, "open_by_key")
NEEDED_BY = statement(__package__, "needed_by")
TAKERS = statement(__package__, "takers")

GRAPH_BOUND = 100_000


def _locks(draft: TaskDraft, *_: object, **__: object) -> list[tuple[str, str]]:
    """What an add is going to lock, so that batches take it in one order."""
    needs = [("task", str(name)) for name in draft.dependencies if is_id(str(name))]
    return [("dedupe", ""), *needs] if draft.dedupe_key is not None else needs


@locking(_locks)
def add(
    tx: Transaction,
    draft: TaskDraft,
    by: Caller,
    *,
    origin: str | None = None,
    parent: str | None = None,
    schedule: str | None = None,
    visited: tuple[str, ...] = (),
) -> Task:
    """The task, stored and queued, or blocked by what it needs; a known id or an open dedupeKey answers with the first one (T3, K6).

    `parent` is set by a split, `schedule` by a schedule, `visited` by the turn that made it; else it is what the agent has in hand.

    Raises:
        Invalid, TooLarge: The draft is of the wrong form.
        IdTaken: Its id is somebody else's.
        Forbidden: It says that somebody else made it.
        Unknown, Gone: There is no such agent; NotFound: no such dependency.
        Cycle: Its dependencies close a circle; the path is said (K3).
        TooMany, TooDeep: The agent may make no more, or the chain of work has gone on for too long.
    """
    checked = check(draft)
    _check_creator(draft, by)
    known = _known(tx, draft, by, checked)
    if known is not None:
        return known
    _check_goal(tx, draft, checked)
    if origin is None:
        making.check_open(tx, by)
        visited = visited or making.in_hand(tx, by)
    visited = making.chain(by, visited)
    ident = draft.task_id or tx.new_id("task")
    needs = needed(tx, ident, draft.dependencies, parent)
    failed = next((need for need in needs if need.state in ("failed", "cancelled")), None)
    if failed is not None and not draft.anyway:
        raise Invalid(
            f"dependencies has {failed.id!r}, which is {failed.state}, so this could never run; {_instead(failed.state)}, or set anyway.",
            field="dependencies",
        )
    first = repeating.begin(tx, ident, draft, checked, by) if draft.schedule is not None else None
    row = _store(tx, ident, draft, checked, by, needs, first, origin=origin, parent=parent, schedule=schedule, visited=visited)
    return Task.from_row(row, sorted(need.id for need in needs))


def _instead(state: str) -> str:
    """What to do about a need that will never be done. Pure."""
    return "retry that one first" if state == "failed" else "name another one, since what was cancelled stays so"


def _check_creator(draft: TaskDraft, by: Caller) -> None:
    for field, name in (("from", draft.from_), ("createdBy", draft.created_by), ("assignedBy", draft.assigned_by)):
        if name is not None and name != by.name:
            raise Forbidden(f"{field} is {name!r}, but the token is {by.name}'s; leave it out or use the right token.", field=field)


def _known(tx: Transaction, draft: TaskDraft, by: Caller, checked: CheckedTask) -> Task | None:
    if draft.task_id is not None:
        lock_id(tx, draft.task_id)
        if tx.one(ID_OF_MESSAGE, id=draft.task_id) is not None:
            raise IdTaken(f"taskId {draft.task_id!r} is a message's id already; bring another one or none.", field="taskId")
        row = reading.seek(tx, draft.task_id)
        if row is not None:
            if row.created_by != by.name:
                raise IdTaken(
                    f"taskId {draft.task_id!r} is taken by a task of {row.created_by}; bring another one or none.", field="taskId"
                )
            task = reading.show(tx, draft.task_id)
            task.known, task.differs = True, row.digest != checked.digest
            return task
    found = open_by_key(tx, draft.dedupe_key)
    if found is None:
        return None
    task = reading.show(tx, found)
    task.known = True
    return task


def open_by_key(tx: Transaction, dedupe_key: str | None) -> str | None:
    """The id of the open task with this dedupeKey; nobody else opens one before the commit (K6)."""
    if dedupe_key is None:
        return None
    tx.lock("dedupe", "")
    row = tx.one(OPEN_BY_KEY, dedupe_key=dedupe_key)
    return row.id if row is not None else None


def _check_goal(tx: Transaction, draft: TaskDraft, checked: CheckedTask) -> None:
    configuring.check_project(tx, draft.project_id, "projectId")
    if draft.deadline is not None and draft.deadline <= tx.now:
        raise Invalid(
            f"deadline is {draft.deadline:.3f}, {tx.now - draft.deadline:.0f} s ago; give a time that is still to come.", field="deadline"
        )
    check_taker(tx, checked.agent, checked.capability)


def check_taker(tx: Transaction, agent: str | None, capability: str | None, *, field: str | None = None) -> None:
    """Refuse what nobody would take. `field` names what is at fault; `agent` or `capability` if not given.

    Raises:
        Unknown, Gone: There is no such agent.
        Invalid: It is for no agent, and nobody has the capability.
    """
    if agent is not None:
        roster.find(tx, agent, field=field or "agent")
    elif capability not in (known := roster.capabilities(tx)):
        raise Invalid(f"nobody has the capability {capability!r}; the fleet has: {', '.join(known)}.", field=field or "capability")


def needed(tx: Transaction, ident: str, names: list[str], parent: str | None) -> list[Row]:
    """The rows of the tasks it needs, each once, none of which can end before the commit; a circle is refused with its path (K3)."""
    for name in sorted(set(names)):
        tx.lock("task", name)
    needs = []
    for name in dict.fromkeys(names):
        row = None if name == ident else reading.seek(tx, name)
        if name == ident:
            raise Cycle(f"the task {ident!r} needs itself; leave that out of dependencies.", field="dependencies", circle=[ident, ident])
        if row is None:
            raise NotFound(f"dependencies has {name!r}, and there is no such task; `covey task list` lists ids.", field="dependencies")
        needs.append(row)
        path = path_of_needs(tx, name, parent) if parent is not None else []
        if path:
            circle = [parent, ident, *path]
            raise Cycle(
                f"{' needs '.join(str(each) for each in circle)}: a circle, none of which could ever run.",
                field="dependencies",
                circle=circle,
            )
    return needs


def _store(
    tx: Transaction,
    ident: str,
    draft: TaskDraft,
    checked: CheckedTask,
    by: Caller,
    needs: list[Row],
    first: repeating.First | None,
    *,
    origin: str | None,
    parent: str | None,
    schedule: str | None,
    visited: tuple[str, ...],
) -> Row:
    unmet = [need for need in needs if need.state not in ("done", "failed", "cancelled")]
    blockers = len(unmet) + draft.approval
    state = "blocked" if blockers else "queued"
    urgent, sort_key = order_of(checked.priority, tx.now, TASK_LEVEL_S)
    queue = queue_of(checked.agent, checked.capability, checked.priority)
    span = tx.span(draft.traceparent)
    row = tx.one(
        ADD,
        id=ident,
        description=draft.description,
        data=checked.data_json,
        state=state,
        queue=queue,
        agent=checked.agent,
        capability=checked.capability,
        priority=checked.priority,
        not_urgent=urgent,
        sort_key=sort_key,
        not_before=max(draft.not_before or tx.now, tx.now, first.slot if first is not None else 0.0),
        blockers=blockers,
        approval="wanted" if draft.approval else None,
        anyway=int(draft.anyway),
        parent_id=parent,
        project_id=draft.project_id,
        dedupe_key=first.dedupe_key if first is not None else draft.dedupe_key,
        schedule=first.name if first is not None else schedule,
        origin=origin or ("agent" if by.kind == "agent" else "operator"),
        created_by=by.name,
        now=tx.now,
        deadline=draft.deadline,
        estimated_s=checked.estimated_s,
        max_attempts=draft.max_attempts,
        visited=msgspec.json.encode(visited).decode(),
        traceparent=span.header if span is not None else draft.traceparent,
        digest=checked.digest,
    )
    for need in needs:
        tx.run(ADD_NEED, task_id=ident, needs_id=need.id, met_at=None if need in unmet else tx.now)
    tx.happened(
        "task.added",
        agent=checked.agent,
        subject=ident,
        by=by.name,
        head=draft.description[:120],
        queue=queue,
        needs=draft.dependencies,
        parent=parent,
        priority=checked.priority,
        state=state,
        **tracing.told(span),
    )
    if not blockers:
        ring_queue(tx, queue)
    return row


def path_of_needs(tx: Transaction, start: str, goal: str | None) -> list[str]:
    """How one task comes to need another, the shortest way: both ends included; empty if it does not."""
    if start == goal:
        return [start]
    before: dict[str, str] = {}
    line = [start]
    for here in line:
        for row in tx.all(NEEDED_BY, task_id=here):
            if row.needs_id in before or row.needs_id == start:
                continue
            before[row.needs_id] = here
            if row.needs_id == goal:
                path = [row.needs_id]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            line.append(row.needs_id)
        if len(before) > GRAPH_BOUND:
            break
    return []


def ring_queue(tx: Transaction, queue: str) -> None:
    """Hint to the agent whose queue it is, or to 32 of those who take work from a shared one; the others find it by their poll."""
    names = [row.agent for row in tx.all(TAKERS, queue=queue)] if is_shared(queue) else [queue]
    for name in names:
        tx.ring(tasks_of(name))
