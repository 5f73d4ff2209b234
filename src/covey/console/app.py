"""All of the console's pages as one application. A new page is one line here."""

from __future__ import annotations

from covey.console import assets, live, signing
from covey.console.console import Console, OriginsOf, Printed, nothing_known, nothing_printed
from covey.console.pages import (
    agent,
    agent_acts,
    agents,
    budget_acts,
    contact,
    contact_acts,
    contacts,
    copy_acts,
    dead_letters,
    deferred,
    figures,
    handoff,
    handoffs,
    incident,
    incidents,
    inspect,
    inspect_events,
    inspect_fleet,
    inspect_links,
    inspect_work,
    overview,
    settings,
    task,
    task_acts,
    tasks,
    team,
    team_acts,
    teams,
    thread,
    thread_acts,
    threads,
    vote,
    vote_acts,
    votes,
)
from covey.console.rendering import Place
from covey.doors.door import FleetDoor

PAGES = (
    *(overview, agents, agent, agent_acts),
    *(tasks, task_acts, task),
    *(threads, thread_acts, thread),
    *(contacts, contact, contact_acts),
    *(deferred, dead_letters, copy_acts),
    *(votes, vote_acts, vote),
    *(handoffs, handoff),
    *(teams, team_acts, team),
    *(incidents, incident),
    figures,
    *(inspect, inspect_links, inspect_work, inspect_fleet, inspect_events),
    *(settings, budget_acts),
)
"""In the order of the navigation: each module brings its OPERATIONS, and its PLACE where the navigation leads to it."""
OPERATIONS = (*signing.OPERATIONS, *live.OPERATIONS, *assets.OPERATIONS, *(each for page in PAGES for each in page.OPERATIONS))
PLACES: tuple[Place, ...] = tuple(page.PLACE for page in PAGES if hasattr(page, "PLACE"))


def make_app(door: FleetDoor, printed: Printed = nothing_printed, origins: OriginsOf = nothing_known) -> Console:
    """The application of the console's pages. `printed` reads the output of the agents' processes, `origins` where settings come from."""
    return Console(door, OPERATIONS, PLACES, printed, origins)
