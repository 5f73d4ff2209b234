"""Tasks: as a table with filters, and as a board by state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from covey.base.settings import Settings
from covey.console import pieces
from covey.console.bulk import Bulk
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.looking import has_words, picked
from covey.console.pieces import pill
from covey.console.rendering import Place, render
from covey.console.routes import Operations, page, shared
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.healing import quarantine
from covey.store import Transaction
from covey.tasks import changing, reading
from covey.tasks.model import Task

PLACE = Place("/tasks", "Tasks")
STATES = ("open", "blocked", "queued", "running", "done", "failed", "cancelled")
ON_BOARD = 15
LIVE = "task. handoff. agent."


class TasksQuery(Query):
    """Tasks: those with these words, in this state, of this agent."""

    state: str = ""
    agent: str = ""


def read_tasks(tx: Transaction, query: TasksQuery, _settings: Settings, limit: int) -> Slice[Task]:
    """The tasks that a query asks for, newest first."""

    def part(before: int | None) -> reading.Page:
        return reading.listed(tx, state=query.state or None, agent=query.agent or None, before=before, limit=limit)

    return picked(part, lambda task: has_words(query.q, task.task_id, task.description), cursor_of(query) or None, limit)


def states_of(task: Task) -> list[str]:
    """Its state, and that it waits for a person, if it does. Pure."""
    return [task.state, "waiting"] if task.approval == "wanted" and task.state == "blocked" else [task.state]


def who(task: Task) -> str:
    """Whose task it is: its holder, its agent, or a capability. Pure."""
    return task.holder or task.agent or f"@{task.capability or 'general'}"


def whose(task: Task) -> Markup | str:
    """As `who`, which leads to the agent. Pure."""
    return who(task) if who(task).startswith("@") else pieces.agent(who(task))


def address(ident: str) -> str:
    """A task's page. Pure."""
    return f"/tasks/{quote(ident, safe='')}"


TASKS: Table[TasksQuery, Task] = Table(
    name="tasks",
    path="/tasks",
    caption="Tasks",
    query=TasksQuery,
    read=read_tasks,
    filters=(Filter("q", "Words or id"), Filter("state", "State", STATES, "any state"), Filter("agent", "Agent")),
    columns=(
        Column(name="description", title="Task", value=lambda t: t.description, words=True),
        Column(
            name="state",
            title="State",
            value=lambda t: t.state,
            cell=lambda t: pill(*([t.state, "waiting"] if t.approval == "wanted" else [t.state])),
        ),
        Column(name="agent", title="Who", value=who, cell=whose),
        Column(name="priority", title="Priority", value=lambda t: t.priority, cell=lambda t: pill(t.priority), spare=True),
        Column(
            name="attempts",
            title="Attempts",
            value=lambda t: t.attempts,
            cell=lambda t: f"{t.attempts} of {t.max_attempts}",
            number=True,
            spare=True,
        ),
        Column(name="createdBy", title="Asked by", value=lambda t: t.created_by, cell=lambda t: pieces.agent(t.created_by), spare=True),
        Column(name="createdAt", title="Added", value=lambda t: t.created_at, cell=lambda t: ago(t.created_at)),
        Column(name="finishedAt", title="Ended", value=lambda t: t.finished_at, cell=lambda t: ago(t.finished_at, "–"), spare=True),
        Column(name="taskId", title="Id", value=lambda t: t.task_id, cell=lambda t: pieces.task(t.task_id), spare=True),
    ),
    live=LIVE,
    empty="No task yet. New task, above, adds one.",
    open=lambda task: address(task.task_id),
    acts=(("cancel", "Cancel these"), ("retry", "Try these again")),
)

CANCEL = Bulk(
    table=TASKS,
    name="cancel",
    title="Cancel {}",
    noun="task",
    explain="What waits is not done any more; a brain at work on one is ended. Those that have ended are refused.",
    past="cancelled",
    verb=lambda tx, task, by: changing.cancel(tx, task.task_id, by, "cancelled in the console"),
)
RETRY = Bulk(
    table=TASKS,
    name="retry",
    title="Try {} again",
    noun="task",
    explain="Those that failed are queued anew, with all their attempts. Others are refused.",
    past="queued again",
    verb=lambda tx, task, by: quarantine.retry(tx, task.task_id, by),
    grave=False,
)


async def get_tasks(call: Call[TasksQuery, Nothing]) -> Answer:
    """The page with the table."""
    rows = await table_rows(call, TASKS, call.query)
    return console_of(call).whole(call, "tasks/table.html", table=TASKS, query=call.query, rows=rows)


class Lane(NamedTuple):
    """One column of the board."""

    state: str
    tasks: Sequence[Task]
    total: int


def read_board(tx: Transaction) -> list[Lane]:
    """The newest tasks of each state, and how many there are."""
    counts = reading.counts(tx)
    return [Lane(state, reading.listed(tx, state=state, limit=ON_BOARD).items, counts.get(state, 0)) for state in STATES if state != "open"]


async def board_part(call: Call[Any, Any]) -> Markup:
    """The board, read and rendered."""
    return render("tasks/lanes.html", lanes=await call.door.store.read(read_board), whose=whose)


async def get_board(call: Call[Nothing, Nothing]) -> Answer:
    """The page with the board."""
    return console_of(call).whole(call, "tasks/board.html", lanes=await board_part(call))


async def get_lanes(call: Call[Nothing, Nothing]) -> Answer:
    """The board alone."""
    return await shared(call, lambda: board_part(call))


OPERATIONS: Operations = (
    page("/tasks", get_tasks, "Tasks as a table.", query=TasksQuery),
    *operations_of(TASKS),
    *CANCEL.operations,
    *RETRY.operations,
    page("/tasks/~board", get_board, "Tasks as a board."),
    page("/tasks/~lanes", get_lanes, "The board alone."),
)
