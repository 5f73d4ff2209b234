"""Add a task: one verb for every door. Its dependencies are a graph without cycles; its queue and place in line are fixed here."""

from __future__ import annotations

import msgspec

from covey.agents import configuring, roster
from covey.agents.model import Caller
from covey.base.errors import Cycle, Forbidden, IdTaken, Invalid, NotFound
from covey.messages.model import TASK_LEVEL_S, order_of
from covey.store import Row, Transaction, statement
from covey.tasks import reading
from covey.tasks.model import CheckedTask, Task, TaskDraft, check, queue_of

ADD = statement(__package__, "add")
ADD_NEED = statement(__package__, "add_need")
ID_OF_MESSAGE = statement(__package__, "id_of_message")
OPEN_BY_KEY = statement(__package__, "open_by_key")
NEEDED_BY = statement(__package__, "needed_by")
TAKERS = statement(__package__, "takers")

GRAPH_BOUND = 100_000


def add(tx: Transaction, draft: TaskDraft, by: Caller, *, origin: str | None = None, parent: str | None = None, schedule: str | None = None,
        visited: tuple[str, ...] = ()) -> Task:  # fmt: skip
    """The task, stored and queued, or blocked by what it needs; a known id or an open dedupeKey answers with the first one (T3, K6).

    `parent` is set by a split, `schedule` by a schedule, `visited` by the turn that made it.

    Raises:
        Invalid, TooLarge: The draft is of the wrong form.
        IdTaken: Its id is somebody else's.
        Unknown, Gone: There is no such agent; NotFound: no such dependency.
        Cycle: Its dependencies close a circle; the path is said (K3).
    """
    checked = check(draft)
    if draft.from_ is not None and draft.from_ != by.name:
        raise Forbidden(f"from is {draft.from_!r}, but the token is {by.name}'s; leave `from` out or use the right token.", field="from")
    known = _known(tx, draft, by, checked)
    if known is not None:
        return known
    _check_goal(tx, draft, checked)
    ident = draft.task_id or tx.new_id("task")
    needs = _needs(tx, ident, draft.dependencies, parent)
    failed = next((need for need in needs if need.state in ("failed", "cancelled")), None)
    open_needs = [need for need in needs if need.state not in ("done", "failed", "cancelled")]
    if failed is not None and not draft.anyway:
        raise Invalid(f"dependencies has {failed.id!r}, which is {failed.state}, so this could never run; retry that one first, or set anyway.", field="dependencies")
    blockers = len(open_needs) + draft.approval
    urgent, sort_key = order_of(checked.priority, tx.now, TASK_LEVEL_S)
    queue = queue_of(checked.agent, checked.capability, checked.priority)
    tx.run(
        ADD,
        id=ident,
        description=draft.description,
        data=checked.data_json,
        state="blocked" if blockers else "queued",
        queue=queue,
        agent=checked.agent,
        capability=checked.capability,
        priority=checked.priority,
        not_urgent=urgent,
        sort_key=sort_key,
        not_before=max(draft.not_before or tx.now, tx.now),
        blockers=blockers,
        approval="wanted" if draft.approval else None,
        anyway=int(draft.anyway),
        parent_id=parent,
        project_id=draft.project_id,
        dedupe_key=draft.dedupe_key,
        schedule=schedule,
        origin=origin or ("agent" if by.kind == "agent" else "operator"),
        created_by=by.name,
        now=tx.now,
        deadline=draft.deadline,
        estimated_s=checked.estimated_s,
        max_attempts=draft.max_attempts,
        visited=msgspec.json.encode([*visited, by.name] if by.kind == "agent" else visited).decode(),
        traceparent=draft.traceparent,
        digest=checked.digest,
    )
    for need in needs:
        tx.run(ADD_NEED, task_id=ident, needs_id=need.id, met_at=None if need in open_needs else tx.now)
    tx.happened("task.added", agent=checked.agent, subject=ident, by=by.name, head=draft.description[:120], queue=queue, needs=draft.dependencies,
                parent=parent, priority=checked.priority, state="blocked" if blockers else "queued")  # fmt: skip
    if not blockers:
        ring_queue(tx, queue)
    return reading.show(tx, ident)


def _known(tx: Transaction, draft: TaskDraft, by: Caller, checked: CheckedTask) -> Task | None:
    if draft.task_id is not None:
        if tx.one(ID_OF_MESSAGE, id=draft.task_id) is not None:
            raise IdTaken(f"taskId {draft.task_id!r} is a message's id already; bring another one or none.", field="taskId")
        row = reading.seek(tx, draft.task_id)
        if row is not None:
            if row.created_by != by.name:
                raise IdTaken(f"taskId {draft.task_id!r} is taken by a task of {row.created_by}; bring another one or none.", field="taskId")
            task = reading.show(tx, draft.task_id)
            task.known, task.differs = True, row.digest != checked.digest
            return task
    if draft.dedupe_key is not None:
        tx.lock("dedupe", "")
        row = tx.one(OPEN_BY_KEY, dedupe_key=draft.dedupe_key)
        if row is not None:
            task = reading.show(tx, row.id)
            task.known = True
            return task
    return None


def _check_goal(tx: Transaction, draft: TaskDraft, checked: CheckedTask) -> None:
    configuring.check_project(tx, draft.project_id, "projectId")
    if draft.deadline is not None and draft.deadline <= tx.now:
        raise Invalid(f"deadline is {draft.deadline:.3f}, {tx.now - draft.deadline:.0f} s ago; give a time that is still to come.", field="deadline")
    if checked.agent is not None:
        roster.find(tx, checked.agent, field="agent")
    elif checked.capability not in (known := roster.capabilities(tx)):
        raise Invalid(f"nobody has the capability {checked.capability!r}; the fleet has: {', '.join(known)}.", field="capability")


def _needs(tx: Transaction, ident: str, names: list[str], parent: str | None) -> list[Row]:
    """The rows of the tasks it needs, each once; a circle is refused with its path (K3)."""
    if not names:
        return []
    tx.lock("dependencies", "")
    needs = []
    for name in dict.fromkeys(names):
        if name == ident:
            raise Cycle(f"the task {ident!r} needs itself; leave that out of dependencies.", field="dependencies", circle=[ident, ident])
        row = reading.seek(tx, name)
        if row is None:
            raise NotFound(f"dependencies has {name!r}, and there is no such task; `covey task list` lists ids.", field="dependencies")
        needs.append(row)
        path = path_of_needs(tx, name, parent) if parent is not None else []
        if path:
            circle = [parent, ident, *path]
            raise Cycle(f"{' needs '.join(str(each) for each in circle)}: a circle, none of which could ever run.", field="dependencies", circle=circle)
    return needs


def path_of_needs(tx: Transaction, start: str, goal: str | None) -> list[str]:
    """How one task comes to need another: both ends included; empty if it does not."""
    if start == goal:
        return [start]
    before: dict[str, str] = {}
    line = [start]
    while line and len(before) < GRAPH_BOUND:
        here = line.pop()
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
    return []


def ring_queue(tx: Transaction, queue: str) -> None:
    """Hint to those who take work from this queue, 32 at most; the others find it by their poll."""
    for row in tx.all(TAKERS, queue=queue):
        tx.ring(row.agent)
