"""The fleet's port: tasks. Added, listed, waited for, changed."""

from __future__ import annotations

from covey.api.shapes import Because, NewPriority, Parts, Tasks, TasksQuery, To, WaitQuery
from covey.api.waiting import once_ended
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.healing import quarantine
from covey.messages.model import priority_of
from covey.tasks import adding, changing, reading
from covey.tasks.model import Task, TaskDraft


def added(task: Task) -> Answer:
    """A task that is new, or was there already (T3, K6)."""
    return shown(task, 200 if task.known else 201)


async def add_task(call: Call[Nothing, TaskDraft]) -> Answer:
    """Add a task (K1)."""
    return await call.write(added, adding.add, call.body, call.by)


async def get_tasks(call: Call[TasksQuery, Nothing]) -> Answer:
    """Tasks, newest first."""
    asked = call.query
    page = await call.door.store.read(reading.listed, state=asked.state, agent=asked.agent, before=asked.cursor, limit=asked.limit)
    return shown(Tasks(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def get_task(call: Call[Nothing, Nothing]) -> Answer:
    """One task."""
    return shown(await call.door.store.read(reading.show, call.named("id")))


async def wait_for_task(call: Call[WaitQuery, Nothing]) -> Answer:
    """One task once it has ended, or as it stands when the time is over."""
    return await once_ended(call, reading.show, call.named("id"))


async def cancel_task(call: Call[Nothing, Because]) -> Answer:
    """Cancel a task (K7)."""
    return await call.write(shown, changing.cancel, call.named("id"), call.by, call.body.reason)


async def retry_task(call: Call[Nothing, Nothing]) -> Answer:
    """Queue a failed task again."""
    return await call.write(shown, quarantine.retry, call.named("id"), call.by)


async def split_task(call: Call[Nothing, Parts]) -> Answer:
    """Put parts in place of a waiting task."""
    return await call.write(_parts, changing.split, call.named("id"), call.body.parts, call.by)


def _parts(tasks: list[Task]) -> Answer:
    return shown(Tasks(items=tasks), 201)


async def reassign_task(call: Call[Nothing, To]) -> Answer:
    """Put a waiting task into another queue."""
    return await call.write(shown, changing.reassign, call.named("id"), call.body.to, call.by)


async def approve_task(call: Call[Nothing, Nothing]) -> Answer:
    """Give the approval that a task waits for (K5a)."""
    return await call.write(shown, changing.approve, call.named("id"), call.by)


async def refuse_task(call: Call[Nothing, Because]) -> Answer:
    """Refuse the approval that a task waits for (K5a)."""
    return await call.write(shown, changing.refuse, call.named("id"), call.by, call.body.reason)


async def prioritise_task(call: Call[Nothing, NewPriority]) -> Answer:
    """Give a waiting task another priority."""
    return await call.write(shown, changing.reprioritise, call.named("id"), priority_of(call.body.priority), call.by)


OPERATIONS = (
    post(
        "/api/v1/tasks",
        add_task,
        "caller",
        "Add a task for an agent, a capability or whoever is free.",
        takes=TaskDraft,
        gives=Task,
        status=201,
        verb=adding.add,
    ),
    get(
        "/api/v1/tasks", get_tasks, "caller", "Tasks, newest first, by state and agent.", query=TasksQuery, gives=Tasks, verb=reading.listed
    ),
    get("/api/v1/tasks/{id}", get_task, "caller", "One task.", gives=Task, verb=reading.show),
    get("/api/v1/tasks/{id}/wait", wait_for_task, "caller", "One task once it has ended.", query=WaitQuery, gives=Task, verb=reading.show),
    post(
        "/api/v1/tasks/{id}/cancel",
        cancel_task,
        "caller",
        "Cancel a task; its brain is ended.",
        takes=Because,
        gives=Task,
        verb=changing.cancel,
    ),
    post("/api/v1/tasks/{id}/retry", retry_task, "caller", "Queue a failed task again.", gives=Task, verb=quarantine.retry),
    post(
        "/api/v1/tasks/{id}/split",
        split_task,
        "caller",
        "Split a waiting task into parts.",
        takes=Parts,
        gives=Tasks,
        status=201,
        verb=changing.split,
    ),
    post(
        "/api/v1/tasks/{id}/reassign",
        reassign_task,
        "caller",
        "Give a waiting task to another agent.",
        takes=To,
        gives=Task,
        verb=changing.reassign,
    ),
    post("/api/v1/tasks/{id}/approve", approve_task, "operator", "Approve a task that waits for it.", gives=Task, verb=changing.approve),
    post(
        "/api/v1/tasks/{id}/refuse",
        refuse_task,
        "operator",
        "Refuse a task that waits for approval.",
        takes=Because,
        gives=Task,
        verb=changing.refuse,
    ),
    post(
        "/api/v1/tasks/{id}/priority",
        prioritise_task,
        "caller",
        "Give a waiting task another priority.",
        takes=NewPriority,
        gives=Task,
        verb=changing.reprioritise,
    ),
)
