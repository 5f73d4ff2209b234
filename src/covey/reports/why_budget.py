"""Why nothing, or nothing more, is planned for an agent, and which work waits for a budget. From the store (K8, P3)."""

from __future__ import annotations

from typing import Any

from covey.agents import roster
from covey.agents.model import OPERATOR, SYSTEM, Agent
from covey.base.settings import PAID_KINDS
from covey.reports import spending
from covey.reports.in_line import Told
from covey.reports.phrases import when
from covey.reports.spending import Budget, is_planned
from covey.store import Row, Transaction
from covey.tasks import reading


def of_agent(tx: Transaction, agent: Agent) -> Told:
    """What is planned for an agent, and what its brain may start on."""
    own, look = spending.tasks_of(tx, agent.id), spending.look_at(tx, agent.id)
    planned = is_planned(agent)
    said = [_planned(tx, agent, own, look)]
    held = spending.spent_of_fleet(tx) if agent.brain in PAID_KINDS else None
    if held is not None:
        said.append(f"{_spent(tx, held)}: until then its {agent.brain} brain starts only on what the operator asks for.")
    facts: dict[str, Any] = {
        "planned": planned,
        "generated": {"spent": own.spent, "limit": own.limit, "renewsAt": own.renews_at},
        "lastLook": {"at": look.at, "why": look.why, "nextAt": look.next_at} if look is not None else None,
        "budgetSpent": held.name if held is not None else None,
    }
    return said, {"planning": facts}


def _planned(tx: Transaction, agent: Agent, own: Budget, look: Row | None) -> str:
    if not is_planned(agent):
        why = "plan = false" if agent.settings.get("plan") is False else f"its {agent.brain} brain may cost money or act outside"
        return f"Nothing is planned for it: {why}; plan = true in covey.toml turns it on."
    used = f"{spending.said(own)} are used in 24 hours"
    if own.is_spent:
        again = f"; there is something again {when(own.renews_at, tx.now)}" if own.renews_at is not None else ""
        return f"Nothing more is planned for it: its budget is spent, {used}{again}."
    if look is None:
        return f"When it has nothing to do, tasks are planned for it: {used}."
    next_one = f"; it is looked at again {when(look.next_at, tx.now)}" if look.next_at > tx.now else ""
    return f"The last look at what to plan for it was {when(look.at, tx.now)}: {look.why}{next_one}. {used[0].upper()}{used[1:]}."


def _spent(tx: Transaction, budget: Budget) -> str:
    again = f", and there is something again {when(budget.renews_at, tx.now)}" if budget.renews_at is not None else ""
    return f"The fleet's budget is spent ({spending.said(budget)} in 24 hours{again})"


def holds_task(tx: Transaction, row: Row) -> list[str]:
    """Whether a queued task of an agent waits for a budget; empty if it does not."""
    agent = roster.seek(tx, row.agent) if row.agent is not None else None
    if agent is None or agent.brain not in PAID_KINDS or _is_asked(row):
        return []
    parent = reading.seek(tx, row.parent_id) if row.origin == "split" and row.parent_id is not None else None
    if parent is not None and _is_asked(parent):
        return []
    spent = spending.spent_of_fleet(tx)
    if spent is not None:
        return [f"{_spent(tx, spent)}, and no person asked for this; `covey budget set --{spent.name} N` gives more."]
    unasked = _is_made_up(row) or (parent is not None and _is_made_up(parent))
    if unasked and not is_planned(agent):
        return [f"Nobody asked for this, and planning is off for {agent.id}, whose {agent.brain} brain may cost money."]
    return []


def _is_asked(row: Row) -> bool:
    """Whether a person asked for a task, or wrote the schedule that made it, as the claim sees it. Pure."""
    return bool(row.created_by == OPERATOR or (row.schedule is not None and row.created_by == SYSTEM) or row.approval == "approved")


def _is_made_up(row: Row) -> bool:
    """Whether planning made it, as the claim sees it. Pure."""
    return bool(row.origin == "generated" and row.schedule is None)


def holds_mail(tx: Transaction, receiver: Agent, sender: str) -> list[str]:
    """Whether mail in a mailbox waits for a budget; empty if it does not."""
    if receiver.brain not in PAID_KINDS or sender == OPERATOR:
        return []
    spent = spending.spent_of_fleet(tx)
    return [f"{_spent(tx, spent)}, and no person wrote this; `covey budget set --{spent.name} N` gives more."] if spent is not None else []
