"""What the budgets of a day are and what is spent of them, counted from runs and generated tasks (P3). Read only.

A day is the last 24 hours, at any moment: nothing is spent twice around midnight. What a brain costs is known once its turn has ended,
so turns that run side by side may go over the money's budget by what they cost themselves; the count of turns is never gone over.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from covey.agents import roster
from covey.agents.model import Agent
from covey.base.settings import PAID_KINDS, PlanningSettings
from covey.store import Row, Transaction, statement

BUDGETS = statement(__package__, "budgets")
PAID_TURNS = statement(__package__, "paid_turns")
SPENT_USD = statement(__package__, "spent_usd")
PRICED_RUNS = statement(__package__, "priced_runs")
GENERATED_OF = statement(__package__, "generated_of")
GENERATED_SINCE = statement(__package__, "generated_since")
PLANNINGS = statement(__package__, "plannings")
PLANNING_OF = statement(__package__, "planning_of")

DAY_S = 86_400.0
READ = 10_000
Name = Literal["tasks", "turns", "usd"]
USUAL = PlanningSettings()
_USUAL: dict[Name, float] = {"tasks": USUAL.tasks, "turns": USUAL.turns, "usd": USUAL.usd}


def is_planned(agent: Agent) -> bool:
    """Whether idle time is planned: as configured, else for brains that cost nothing and act on nothing outside (P3). Pure."""
    plan_it = agent.settings.get("plan")
    return bool(plan_it) if plan_it is not None else agent.brain not in PAID_KINDS


class Budget(NamedTuple):
    """One budget: how much a day, what is spent, since when it is so, and when it is no longer spent whole."""

    name: str
    limit: float
    spent: float
    source: str
    """Who said so: `default`, `covey.toml`, or the name of who set it."""
    renews_at: float | None
    """If it is spent: store time at which there is something again; None if never, since it is 0, or if it is not spent."""

    @property
    def left(self) -> float:
        """What may still be spent."""
        return max(0.0, self.limit - self.spent)

    @property
    def is_spent(self) -> bool:
        """Whether there is nothing left."""
        return self.spent >= self.limit


class Limit(NamedTuple):
    """How much a day, and who said so."""

    value: float
    source: str


class Limits(NamedTuple):
    """All limits, as they are set now."""

    rows: dict[str, Row]

    def of(self, name: Name, agent: str = "") -> Limit:
        """The limit of this name, of one agent or of all: set by hand, else configured, else the usual one. Pure."""
        for key in (f"{name}:{agent}", name) if agent else (name,):
            row = self.rows.get(key)
            if row is not None and row.set_to is not None:
                return Limit(row.set_to, row.set_by)
        row = self.rows.get(name)
        return Limit(_USUAL[name], "default") if row is None or row.configured is None else Limit(row.configured, "covey.toml")


def limits(tx: Transaction) -> Limits:
    """The limits as they are set."""
    return Limits({row.name: row for row in tx.all(BUDGETS)})


def tasks_of(tx: Transaction, agent: str, known: Limits | None = None) -> Budget:
    """An agent's budget of generated tasks."""
    limit = (known or limits(tx)).of("tasks", agent)
    row = tx.one(GENERATED_OF, agent=agent, since=tx.now - DAY_S, over=max(0, int(limit.value) - 1))
    spent = row.tasks if row is not None else 0
    return _budget("tasks", limit, spent, row.frees + DAY_S if row is not None and row.frees is not None else None)


def turns(tx: Transaction, known: Limits | None = None) -> Budget:
    """The fleet's budget of turns of brains that cost money. A turn counts from its start; one that was given back does not count."""
    limit = (known or limits(tx)).of("turns")
    row = tx.one(PAID_TURNS, since=tx.now - DAY_S, over=max(0, int(limit.value) - 1))
    spent = row.turns if row is not None else 0
    return _budget("turns", limit, spent, row.frees + DAY_S if row is not None and row.frees is not None else None)


def money(tx: Transaction, known: Limits | None = None) -> Budget:
    """The fleet's budget of US dollars, whatever kind of brain spent them."""
    limit = (known or limits(tx)).of("usd")
    row = tx.one(SPENT_USD, since=tx.now - DAY_S)
    spent = float(row.usd) if row is not None else 0.0
    return _budget("usd", limit, spent, _enough(tx, limit.value, spent) if spent >= limit.value > 0 else None)


def _enough(tx: Transaction, limit: float, spent: float) -> float | None:
    """When so much has fallen out of the day that there is something left again."""
    for row in tx.all(PRICED_RUNS, since=tx.now - DAY_S, limit=READ):
        spent -= row.cost_usd
        if spent < limit:
            renews: float = row.ended_at + DAY_S
            return renews
    return None


def _budget(name: str, limit: Limit, spent: float, frees: float | None) -> Budget:
    is_spent = spent >= limit.value
    return Budget(name, limit.value, spent, limit.source, frees if is_spent and limit.value > 0 else None)


def spent_of_fleet(tx: Transaction) -> Budget | None:
    """The fleet's budget that is spent, turns before money; None if there is something left of both."""
    known = limits(tx)
    for each in (turns(tx, known), money(tx, known)):
        if each.is_spent:
            return each
    return None


def generated(tx: Transaction) -> dict[str, int]:
    """How many tasks were generated for each agent in the last 24 hours; who got none is left out."""
    return {row.agent: row.tasks for row in tx.all(GENERATED_SINCE, since=tx.now - DAY_S)}


def said(budget: Budget, agent: str = "") -> str:
    """A budget in words, as `24 of 24 tasks generated for coder`. Pure."""
    if budget.name == "usd":
        return f"${budget.spent:.2f} of ${budget.limit:.2f}"
    what = f"generated tasks{f' of {agent}' if agent else ''}" if budget.name == "tasks" else "turns of paid brains"
    return f"{budget.spent:,.0f} of {budget.limit:,.0f} {what}"


def looks(tx: Transaction) -> list[Row]:
    """What the last look at each idle agent came to: rows of agent, at, next_at, why, made."""
    return tx.all(PLANNINGS)


def look_at(tx: Transaction, agent: str) -> Row | None:
    """What the last look at this agent came to: at, next_at, why, made; None if it was never looked at."""
    return tx.one(PLANNING_OF, agent=agent)


def overview(tx: Transaction) -> dict[str, Any]:
    """All budgets as they stand: the fleet's, and each agent's of generated tasks with what the last look at it came to."""
    known, made = limits(tx), generated(tx)
    looked = {row.agent: row for row in looks(tx)}
    agents = []
    for name in roster.all_names(tx):
        limit, look = known.of("tasks", name), looked.get(name)
        agents.append(
            {
                "agentId": name,
                "limit": limit.value,
                "spent": made.get(name, 0),
                "source": limit.source,
                "why": look.why if look else "",
                "lookedAt": look.at if look else None,
                "nextAt": look.next_at if look and look.next_at > tx.now else None,
            }
        )
    whole = known.of("tasks")
    return {
        "hours": DAY_S / 3600,
        "tasks": {"limit": whole.value, "source": whole.source},
        "turns": _shown(turns(tx, known)),
        "usd": _shown(money(tx, known)),
        "agents": agents,
    }


def _shown(budget: Budget) -> dict[str, Any]:
    return {
        "limit": budget.limit,
        "spent": round(budget.spent, 6),
        "left": round(budget.left, 6),
        "source": budget.source,
        "renewsAt": budget.renews_at,
    }
