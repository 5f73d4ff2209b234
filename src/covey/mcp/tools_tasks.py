"""Tools that make tasks: put several in the place of one, add one."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from covey.brains.model import Outcome
from covey.mcp.leases import Settled, Token, settle
from covey.mcp.tooling import Asking, Call, Given, Ident, Receiver, Tool
from covey.messages.model import Priority
from covey.tasks import adding
from covey.tasks.model import Task, TaskDraft

Description = Annotated[str, Meta(min_length=1, description="what is to be done, so that somebody without your context can do it")]
Estimate = Annotated[float, Meta(gt=0, le=31_622_400, description="seconds that it takes")]


class Part(Asking):
    """A part of a task."""

    description: Description
    agent: Annotated[Receiver, Meta(description="who does it; whoever is able and free if left out")] | None = None
    capability: Annotated[str, Meta(max_length=128)] | None = None
    priority: Priority = "medium"
    estimated_seconds: Estimate | None = None
    task_id: Ident | None = None
    dependencies: Annotated[list[Ident], Meta(max_length=100, description="tasks that must be done before")] = []


class SplitAsked(Asking):
    """The parts that stand for the task from now on."""

    token: Token
    parts: Annotated[list[Part], Meta(min_length=1, max_length=100)]


class NewTask(Part):
    """A task to add."""

    approval: Annotated[bool, Meta(description="it waits until the operator approves it")] = False
    dedupe_key: Annotated[Ident, Meta(description="while a task with this key is open, no second one is made")] | None = None
    project_id: Annotated[str, Meta(max_length=128)] | None = None


class Brief(Given):
    """A task in short."""

    task_id: str
    state: str
    agent: str | None = None
    known: bool = False
    """It was there already; nothing was added."""


async def split_task(call: Call[SplitAsked]) -> Settled:
    """Put several smaller tasks in place of the task that you took. It is done when they are, and comes back to nobody before.

    Each part must stand for itself, and together they must do the whole. Name `agent` or `capability` to have others do them.
    """
    asked = call.args
    return await settle(call, asked.token, Outcome(kind="split", tasks=[_draft(part) for part in asked.parts]))


async def add_task(call: Call[NewTask]) -> Brief:
    """Put a task into the queue of an agent, or of whoever has the capability. You are its creator and are told when it ends."""
    return _brief(await call.door.store.write(adding.add, _draft(call.args), call.by))


def _draft(part: Part) -> TaskDraft:
    return msgspec.convert(msgspec.to_builtins(part), TaskDraft)


def _brief(task: Task) -> Brief:
    return Brief(task_id=task.task_id, state=task.state, agent=task.agent, known=task.known)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=split_task, takes=SplitAsked, gives=Settled, title="Split a task", profile="lead", effect="settles"),
    Tool(handler=add_task, takes=NewTask, gives=Brief, title="Add a task", profile="lead", effect="adds"),
)
