"""The overview: who is in the fleet and how they are, what needs a person, buddies and links, response times."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from covey.console import ring
from covey.console.charts import Series, points_of
from covey.console.console import console_of
from covey.console.pages.agents import AGENTS, STATES, AgentsQuery, chosen, states_of
from covey.console.rendering import Place, render
from covey.console.routes import page, shared
from covey.console.tables import rows_of
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.reports import over_time, overview
from covey.reports.needs import Need
from covey.reports.overview import Overview

PLACE = Place("/", "Overview")
SERIES = (Series("p50", "p50"), Series("p95", "p95"))


async def read_overview(call: Call[Any, Any]) -> Overview:
    """The fleet, read once for all parts of the page and all who look."""
    return await console_of(call).shared.get("the overview", lambda: call.door.store.read(overview.overview, call.door.settings.stale_s))


async def get_overview(call: Call[AgentsQuery, Nothing]) -> Answer:
    """The page."""
    found = await read_overview(call)
    agents = rows_of(AGENTS, call.query, chosen(found.agents, call.query, 100))
    return console_of(call).whole(
        call,
        "overview.html",
        table=AGENTS,
        query=call.query,
        rows=agents,
        needs=needs_part(found),
        ring=ring_part(found),
        times=await times_part(call),
    )


def needs_part(found: Overview) -> Markup:
    """Counts by state, and what a person is to do. Pure."""
    counts = Counter(state for agent in found.agents for state in states_of(agent))
    needs = [(each, address_of(each)) for each in found.needs]
    return render(
        "overview/needs.html", counts=[(state, counts[state]) for state in STATES if counts[state]], needs=needs, total=len(found.agents)
    )


def address_of(need: Need) -> str:
    """Where a person does something about it. Pure."""
    ident = quote(need.subject, safe="")
    return {
        "approval": f"/tasks/{ident}",
        "question": f"/threads/{quote(need.place, safe='')}",
        "alert": f"/threads/{quote(need.place, safe='')}",
        "paused thread": f"/threads/{ident}",
        "incident": f"/incidents/{ident}",
        "dead letter": "/dead-letters",
        "tie": f"/votes/{ident}",
    }[need.kind]


def ring_part(found: Overview) -> Markup:
    """Buddies and links as a drawing. Pure."""
    drawn = ring.ring(found.agents, found.links) if len(found.agents) <= ring.MOST else None
    return render("overview/ring.html", ring=drawn, width=ring.WIDTH, height=ring.HEIGHT, most=ring.MOST)


async def times_part(call: Call[Any, Any]) -> Markup:
    """Response times of the last hour."""
    steps = (await call.door.store.read(over_time.over_time, "1h"))["steps"]
    times = [step["messages"]["responseTime"] for step in steps]
    data = points_of([step["at"] for step in steps], [each["p50"] for each in times], [each["p95"] for each in times])
    rows = [(step["at"], each) for step, each in zip(steps, times, strict=True) if each["n"]]
    return render("overview/times.html", rows=rows, data=data, series=SERIES)


async def get_needs(call: Call[Nothing, Nothing]) -> Answer:
    """What needs a person."""

    async def make() -> Markup:
        return needs_part(await read_overview(call))

    return await shared(call, make)


async def get_ring(call: Call[Nothing, Nothing]) -> Answer:
    """Buddies and links."""

    async def make() -> Markup:
        return ring_part(await read_overview(call))

    return await shared(call, make)


async def get_times(call: Call[Nothing, Nothing]) -> Answer:
    """Response times."""
    return await shared(call, lambda: times_part(call))


OPERATIONS = (
    page("/", get_overview, "The overview.", query=AgentsQuery),
    page("/needs", get_needs, "What needs a person."),
    page("/ring", get_ring, "Buddies and links as a drawing."),
    page("/response-times", get_times, "Response times of the last hour."),
)
