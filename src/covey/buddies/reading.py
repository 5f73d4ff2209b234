"""How the buddies of a fleet stand: who watches whom, what came of it, when next, and who is covered (B1, B2, B5)."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import Agent
from covey.buddies import checking, covering
from covey.buddies.checking import Due
from covey.buddies.model import CHECK_S, Last, Watching
from covey.store import Transaction


class Page(NamedTuple):
    """Some agents with their buddies, and the cursor of the next part; None at the end."""

    items: list[Watching]
    cursor: int | None


def page(tx: Transaction, check_s: float = CHECK_S, *, after: int | None = None, limit: int | None = None) -> Page:
    """As many agents with their buddies as `limit` says, or all, in the fleet's order."""
    found = roster.page(tx, after=after, limit=limit)
    return Page(_watchings(tx, found.agents, check_s), found.cursor)


def everyone(tx: Transaction, check_s: float = CHECK_S) -> list[Watching]:
    """All agents with their buddies, in the fleet's order."""
    return _watchings(tx, roster.everyone(tx), check_s)


def _watchings(tx: Transaction, agents: list[Agent], check_s: float) -> list[Watching]:
    dues = {each.checker: each for each in checking.dues(tx, check_s)}
    lasts = {name: found.last_buddy_check for name, found in roster.all_vitals(tx).items()}
    covers = covering.coverings(tx)
    watched_by: defaultdict[str, list[str]] = defaultdict(list)
    for agent in roster.everyone(tx):
        watched_by[agent.buddy].append(agent.id)
    by_buddy, covered_by = covering.by_buddy(covers), {each.agent: each.buddy for each in covers}
    return [
        _watching(
            agent, dues.get(agent.id), lasts.get(agent.id), watched_by[agent.id], by_buddy.get(agent.id, []), covered_by.get(agent.id)
        )
        for agent in agents
    ]


def _watching(
    agent: Agent, due: Due | None, checked_at: float | None, watched_by: list[str], covers: list[str], covered_by: str | None
) -> Watching:
    last: Last | None = due.last if due is not None and due.last is not None and due.last.checked == agent.buddy else None
    return Watching(
        agent_id=agent.id,
        buddy_id=checking.buddy_shown(agent.buddy),
        watched_by=watched_by,
        last_check=checked_at,
        outcome=last.outcome if last else None,
        reason=(last.reason or None) if last else None,
        done_by=last.done_by if last else None,
        next_check=due.at if due else None,
        checks=last.made if last else 0,
        answered=last.answered if last else 0,
        success_rate=last.success_rate if last else None,
        missed_in_a_row=last.missed_in_a_row if last else 0,
        covering=covers,
        covered_by=covered_by,
    )
