"""One task: what it is, why it stands where it stands, what it hangs together with, the tries at it, what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from markupsafe import Markup

from covey.console import graph, pieces, views
from covey.console.console import console_of
from covey.console.pages.tasks import whose
from covey.console.rendering import render
from covey.console.routes import Operations, page, shared
from covey.console.story import lines_of
from covey.console.views import TaskView
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.tasks.model import OPEN

Part = Callable[[TaskView], Markup]


async def read_task(call: Call[Any, Any]) -> TaskView:
    """The task of the path, read once for all parts of the page and all who look."""
    ident, settings = call.named("id"), call.door.settings
    return await console_of(call).shared.get(f"task {ident}", lambda: call.door.store.read(views.task, ident, settings))


async def get_task(call: Call[Nothing, Nothing]) -> Answer:
    """The page."""
    view = await read_task(call)
    return console_of(call).whole(call, "tasks/task.html", task=view.task, parts={name: make(view) for name, make in PARTS.items()})


def now_part(view: TaskView) -> Markup:
    """What it is, why it stands so, what can be done with it. Pure."""
    task = view.task
    return render(
        "tasks/now.html",
        task=task,
        why=view.why,
        whose=whose(task),
        by=pieces.agent(task.created_by),
        acts=[name for name, fits in ACTS.items() if fits(view)],
    )


def outcome_part(view: TaskView) -> Markup:
    """What came of it so far. Pure."""
    task = view.task
    result = task.result if isinstance(task.result, str) else msgspec.json.format(msgspec.json.encode(task.result)).decode()
    return render("tasks/outcome.html", task=task, result=result if task.result is not None else "")


def graph_part(view: TaskView) -> Markup:
    """What it hangs together with, as a drawing and as a list. Pure."""
    names = {knot.id: knot for knot in view.graph.knots}
    return render("tasks/graph.html", drawing=graph.drawing(view.graph, view.task.task_id), ties=view.graph.ties, names=names)


def tries_part(view: TaskView) -> Markup:
    """The tries at it. Pure."""
    return render("tasks/tries.html", tries=view.tries, agent=pieces.agent)


def story_part(view: TaskView) -> Markup:
    """What happened to it, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story, view.task.task_id))


PARTS: dict[str, Part] = {"now": now_part, "outcome": outcome_part, "graph": graph_part, "tries": tries_part, "story": story_part}
ACTS: dict[str, Callable[[TaskView], bool]] = {
    "approve": lambda view: view.task.approval == "wanted" and view.task.state == "blocked",
    "refuse": lambda view: view.task.approval == "wanted" and view.task.state == "blocked",
    "retry": lambda view: view.task.state == "failed",
    "reassign": lambda view: view.task.state in ("queued", "blocked"),
    "priority": lambda view: view.task.state in ("queued", "blocked"),
    "cancel": lambda view: view.task.state in OPEN,
}
"""What can be done with a task as it stands."""


def _part_of(make: Part) -> Callable[[Call[Nothing, Nothing]], Any]:
    async def get_part(call: Call[Nothing, Nothing]) -> Answer:
        async def made() -> Markup:
            return make(await read_task(call))

        return await shared(call, made)

    return get_part


OPERATIONS: Operations = (
    page("/tasks/{id}", get_task, "One task."),
    *(page(f"/tasks/{{id}}/{name}", _part_of(make), f"One task: {name}.") for name, make in PARTS.items()),
)
