"""All of the console's pages as one application. A new page is one line here."""

from __future__ import annotations

from covey.console import assets, live, signing
from covey.console.console import Console, Printed, nothing_printed
from covey.console.pages import agent, agent_acts, overview, task, task_acts, tasks, thread, thread_acts, threads
from covey.console.rendering import Place
from covey.doors.door import FleetDoor

PAGES = (overview, agent, agent_acts, tasks, task_acts, task, threads, thread_acts, thread)
"""In the order of the navigation: each module brings its OPERATIONS, and its PLACE where the navigation leads to it."""
OPERATIONS = (*signing.OPERATIONS, *live.OPERATIONS, *assets.OPERATIONS, *(each for page in PAGES for each in page.OPERATIONS))
PLACES: tuple[Place, ...] = tuple(page.PLACE for page in PAGES if hasattr(page, "PLACE"))


def make_app(door: FleetDoor, printed: Printed = nothing_printed) -> Console:
    """The application of the console's pages. `printed` is what reads the output of the agents' processes."""
    return Console(door, OPERATIONS, PLACES, printed)
