"""What a person does with budgets: set one, or let it be as covey.toml says again (P3)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.base.errors import Invalid, NotFound
from covey.console.asking import Field, confirm
from covey.console.routes import Form, Operations, act, done, page
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.planning import budgets
from covey.reports import spending

NAMED = 200


class Budget(NamedTuple):
    """What a budget is called, and what it bounds."""

    title: str
    explain: str


BUDGETS = {
    "tasks": Budget("Generated tasks an agent", "So many tasks are generated for an idle agent in any 24 hours."),
    "turns": Budget("Turns of paid brains", "So many turns of brains that cost money start in any 24 hours, in the whole fleet."),
    "usd": Budget("US dollars", "So much brains may cost in any 24 hours, in the whole fleet."),
}


class Amount(Form):
    """How much; empty: as covey.toml says."""

    amount: str = ""
    agent: str = ""


async def ask(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a budget."""
    name = call.named("budget")
    budget = _budget(name)
    now = (await call.door.store.read(spending.overview))[name]
    fields = [
        Field("amount", "How much", f"{now['limit']:g}", "number", help="Empty: as covey.toml says.", bounds={"min": 0, "step": "any"}),
    ]
    if name == "tasks":
        names = await call.door.store.read(roster.all_names)
        help_ = "Empty: each agent that has no budget of its own."
        fields.append(Field("agent", "For", options=("", *names) if len(names) <= NAMED else (), help=help_))
    return confirm(
        call,
        title=budget.title,
        lines=[budget.explain, "It holds at once and over restarts, before what covey.toml says."],
        action=f"/settings/budgets/{name}",
        fields=fields,
        go="Set it",
    )


async def set_budget(call: Call[Nothing, Amount]) -> Answer:
    """Set a budget, by the same verb as `covey budget set`."""
    name, form = call.named("budget"), call.body
    budget = _budget(name)
    agent = form.agent.strip() or None
    now = await call.door.store.write(budgets.change, call.by, {name: _amount(form.amount)}, agent)
    own = next((each for each in now["agents"] if each["agentId"] == agent), now[name])
    return done(call, f"{budget.title}{f', {agent}' if agent else ''}: {own['limit']:,g} in any 24 hours, by {own['source']}.")


def _budget(name: str) -> Budget:
    if name not in BUDGETS:
        raise NotFound(f"there is no budget {name[:60]!r}; there are {', '.join(BUDGETS)}.", field="budget")
    return BUDGETS[name]


def _amount(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"amount is {text[:60]!r}; give a number, or nothing for what covey.toml says.", field="amount") from None


OPERATIONS: Operations = (
    page("/settings/budgets/{budget}", ask, "The form of a budget."),
    act("/settings/budgets/{budget}", set_budget, "Set a budget.", takes=Amount),
)
