"""The overview: who is in the fleet and how they are, what needs a person, buddies and links, response times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from covey.agents.model import Caller
from covey.base.settings import Settings
from covey.console import ring
from covey.console.bulk import Bulk
from covey.console.charts import Series, points_of
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.pages.agent_acts import DEEDS, Deed
from covey.console.pieces import meter, pill
from covey.console.rendering import Place, render
from covey.console.routes import page, shared
from covey.console.shown import ago, span
from covey.console.tables import Column, Filter, Query, Slice, Table, rows_of, sliced
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.reports import over_time, overview
from covey.reports.needs import Need
from covey.reports.overview import Overview
from covey.store import Transaction

PLACE = Place("/", "Overview")
STATES = ("active", "idle", "busy", "error", "stalled", "stopped", "paused", "away")
Agent = Mapping[str, Any]


class AgentsQuery(Query):
    """Agents: those with these words in name, role or capabilities, and in this state."""

    state: str = ""


def read_agents(tx: Transaction, query: AgentsQuery, settings: Settings, limit: int) -> Slice[Agent]:
    """The agents that a query asks for, in the fleet's order unless it sorts."""
    return chosen(overview.agents(tx, settings.stale_s), query, limit)


def chosen(agents: Sequence[Agent], query: AgentsQuery, limit: int) -> Slice[Agent]:
    """Those of the agents that a query asks for. Pure."""
    words = query.q.casefold().split()
    found = [each for each in agents if _fits(each, words, query.state)]
    return sliced(found, query, AGENTS.columns, limit)


def _fits(agent: Agent, words: Sequence[str], state: str) -> bool:
    text = f"{agent['agentId']} {agent['role']} {' '.join(agent['capabilities'])}".casefold()
    return all(word in text for word in words) and (not state or state in states_of(agent))


def states_of(agent: Agent) -> list[str]:
    """Its status, and the flags beside it. Pure."""
    return [agent["status"], *(name for name in ("stopped", "paused", "away") if agent["flags"][name])]


def _share(agent: Agent) -> float:
    context = agent["context"]
    return round(context["contextSize"] / context["maxContextSize"], 4) if context["maxContextSize"] else 0.0


def _to_agent(deed: Deed, tx: Transaction, agent: Agent, by: Caller) -> str:
    return deed.verb(tx, agent["agentId"], by, "")


AGENTS: Table[AgentsQuery, Agent] = Table(
    name="agents",
    path="/",
    caption="Agents",
    query=AgentsQuery,
    read=read_agents,
    filters=(Filter("q", "Name, role or capability"), Filter("state", "State", STATES, "any state")),
    columns=(
        Column(name="agent", title="Agent", value=lambda a: a["agentId"], sorts=True),
        Column(name="role", title="Role", value=lambda a: a["role"], words=True, spare=True),
        Column(
            name="state",
            title="State",
            value=lambda a: " ".join(states_of(a)),
            cell=lambda a: pill(*states_of(a), title=a["error"] or a["flags"]["reason"] or ""),
            sorts=True,
        ),
        Column(name="buddy", title="Buddy", value=lambda a: a["buddyId"], spare=True),
        Column(name="queue", title="Queue", value=lambda a: a["queueLength"], sorts=True, number=True),
        Column(name="unread", title="Unread", value=lambda a: a["unread"], sorts=True, number=True),
        Column(
            name="context",
            title="Context",
            value=_share,
            cell=lambda a: meter(a["context"]["contextSize"], a["context"]["maxContextSize"], f"context of {a['agentId']}"),
            sorts=True,
        ),
        Column(
            name="p95",
            title="Response p95",
            value=lambda a: a["responseTime"]["p95"],
            cell=lambda a: span(a["responseTime"]["p95"]),
            sorts=True,
            number=True,
        ),
        Column(
            name="heartbeat",
            title="Heartbeat",
            value=lambda a: a["lastHeartbeat"],
            cell=lambda a: ago(a["lastHeartbeat"]),
            sorts=True,
            spare=True,
        ),
        Column(name="port", title="Port", value=lambda a: a["port"], sorts=True, number=True, spare=True),
    ),
    acts=(("stop", "Stop these"), ("pause", "Pause these"), ("resume", "Resume these")),
    live="agent. task. message.delivered message.handled message.sent incident. breaker.",
    empty="No agent is configured; `covey init` writes a covey.toml with eight.",
    open=lambda a: f"/agents/{quote(a['agentId'])}",
)

BULKS = tuple(
    Bulk(
        table=AGENTS,
        name=deed.name,
        title=f"{deed.title} {{}}",
        noun="agent",
        explain=deed.explain.replace("It ", "Each ").replace("Its ", "Each one's "),
        past=past,
        verb=partial(_to_agent, deed),
        grave=deed.grave,
    )
    for deed, past in ((DEEDS["stop"], "stopped"), (DEEDS["pause"], "paused"), (DEEDS["resume"], "resumed"))
)
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
    """Where a person does something about it; empty where there is no page for it yet. Pure."""
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
    *operations_of(AGENTS),
    *(each for bulk in BULKS for each in bulk.operations),
    page("/needs", get_needs, "What needs a person."),
    page("/ring", get_ring, "Buddies and links as a drawing."),
    page("/response-times", get_times, "Response times of the last hour."),
)
