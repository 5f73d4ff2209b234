"""Metrics: how the work went over fifteen minutes to a week, of the fleet or an agent, as charts and as the table that says the same.

The page is `/figures`: at `/metrics` is what Prometheus reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from covey.agents import roster
from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import charts
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.rendering import Place, render
from covey.console.routes import Operations, page, shared
from covey.console.shown import many, number, share, span, when
from covey.console.tables import Column, Filter, Query, Slice, Table, sliced, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.figures.model import WINDOWS
from covey.reports.over_time import over_time
from covey.store import Transaction

PLACE = Place("/figures", "Metrics")
DEFAULT = "1h"
Step = Mapping[str, Any]


class FiguresQuery(Query):
    """Figures of this window, of this agent or the whole fleet."""

    window: str = ""
    agent: str = ""


def read_figures(tx: Transaction, query: FiguresQuery) -> dict[str, Any]:
    """The figures that a query asks for.

    Raises:
        Invalid: There is no such window.
        Unknown, Gone: There is no such agent.
    """
    if query.window and query.window not in WINDOWS:
        raise Invalid(f"window is {query.window[:60]!r}; it is one of {', '.join(WINDOWS)}.", field="window")
    return over_time(tx, query.window or DEFAULT, query.agent or None)


def read_steps(tx: Transaction, query: FiguresQuery, _settings: Settings, limit: int) -> Slice[Step]:
    """The steps of the window, the latest first unless the query sorts."""
    return sliced(read_figures(tx, query)["steps"][::-1], query, FIGURES.columns, limit)


FIGURES: Table[FiguresQuery, Step] = Table(
    name="figures",
    path="/figures",
    caption="Figures",
    query=FiguresQuery,
    read=read_steps,
    columns=(
        Column(name="at", title="From", value=lambda s: s["at"], cell=lambda s: when(s["at"]), sorts=True),
        Column(name="handled", title="Mail handled", value=lambda s: s["messages"]["handled"], sorts=True, number=True),
        Column(
            name="p50",
            title="p50",
            value=lambda s: s["messages"]["responseTime"]["p50"],
            cell=lambda s: span(s["messages"]["responseTime"]["p50"]),
            sorts=True,
            number=True,
        ),
        Column(
            name="p95",
            title="p95",
            value=lambda s: s["messages"]["responseTime"]["p95"],
            cell=lambda s: span(s["messages"]["responseTime"]["p95"]),
            sorts=True,
            number=True,
        ),
        Column(name="done", title="Tasks done", value=lambda s: s["tasks"]["completed"], sorts=True, number=True),
        Column(name="failed", title="Failed", value=lambda s: s["tasks"]["failed"], sorts=True, number=True),
        Column(
            name="completionRate",
            title="Completion",
            value=lambda s: s["tasks"]["completionRate"],
            cell=lambda s: share(s["tasks"]["completionRate"]),
            sorts=True,
            number=True,
        ),
        Column(name="checks", title="Checks", value=lambda s: s["buddy"]["checks"], sorts=True, number=True, spare=True),
        Column(
            name="checkSuccess",
            title="Answered",
            value=lambda s: s["buddy"]["successRate"],
            cell=lambda s: share(s["buddy"]["successRate"]),
            sorts=True,
            number=True,
        ),
        Column(name="overflows", title="Overflows", value=lambda s: s["context"]["overflows"], sorts=True, number=True),
        Column(name="stallsFound", title="Stalls", value=lambda s: s["stalls"]["found"], sorts=True, number=True),
        Column(name="stallsHealed", title="Healed", value=lambda s: s["stalls"]["healed"], sorts=True, number=True),
        Column(
            name="usd", title="Cost, $", value=lambda s: s["cost"]["usd"], cell=lambda s: number(s["cost"]["usd"]), sorts=True, number=True
        ),
        Column(name="tokens", title="Tokens", value=lambda s: s["cost"]["tokens"], cell=lambda s: number(s["cost"]["tokens"]), number=True),
    ),
    live="message. task. buddy. context. incident. run.",
)


def tiles_of(total: Step) -> list[tuple[str, str, str]]:
    """What the whole window comes to: a title, the figure, and what it is made of. Pure."""
    mail, tasks, buddy, cost = total["messages"], total["tasks"], total["buddy"], total["cost"]
    times = mail["responseTime"]
    return [
        ("Response p50", span(times["p50"]), f"of {many(times['n'], 'message')}"),
        ("Response p95", span(times["p95"]), f"of {many(times['n'], 'message')}"),
        ("Completion rate", share(tasks["completionRate"]), f"{tasks['completed']:,} done, {tasks['failed']:,} failed"),
        ("Buddy checks", share(buddy["successRate"]), f"{buddy['answered']:,} of {buddy['checks']:,} answered"),
        ("Context overflows", number(total["context"]["overflows"]), many(total["context"]["compressions"], "compression")),
        ("Stalls healed", f"{total['stalls']['healed']:,} of {total['stalls']['found']:,}", many(total["incidents"], "incident")),
        ("Cost", f"${cost['usd']:,.2f}", f"{many(cost['runs'], 'run')}, {many(cost['tokens'], 'token')}"),
    ]


async def charts_part(call: Call[FiguresQuery, Nothing]) -> Markup:
    """The window as a whole, and each of its figures as a chart."""
    found = await call.door.store.read(read_figures, call.query)
    return render(
        "figures/charts.html",
        tiles=tiles_of(found["total"]),
        charts=charts.of_figures(found["steps"]),
        behind=found["behind"],
        whose=found["agentId"] or "the whole fleet",
        window=found["window"],
    )


async def get_charts(call: Call[FiguresQuery, Nothing]) -> Answer:
    """The charts."""
    return await shared(call, lambda: charts_part(call))


async def get_figures(call: Call[FiguresQuery, Nothing]) -> Answer:
    """The page. Its filter names the agents that there are."""
    agents = [each.id for each in await call.door.store.read(roster.everyone)]
    windows = tuple(name for name in WINDOWS if name != DEFAULT)
    table = replace(FIGURES, filters=(Filter("window", "Window", windows, DEFAULT), Filter("agent", "Agent", agents, "whole fleet")))
    return console_of(call).whole(
        call,
        "figures/figures.html",
        table=table,
        query=call.query,
        rows=await table_rows(call, table, call.query),
        charts=await charts_part(call),
    )


OPERATIONS: Operations = (
    page("/figures", get_figures, "Figures over time.", query=FiguresQuery),
    page("/figures/~charts", get_charts, "Figures over time as charts.", query=FiguresQuery),
    *operations_of(FIGURES),
)
