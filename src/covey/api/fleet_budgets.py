"""The fleet's port: the budgets of a day, and what is spent of them (P3)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from covey.api.shapes import Given, Ident
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.planning import budgets
from covey.reports import spending


class Fund(Given):
    """A budget of the fleet: how much in any 24 hours, what of it is spent, who set it, when there is something again if it is spent."""

    limit: float
    spent: float
    left: float
    source: str
    renews_at: float | None = None


class TasksLimit(Given):
    """How many tasks may be generated for an agent that has no limit of its own, in any 24 hours."""

    limit: float
    source: str


class AgentBudget(Given):
    """An agent's budget of generated tasks, and what the last look at what to plan for it came to."""

    agent_id: str
    limit: float
    spent: float
    source: str
    why: str = ""
    looked_at: float | None = None
    next_at: float | None = None


class Budgets(Given):
    """All budgets as they stand."""

    hours: float
    tasks: TasksLimit
    turns: Fund
    usd: Fund
    agents: list[AgentBudget]


class NewBudgets(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Which budgets are set; one that is null is as configured again. With `agent`: its own `tasks`."""

    tasks: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    turns: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    usd: Annotated[float, Meta(ge=0)] | UnsetType | None = UNSET
    agent: Ident | None = None


async def get_budget(call: Call[Nothing, Nothing]) -> Answer:
    """All budgets as they stand."""
    return shown(await call.door.store.read(spending.overview))


async def set_budget(call: Call[Nothing, NewBudgets]) -> Answer:
    """Set budgets by hand; what waits for them goes at once."""
    given = {name: getattr(call.body, name) for name in budgets.BOUNDS}
    new = {name: value for name, value in given.items() if value is not UNSET}
    return await call.write(shown, budgets.change, call.by, new, call.body.agent)


OPERATIONS = (
    get("/api/v1/budget", get_budget, "caller", "The budgets of a day, and what is spent of them.", gives=Budgets, verb=spending.overview),
    post("/api/v1/budget", set_budget, "operator", "Set budgets by hand.", takes=NewBudgets, gives=Budgets, verb=budgets.change),
)
