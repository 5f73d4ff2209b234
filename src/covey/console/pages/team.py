"""One team run, live: its goal, the tree of its groups and steps, its workers, what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from markupsafe import Markup

from covey.base.settings import Settings
from covey.console import pieces
from covey.console.rendering import render
from covey.console.routes import Operations
from covey.console.sections import Sections
from covey.console.story import lines_of
from covey.console.tree import SHOWN, tree_of
from covey.console.views import LINES
from covey.store import Transaction, events
from covey.store.events import Event
from covey.teams.runs import reading
from covey.teams.runs.model import TeamRun


class TeamView(NamedTuple):
    """A run, and what happened to it."""

    run: TeamRun
    story: list[Event]


def read_team(tx: Transaction, ident: str, _settings: Settings) -> TeamView:
    """The run with its steps and their results, as far as a page shows them.

    Raises:
        NotFound: There is no such run.
    """
    return TeamView(reading.show(tx, ident, bound=SHOWN), events.of_subject(tx, ident, limit=LINES))


def now_part(view: TeamView) -> Markup:
    """What is to be reached, how far it is, and what can be done about it. Pure."""
    run = view.run
    counts = Counter(step.state for step in run.results)
    return render(
        "teams/now.html",
        run=run,
        counts=[(state, counts[state]) for state in ("done", "out", "waiting", "failed", "skipped", "cancelled") if counts[state]],
        by=pieces.agent(run.created_by),
        supervisor=pieces.agent(run.supervisor),
        planned_by=run.planned_by if run.planned_by in ("rules", "caller") else pieces.agent(run.planned_by),
        bar=pieces.bar,
    )


def tree_part(view: TeamView) -> Markup:
    """Its groups and steps, with what came of each word for word. Pure."""
    return render("teams/tree.html", run=view.run, tree=tree_of(view.run), agent=pieces.agent, task=pieces.task, bar=pieces.bar)


def outcome_part(view: TeamView) -> Markup:
    """What its results come to together. Pure."""
    return render("teams/outcome.html", run=view.run, agent=pieces.agent, bar=pieces.bar)


def workers_part(view: TeamView) -> Markup:
    """Who works, and how. Pure."""
    return render("teams/workers.html", run=view.run, agent=pieces.agent)


def story_part(view: TeamView) -> Markup:
    """What happened to it, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story, view.run.team_id))


PARTS: Mapping[str, Callable[[TeamView], Markup]] = {
    "now": now_part,
    "tree": tree_part,
    "outcome": outcome_part,
    "workers": workers_part,
    "story": story_part,
}
TEAM = Sections(path="/teams/{id}", template="teams/team.html", summary="One team run", read=read_team, parts=PARTS)
OPERATIONS: Operations = TEAM.operations
