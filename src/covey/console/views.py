"""Verbs for what a page shows of several features at once: read in one snapshot. They hold no SQL and no rule."""

from __future__ import annotations

from typing import Any, NamedTuple

from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.contexts import showing
from covey.contexts.showing import Shown
from covey.links import reading as links
from covey.links.reading import LinkShown
from covey.reports import status, task_graph, why
from covey.reports.task_graph import Graph
from covey.store import Row, Transaction, events
from covey.store.events import Event
from covey.tasks import reading as tasks
from covey.tasks import runs
from covey.tasks.model import Task

LINES = 50
LINKS = 200


class AgentView(NamedTuple):
    """One agent: its state (A4), why it stands so, its context, its links, what happened to it last."""

    state: dict[str, Any]
    why: str
    context: Shown
    links: list[LinkShown]
    story: list[Event]


def agent(tx: Transaction, name: str, settings: Settings) -> AgentView:
    """One agent as its page shows it.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    state = status.agent_state(tx, name, settings.stale_s)
    because = why.why(tx, name, stale_s=settings.stale_s, digest_s=settings.digest_s).sentence
    return AgentView(
        state,
        because,
        showing.show(tx, name),
        links.page(tx, THE_OPERATOR, agent=name, limit=LINKS).items,
        events.of_agent(tx, name, limit=LINES),
    )


class TaskView(NamedTuple):
    """One task: itself, why it stands so, what it hangs together with, the tries at it, what happened to it."""

    task: Task
    why: str
    graph: Graph
    tries: list[Row]
    story: list[Event]


def task(tx: Transaction, ident: str, settings: Settings) -> TaskView:
    """One task as its page shows it.

    Raises:
        NotFound: There is no such task.
    """
    found = tasks.show(tx, ident)
    because = why.why(tx, ident, stale_s=settings.stale_s, digest_s=settings.digest_s).sentence
    return TaskView(found, because, task_graph.around(tx, ident), runs.of_item(tx, ident), events.of_subject(tx, ident, limit=LINES))
