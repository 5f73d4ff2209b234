"""Tasks of another store put in as they stood (S4), under no lease: with their ids, times, creators, places in line and results.

Each is stored once, however often it is put in. Whether it is blocked is counted anew, by how the tasks that it needs stand here.
"""

from __future__ import annotations

import msgspec

from covey.agents.model import RESERVED
from covey.base.errors import Cycle, IdTaken, Invalid
from covey.base.ids import is_agent_name
from covey.messages import carrying as mail
from covey.messages.carried import Put
from covey.messages.checking import check_id, check_size
from covey.messages.model import TASK_LEVEL_S, order_of
from covey.store import Row, Transaction, statement
from covey.tasks import adding, reading
from covey.tasks.carried import CarriedTask, NeedsOthers
from covey.tasks.model import ENDED, CheckedTask, TaskDraft, check, queue_of

IMPORT = statement(__package__, "import_task")

RESULT_BYTES = 1024 * 1024
NEEDS = 1000


def put(tx: Transaction, task: CarriedTask, *, not_ahead_of: float = 0.0, as_met: frozenset[str] = frozenset()) -> Put | NeedsOthers:
    """Store a task that comes from elsewhere; an open one waits in its queue, at its place by age and priority.

    It does not go ahead of the key `not_ahead_of`. Those of its dependencies that are in `as_met` and not here are taken as done.

    Raises:
        Invalid, TooLarge, Unknown, Gone, Cycle: It can't be a task of this fleet; nothing is stored.
        IdTaken: Its id names a message, or a task that says something else.
    """
    checked = _checked(task)
    if _is_known(tx, task):
        return Put(taken=False)
    is_open = task.state not in ENDED
    if is_open:
        _check_goal(tx, task, checked)
    if task.dependencies:
        tx.lock("dependencies", "")
    needs = {name: reading.seek(tx, name) for name in dict.fromkeys(task.dependencies)}
    missing = [name for name, row in needs.items() if row is None and name not in as_met]
    if missing:
        return NeedsOthers(missing)
    there = [row for row in needs.values() if row is not None]
    unmet = [row for row in there if row.state not in ENDED] if is_open else []
    _check_needs(task, there, is_open=is_open)
    _store(tx, task, checked, there, unmet, not_ahead_of)
    left = [name for name, row in needs.items() if row is None]
    return Put(True, [f"it needs {', '.join(left)[:300]}, which is not here; taken as done."] if left else [])


def _checked(task: CarriedTask) -> CheckedTask:
    if len(task.dependencies) > NEEDS:
        raise Invalid(f"dependencies names {len(task.dependencies)} tasks; at most {NEEDS} are taken.", field="dependencies")
    for field, idents in (("dependencies", task.dependencies), ("parentId", [task.parent_id]), ("waitingFor", [task.waiting_for])):
        for ident in idents:
            check_id(field, ident)
    if task.task_id in task.dependencies:
        raise Cycle(f"the task {task.task_id} needs itself.", field="dependencies", circle=[task.task_id, task.task_id])
    if task.created_by not in RESERVED and not is_agent_name(task.created_by):
        raise Invalid(f"createdBy is {task.created_by[:60]!r}, which no agent can be called.", field="createdBy")
    if task.agent is not None and not task.agent.startswith("@") and not is_agent_name(task.agent):
        raise Invalid(f"agent is {task.agent[:60]!r}, which no agent can be called.", field="agent")
    draft = TaskDraft(
        description=task.description,
        agent=task.agent,
        task_id=task.task_id,
        capability=task.capability,
        priority=task.priority,
        project_id=task.project_id,
        dedupe_key=task.dedupe_key,
        not_before=task.not_before,
        deadline=task.deadline,
        estimated_seconds=task.estimated_seconds,
        max_attempts=task.max_attempts,
        data=task.data,
    )
    return check(draft)


def _is_known(tx: Transaction, task: CarriedTask) -> bool:
    if tx.one(adding.ID_OF_MESSAGE, id=task.task_id) is not None:
        raise IdTaken(f"taskId {task.task_id!r} is a message's id already.", field="taskId")
    row = reading.seek(tx, task.task_id)
    if row is None:
        return False
    if row.description != task.description:
        raise IdTaken(f"taskId {task.task_id!r} is there already, with another description; this one was left out.", field="taskId")
    return True


