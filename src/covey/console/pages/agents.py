"""The table of agents: who is in the fleet, how each is; stopped, paused and resumed by a filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from covey.agents.model import Caller
from covey.base.settings import Settings
from covey.console.bulk import Bulk
from covey.console.listing import operations_of
from covey.console.pages.agent_acts import DEEDS, Deed
from covey.console.pieces import meter, pill
from covey.console.routes import Operations
from covey.console.shown import ago, span
from covey.console.tables import Column, Filter, Query, Slice, Table, sliced
from covey.reports import overview
from covey.store import Transaction

STATES = ("active", "idle", "busy", "error", "stalled", "stopped", "paused", "away")
Agent = Mapping[str, Any]
"""An agent as `reports.overview` has it."""


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


def _bulk(deed: Deed, past: str, explain: str) -> Bulk[AgentsQuery, Agent]:
    return Bulk(
        table=AGENTS,
        name=deed.name,
        title=f"{deed.title} {{}}",
        noun="agent",
        explain=explain,
        past=past,
        verb=partial(_to_agent, deed),
        grave=deed.grave,
    )


BULKS = (
    _bulk(DEEDS["stop"], "stopped", "Each takes nothing and its running brain ends, until it is resumed; restarts do not change that."),
    _bulk(DEEDS["pause"], "paused", "Each finishes what it does and takes nothing new until it is resumed. Their mail is held."),
    _bulk(DEEDS["resume"], "resumed", "Each takes mail and work again; restarts that were given up are tried again."),
)

OPERATIONS: Operations = (*operations_of(AGENTS), *(each for bulk in BULKS for each in bulk.operations))
