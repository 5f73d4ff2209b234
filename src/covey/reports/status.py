"""The seeds' agent-state object, live, and the same in short for the whole fleet (A3, A4)."""

from __future__ import annotations

from typing import Any, NamedTuple

from covey.agents import roster
from covey.agents.breaking import Opened
from covey.base.target import authority_of
from covey.buddies import checking
from covey.contexts import entries
from covey.reports import pulse
from covey.reports.pulse import Pulse
from covey.store import Row, Transaction, statement

QUEUED_OF = statement(__package__, "queued_of")
BLOCKED_OF = statement(__package__, "blocked_of")

QUEUE_SHOWN = 100
"""A status lists so many waiting tasks at most; `queueLength` counts all."""


def agent_state(tx: Transaction, name: str, stale_s: float | None = None) -> dict[str, Any]:
    """One agent's state with every field of seed 000, then ours (A4).

    Raises:
        Unknown, Gone: There is no such agent.
    """
    found = pulse.of_one(tx, name, stale_s)
    decisions = [{"id": each.id, "text": each.text, "at": each.at} for each in entries.decisions(tx, name)]
    return state_of(found, _queue(tx, name), decisions)


def fleet(tx: Transaction, stale_s: float | None = None) -> list[dict[str, Any]]:
    """Every agent's state in the fleet's order, without `taskQueue` and `recentDecisions`."""
    return _in_short(pulse.of_all(tx, stale_s))


class Page(NamedTuple):
    """Some agents' states in short, and the cursor of the next part; None at the end."""

    items: list[dict[str, Any]]
    cursor: int | None


def page(tx: Transaction, stale_s: float | None = None, *, after: int | None = None, limit: int | None = None) -> Page:
    """As `fleet`, a part of it."""
    found = roster.page(tx, after=after, limit=limit)
    return Page(_in_short(pulse.of_some(tx, found.agents, stale_s)), found.cursor)


def _in_short(found: list[Pulse]) -> list[dict[str, Any]]:
    rows = [state_of(each, [], []) for each in found]
    for row in rows:
        del row["taskQueue"], row["context"]["recentDecisions"]
    return rows


def state_of(found: Pulse, queue: list[dict[str, Any]], decisions: list[dict[str, Any]]) -> dict[str, Any]:
    """The state of one agent from its pulse, its waiting tasks and its latest decisions. Pure."""
    agent, vitals = found.agent, found.vitals
    return {
        "agentId": agent.id,
        "status": found.status,
        "lastHeartbeat": found.heartbeat_at,
        "currentTask": _current(found.running[0]) if found.running else None,
        "taskQueue": queue,
        "buddyId": checking.buddy_shown(agent.buddy),
        "lastBuddyCheck": vitals.last_buddy_check,
        "context": {
            "activeProjects": list(found.projects),
            "recentDecisions": decisions,
            "contextSize": found.context_size,
            "maxContextSize": found.settings.max_context,
        },
        "metrics": {
            "tasksCompleted": vitals.tasks_completed,
            "averageTaskTime": round(vitals.average_task_s, 3),
            "lastActiveTime": vitals.last_active_at,
            "stallCount": vitals.stall_count,
            "tasksFailed": vitals.tasks_failed,
            "messagesHandled": vitals.messages_handled,
        },
        "flags": {
            "stopped": agent.stopped_at is not None,
            "paused": agent.paused_at is not None,
            "away": found.away,
            "reason": agent.flag_reason,
        },
        "error": found.error,
        "breaker": _breaker(found.breaker) if found.breaker is not None else None,
        "incidents": [{"incidentId": each.id, "kind": each.kind, "openedAt": each.opened_at} for each in found.incidents],
        "role": agent.role,
        "brain": agent.brain,
        "capabilities": list(agent.capabilities),
        "host": agent.host,
        "port": agent.port,
        "url": f"http://{authority_of(agent.host, agent.port)}",
        "pid": vitals.pid,
        "node": vitals.node,
        "startedAt": vitals.started_at,
        "restarts": vitals.restarts,
        "unread": found.unread,
        "queueLength": found.queue_length,
        "covering": list(found.covering),
    }


def _breaker(breaker: Opened) -> dict[str, Any]:
    return {
        "phase": breaker.phase,
        "failures": breaker.failures,
        "openedAt": breaker.opened_at,
        "until": breaker.until,
        "reason": breaker.reason,
    }


def _current(row: Row) -> dict[str, Any]:
    start = row.started_at or row.claimed_at
    return {
        "taskId": row.id,
        "description": row.description,
        "startTime": start,
        "estimatedCompletion": start + row.estimated_s,
        "priority": row.priority,
        "assignedBy": row.created_by,
        "progress": row.progress,
        "attempt": row.attempts,
    }


def _queue(tx: Transaction, name: str) -> list[dict[str, Any]]:
    rows = tx.all(QUEUED_OF, agent=name, limit=QUEUE_SHOWN)
    if len(rows) < QUEUE_SHOWN:
        rows += tx.all(BLOCKED_OF, agent=name, limit=QUEUE_SHOWN - len(rows))
    return [
        {
            "taskId": row.id,
            "description": row.description,
            "priority": row.priority,
            "dependencies": sorted(row.needs.split()) if row.needs else [],
            "createdBy": row.created_by,
            "createdAt": row.created_at,
            "state": row.state,
        }
        for row in rows
    ]
