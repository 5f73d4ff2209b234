"""Inspect: which tables of the store there are to be read, and what stands in each."""

from __future__ import annotations

from covey.console.console import console_of
from covey.console.pages import inspect_events, inspect_fleet, inspect_links, inspect_work
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing

PLACE = Place("/inspect", "Inspect")
INSPECTED = (*inspect_links.INSPECTED, *inspect_work.INSPECTED, *inspect_fleet.INSPECTED, *inspect_events.INSPECTED)


async def get_inspect(call: Call[Nothing, Nothing]) -> Answer:
    """The page."""
    return console_of(call).whole(call, "inspect/inspect.html", inspected=INSPECTED)


OPERATIONS: Operations = (page("/inspect", get_inspect, "The tables that can be inspected."),)
