"""What a person does with tasks: a new one, cancel, try again, give to another, another priority, approve, refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import Caller
from covey.console.asking import Field, confirm
from covey.console.routes import Form, Operations, act, done, page
from covey.console.shown import plain
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.healing import quarantine
from covey.tasks import adding, changing, reading
from covey.tasks.model import Task, TaskDraft

REASON = 500
PRIORITIES = ("urgent", "high", "medium", "low")
NAMED = 200
"""So many agents are offered as a choice; in larger fleets the name is written."""


class NewTask(Form):
    """A task as a person adds it."""

    description: str
    agent: str = ""
    priority: str = "medium"
    needs: str = ""


class Said(Form):
    """The one thing that a person may say to an action."""

    said: str = ""


class Deed(NamedTuple):
    """Something that can be done with a task."""

    name: str
    title: str
    explain: str
    verb: Callable[..., Task]
    told: str
    """What was done, before how the task stands now."""
    field: str = ""
    """What the person may say to it; empty: nothing."""
    options: Sequence[str] = ()
    needed: bool = False
    said_first: bool = False
    """Whether the verb takes what was said before who says it."""
    grave: bool = False

    def arguments(self, ident: str, by: Caller, said: str) -> tuple[object, ...]:
        """What the verb is called with, after the transaction."""
        if not self.field:
            return ident, by
        return (ident, said.strip(), by) if self.said_first else (ident, by, said)


DEEDS = (
    Deed("approve", "Approve", "It is done as soon as nothing else holds it back.", changing.approve, "Approved"),
    Deed("refuse", "Refuse", "It is cancelled, with its parts.", changing.refuse, "Refused", field="Why", grave=True),
    Deed("retry", "Try again", "It is queued anew, with all its attempts.", quarantine.retry, "To be tried again"),
    Deed(
        "reassign",
        "Give to another",
        "It goes into that agent's queue, or to whoever has that capability.",
        changing.reassign,
        "Given on",
        field="Agent, or @capability",
        needed=True,
        said_first=True,
    ),
    Deed(
        "priority",
        "Other priority",
        "Its place in line is that of the new priority.",
        changing.reprioritise,
        "Its priority is another",
        field="Priority",
        options=PRIORITIES,
        said_first=True,
    ),
    Deed(
        "cancel",
        "Cancel",
        "It is not done any more; a brain at work on it is ended, and its parts are cancelled too.",
        changing.cancel,
        "Cancelled",
        field="Why",
        grave=True,
    ),
)


def how_it_stands(task: Task) -> str:
    """A task's state, priority and agent, as the end of a sentence. Pure."""
    return f"the task is {task.state}, its priority {task.priority}" + (f", for {task.agent}" if task.agent else "")


def _operations(deed: Deed) -> Operations:
    async def ask(call: Call[Nothing, Nothing]) -> Answer:
        task = await call.door.store.read(reading.show, call.named("id"))
        value = task.priority if deed.options else ""
        field = Field("said", deed.field, value, options=deed.options, needed=deed.needed, bounds={"maxlength": REASON})
        return confirm(
            call,
            title=f"{deed.title}?",
            lines=[f"“{plain(task.description, 200)}” is {task.state}.", deed.explain],
            action=f"/tasks/{task.task_id}/{deed.name}",
            fields=[field] if deed.field else [],
            go=deed.title,
            grave=deed.grave,
        )

    async def do(call: Call[Nothing, Said]) -> Answer:
        task = await call.door.store.write(deed.verb, *deed.arguments(call.named("id"), call.by, call.body.said[:REASON]))
        return done(call, f"{deed.told}: {how_it_stands(task)}.")

    path = f"/tasks/{{id}}/{deed.name}"
    return (page(path, ask, f"Ask before: {deed.title.lower()}."), act(path, do, f"{deed.title}.", takes=Said))


async def ask_new(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a new task."""
    names = await call.door.store.read(roster.all_names)
    choice = ("", *names) if len(names) <= NAMED else ()
    return confirm(
        call,
        title="New task",
        lines=["With no agent it is for whoever is free and able."],
        action="/tasks",
        fields=[
            Field("description", "What is to be done", lines=4, needed=True),
            Field("agent", "For", options=choice, help="" if choice else "An agent's name, or @capability."),
            Field("priority", "Priority", "medium", options=PRIORITIES),
            Field("needs", "Needs", help="Ids of tasks that must be done first, with spaces between."),
        ],
        go="Add the task",
    )


async def add(call: Call[Nothing, NewTask]) -> Answer:
    """Add a task as the operator."""
    form = call.body
    draft = TaskDraft(
        description=form.description, agent=form.agent.strip() or None, priority=form.priority, dependencies=form.needs.split()
    )
    task = await call.door.store.write(adding.add, draft, call.by)
    return done(call, f"Added: {how_it_stands(task)}. Its id is {task.task_id}.")


OPERATIONS: Operations = (
    page("/tasks/~new", ask_new, "The form of a new task."),
    act("/tasks", add, "Add a task.", takes=NewTask),
    *(each for deed in DEEDS for each in _operations(deed)),
)
