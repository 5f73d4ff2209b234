"""Verbs for what a page shows of several features at once: read in one snapshot. They hold no SQL and no rule."""

from __future__ import annotations

from typing import Any, NamedTuple

from covey.agents import configuring
from covey.agents.configuring import Project
from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.contexts import showing
from covey.contexts.showing import Shown
from covey.links import reading as links
from covey.links.model import Policy, link_of
from covey.links.reading import Candidates, LinkShown
from covey.messages import deferring, pausing
from covey.reports import spending, status, task_graph, why
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


class ContactsView(NamedTuple):
    """An agent's contacts: its links (`more`: there are more of them), who is not linked with it, what the configuration says."""

    name: str
    links: list[LinkShown]
    more: bool
    candidates: Candidates
    policy: Policy


def contacts(tx: Transaction, name: str, after: str) -> ContactsView:
    """An agent's contacts as their page shows them.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    found = links.page(tx, THE_OPERATOR, agent=name, limit=LINKS)
    return ContactsView(name, found.items, found.cursor is not None, links.candidates(tx, name, after=after), found.policy)


class LinkView(NamedTuple):
    """One link, seen from one of its ends: itself, how much mail of each sender waits, what the configuration says, what happened to it."""

    name: str
    link: LinkShown
    waiting: dict[str, int]
    policy: Policy
    story: list[Event]


def link(tx: Transaction, name: str, peer: str) -> LinkView:
    """One link as its page shows it.

    Raises:
        NotFound: They are not linked and never were.
        Unknown: There is no such agent.
    """
    found = links.show(tx, name, peer, THE_OPERATOR)
    waiting = {one: deferring.waiting(tx, one, other) for one, other in ((name, peer), (peer, name))}
    return LinkView(name, found, waiting, links.policy(tx), events.of_subject(tx, link_of(name, peer), limit=LINES))


class Configured(NamedTuple):
    """What the store has of a fleet's configuration, and what was set beside it."""

    budgets: dict[str, Any]
    pauses: list[Row]
    policy: Policy
    flagged: list[LinkShown]
    """Links that stand behind a feature flag, among those of the first part of all links."""
    projects: list[Project]


def configured(tx: Transaction) -> Configured:
    """What the page of settings shows beside the settings themselves."""
    found = links.page(tx, THE_OPERATOR, limit=LINKS)
    flagged = [link for link in found.items if link.feature_flag]
    return Configured(spending.overview(tx), pausing.pauses(tx, limit=LINKS).items, found.policy, flagged, configuring.projects(tx))
