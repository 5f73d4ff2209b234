"""Set the budgets of a day, count what is generated, and say once that one is spent (P3). What is spent is read by `reports.spending`."""

from __future__ import annotations

from typing import Any, Literal

from covey.agents import roster
from covey.agents.model import OPERATOR, Caller
from covey.base.errors import Forbidden, Invalid
from covey.base.settings import PlanningSettings
from covey.messages import sending
from covey.planning.model import DAY_S
from covey.reports import spending
from covey.reports.phrases import utc
from covey.reports.spending import Budget
from covey.store import Transaction, statement

CONFIGURE = statement(__package__, "configure")
SET = statement(__package__, "set_budget")
RESET = statement(__package__, "reset_budget")
TOLD = statement(__package__, "told")
LOOK_AGAIN = statement(__package__, "look_again")
COUNT = statement(__package__, "count")
FORGET = statement(__package__, "forget")

GeneratedKind = Literal["template", "proposal", "delegated"]
BOUNDS: dict[str, float] = {"tasks": 10_000, "turns": 10_000_000, "usd": 1_000_000}


def configure(tx: Transaction, settings: PlanningSettings) -> None:
    """The budgets are those of covey.toml, but for what is set by hand; idle agents are looked at again at once."""
    for name, value in (("tasks", settings.tasks), ("turns", settings.turns), ("usd", settings.usd)):
        tx.run(CONFIGURE, name=name, value=None if value == getattr(spending.USUAL, name) else float(value))
    tx.run(LOOK_AGAIN)


def change(tx: Transaction, by: Caller, new: dict[str, float | None], agent: str | None = None) -> dict[str, Any]:
    """The budgets after these are set by hand, or reset to what is configured (None). With an agent: its own `tasks`.

    Raises:
        Forbidden: The caller is not the operator.
        Invalid: There is no such budget, or it is out of bounds; nothing is changed.
        Unknown, Gone: There is no such agent.
    """
    if not by.commands:
        raise Forbidden(f"only the operator sets budgets, and the token is {by.name}'s.")
    if agent is not None:
        roster.find(tx, agent, field="agent")
    for name, value in new.items():
        _check(name, value, agent)
    tx.lock("budget", "")
    for name, value in new.items():
        key = f"{name}:{agent}" if agent is not None else name
        if value is None:
            tx.run(RESET, name=key)
        else:
            tx.run(SET, name=key, value=float(value), now=tx.now, by=by.name)
        tx.happened("budget.changed", agent=agent, budget=name, value=value, by=by.name)
    if new:
        tx.run(LOOK_AGAIN)
        for name in roster.all_names(tx)[:1000]:
            tx.ring(name)
    return spending.overview(tx)


def _check(name: str, value: float | None, agent: str | None) -> None:
    if name not in BOUNDS:
        raise Invalid(f"there is no budget {name!r}; there are: {', '.join(BOUNDS)}.", field=name)
    if agent is not None and name != "tasks":
        raise Invalid(f"{name} is the whole fleet's; an agent has a budget of `tasks` alone.", field=name)
    if value is not None and not 0 <= value <= BOUNDS[name]:
        raise Invalid(f"{name} is {value:g}; it may be 0 to {BOUNDS[name]:,.0f}.", field=name)
    if value is not None and name != "usd" and value != int(value):
        raise Invalid(f"{name} is {value:g}; give a whole number.", field=name)


def count(tx: Transaction, agent: str, task_id: str, kind: GeneratedKind) -> None:
    """The task counts on the agent's budget from now on, for 24 hours."""
    tx.run(COUNT, task_id=task_id, agent=agent, kind=kind, now=tx.now)
    tx.run(FORGET, before=tx.now - DAY_S)


def tell(tx: Transaction, budget: Budget, agent: str | None = None) -> None:
    """Say that a budget is spent: an event, and for the fleet's a word to the operator; once in 24 hours, and again after a change."""
    key = f"{budget.name}:{agent}" if agent is not None else budget.name
    if tx.run(TOLD, name=key, now=tx.now, before=tx.now - DAY_S) == 0:
        return
    tx.happened(
        "budget.spent", agent=agent, budget=budget.name, limit=budget.limit, spent=round(budget.spent, 4), renewsAt=budget.renews_at
    )
    if agent is None:
        again = f"There is something again at {utc(budget.renews_at)}. " if budget.renews_at is not None else ""
        sending.notify(
            tx,
            OPERATOR,
            f"Spent: {spending.said(budget)}",
            f"The fleet has used {spending.said(budget)} in the last 24 hours. Until there is something left, brains that cost money start"
            f" only on what you asked for yourself; everything else waits. {again}`covey budget set --{budget.name} N` gives more at once.",
            type="alert",
            priority="high",
        )