def _check_goal(tx: Transaction, task: CarriedTask, checked: CheckedTask) -> None:
    adding.check_taker(tx, checked.agent, checked.capability)
    if task.dedupe_key is not None:
        tx.lock("dedupe", "")
        row = tx.one(adding.OPEN_BY_KEY, dedupe_key=task.dedupe_key)
        if row is not None:
            raise Invalid(f"dedupeKey {task.dedupe_key!r} is that of the open task {row.id}; this one was left out.", field="dedupeKey")


def _check_needs(task: CarriedTask, needs: list[Row], *, is_open: bool) -> None:
    failed = next((row for row in needs if row.state in ("failed", "cancelled")), None)
    if is_open and failed is not None and not task.anyway:
        raise Invalid(
            f"it needs {failed.id}, which is {failed.state} here: it could never run. Retry that one first.", field="dependencies"
        )


def _store(tx: Transaction, task: CarriedTask, checked: CheckedTask, needs: list[Row], unmet: list[Row], not_ahead_of: float) -> None:
    at = min(task.created_at, tx.now) if task.created_at is not None else tx.now
    urgent, sort_key = order_of(checked.priority, at, TASK_LEVEL_S)
    is_open = task.state not in ENDED
    wants_approval = is_open and task.approval == "wanted"
    waits = task.state == "blocked" and task.waiting_for is not None and mail.is_awaited(tx, task.waiting_for)
    blockers = len(unmet) + wants_approval + waits
    state = ("blocked" if blockers else "queued") if is_open else task.state
    queue = queue_of(checked.agent, checked.capability, checked.priority)
    has_parts = any(row.parent_id == task.task_id for row in needs)
    tx.run(
        IMPORT,
        id=task.task_id,
        description=task.description,
        data=checked.data_json,
        state=state,
        queue=queue,
        agent=checked.agent,
        capability=checked.capability,
        priority=checked.priority,
        not_urgent=urgent,
        sort_key=max(sort_key, not_ahead_of),
        not_before=task.not_before if task.not_before is not None else at,
        blockers=blockers,
        approval=task.approval if task.approval in ("wanted", "approved", "refused") else None,
        anyway=int(task.anyway),
        parent_id=task.parent_id,
        project_id=task.project_id,
        dedupe_key=task.dedupe_key,
        schedule=task.schedule,
        origin=task.origin or ("operator" if task.created_by in RESERVED else "agent"),
        created_by=task.created_by,
        created_at=at,
        deadline=task.deadline,
        estimated_s=checked.estimated_s,
        attempts=max(0, min(task.attempts, task.max_attempts - is_open)),
        max_attempts=task.max_attempts,
        claimed_at=None if is_open else task.claimed_at,
        started_at=None if is_open else task.started_at,
        finished_at=None if is_open else (task.finished_at if task.finished_at is not None else tx.now),
        progress=task.progress[:2000] if task.progress else None,
        progress_at=task.progress_at,
        waiting_for=task.waiting_for if is_open else None,
        split_at=task.split_at if task.split_at is not None else at if has_parts else None,
        visited=msgspec.json.encode(task.visited).decode(),
        result=_result(task),
        error=task.error[:10_000] if task.error else None,
        failed_by=msgspec.json.encode(task.failed_by).decode(),
        traceparent=task.traceparent,
        digest=task.digest or checked.digest,
    )
    for need in needs:
        tx.run(adding.ADD_NEED, task_id=task.task_id, needs_id=need.id, met_at=None if need in unmet else tx.now)
    tx.happened("task.added", agent=checked.agent, subject=task.task_id, by=task.created_by, head=task.description[:120], queue=queue,
                needs=task.dependencies[:100], parent=task.parent_id, priority=checked.priority, state=state, imported=True)  # fmt: skip
    if state == "queued":
        adding.ring_queue(tx, queue)


def _result(task: CarriedTask) -> str | None:
    if task.result is None:
        return None
    text = msgspec.json.encode(task.result)
    check_size("result", len(text), RESULT_BYTES)
    return text.decode()
