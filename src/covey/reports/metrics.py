"""The figures of one agent or of the whole fleet: work, response times, what waits, context, cost (A6). Measured or null."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from covey.agents.model import OPERATOR, Status
from covey.buddies import checking
from covey.messages import reading as mail
from covey.reports import pulse
from covey.reports.exposition import CONTENT_TYPE, prometheus
from covey.reports.pulse import Pulse
from covey.store import Row, Transaction, statement
from covey.tasks import reading as tasks

__all__ = ["CONTENT_TYPE", "of_agent", "of_fleet", "percentile", "prometheus", "spread"]

MAIL_TIMES = statement(__package__, "mail_times")
MAIL_TIMES_OF = statement(__package__, "mail_times_of")
TASK_TIMES = statement(__package__, "task_times")
TASK_TIMES_OF = statement(__package__, "task_times_of")
WAITING_TASKS = statement(__package__, "waiting_tasks")
DEAD_MAIL = statement(__package__, "dead_mail")
COSTS = statement(__package__, "costs")
OPEN_KINDS = statement(__package__, "open_kinds")
LEADER = statement(__package__, "leader")
OPEN_THINGS = statement(__package__, "open_things")

EVENTS_OF_ONE = 1_000
EVENTS_OF_ALL = 5_000
"""Response and task times are those among so many last events."""
DEAD_COUNTED = 10_000
OPEN_COUNTED = 10_000
DAY_S = 86_400.0


def of_agent(tx: Transaction, name: str, stale_s: float | None = None) -> dict[str, Any]:
    """One agent's figures; ages and times in seconds.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    found = pulse.of_one(tx, name, stale_s)
    replies = [row.seconds for row in tx.all(MAIL_TIMES_OF, agent=name, limit=EVENTS_OF_ONE)]
    work = [row.seconds for row in tx.all(TASK_TIMES_OF, agent=name, limit=EVENTS_OF_ONE)]
    queued = next(iter(tx.all(WAITING_TASKS, low=name, high=name)), None)
    dead = Counter(row.receiver for row in tx.all(DEAD_MAIL, limit=DEAD_COUNTED))
    return {"at": tx.now, **figures_of(found, replies, work, queued, dead[name])}


def of_fleet(tx: Transaction, stale_s: float | None = None) -> dict[str, Any]:
    """The whole fleet's figures, and under `agents` each agent's."""
    pulses = pulse.of_all(tx, stale_s)
    replies = _by_agent(tx.all(MAIL_TIMES, limit=EVENTS_OF_ALL))
    work = _by_agent(tx.all(TASK_TIMES, limit=EVENTS_OF_ALL))
    queued = {row.queue: row for row in tx.all(WAITING_TASKS, low="", high="z" * 33)}
    dead = Counter(row.receiver for row in tx.all(DEAD_MAIL, limit=DEAD_COUNTED))
    names = [each.agent.id for each in pulses]
    agents = [figures_of(each, replies[name], work[name], queued.get(name), dead[name]) for name, each in zip(names, pulses, strict=True)]
    costs = tx.all(COSTS, since=tx.now - DAY_S)
    open_now = tx.all(OPEN_THINGS, limit=OPEN_COUNTED)[0]
    return {
        "at": tx.now,
        "agents": agents,
        "status": dict.fromkeys(get_args(Status), 0) | Counter(each["status"] for each in agents),
        "tasks": _tasks(tx, pulses, work, queued),
        "queues": _queues(queued),
        "messages": _messages(tx, pulses, replies, dead.total(), open_now),
        "cost": {
            "usd24h": sum(row.usd for row in costs),
            "tokens24h": int(sum(row.tokens for row in costs)),
            "runs24h": sum(row.runs for row in costs),
        },
        "leader": _leader(tx),
        "incidents": {row.kind: row.incidents for row in tx.all(OPEN_KINDS)},
        "breakersOpen": sum(each["breakerOpen"] for each in agents),
        "handoffsOpen": open_now.handoffs,
        "votesOpen": open_now.votes,
    }


def _tasks(tx: Transaction, pulses: Sequence[Pulse], work: Mapping[str, Sequence[float]], queued: Mapping[str, Row]) -> dict[str, Any]:
    """The fleet's tasks: how many in each state, what agents finished and how long it took, how long the oldest waits."""
    completed, failed = sum(each.vitals.tasks_completed for each in pulses), sum(each.vitals.tasks_failed for each in pulses)
    return {
        **dict.fromkeys(("queued", "blocked", "running", "done", "failed", "cancelled"), 0),
        **tasks.counts(tx),
        "completed": completed,
        "attemptsFailed": failed,
        "completionRate": _rate(completed, failed),
        "time": spread([each for times in work.values() for each in times]),
        "oldestWaiting": max((tx.now - row.since for row in queued.values()), default=None),
    }


def _messages(tx: Transaction, pulses: Sequence[Pulse], replies: Mapping[str, Sequence[float]], dead: int, open_now: Row) -> dict[str, Any]:
    """The fleet's mail: what was handled and how fast, what waits for whom, the oldest of it, what was given up."""
    return {
        "handled": sum(each.vitals.messages_handled for each in pulses),
        "unread": sum(each.unread for each in pulses),
        "dead": dead,
        "atWork": open_now.at_work,
        "deferred": open_now.deferred,
        "oldestWaiting": max((tx.now - each.unread_since for each in pulses if each.unread_since is not None), default=None),
        "responseTime": spread([each for times in replies.values() for each in times]),
        "operatorUnread": mail.unread_count(tx, OPERATOR),
    }


def figures_of(found: Pulse, replies: Sequence[float], work: Sequence[float], queued: Row | None, dead: int) -> dict[str, Any]:
    """One agent's figures from what was read of it. Pure."""
    agent, vitals, now = found.agent, found.vitals, found.now
    return {
        "agentId": agent.id,
        "status": found.status,
        "ableNow": found.why_not_able is None,
        "heartbeatAge": _age(now, found.heartbeat_at),
        "lastActiveAge": _age(now, vitals.last_active_at),
        "tasks": {
            "completed": vitals.tasks_completed,
            "attemptsFailed": vitals.tasks_failed,
            "completionRate": _rate(vitals.tasks_completed, vitals.tasks_failed),
            "averageTime": round(vitals.average_task_s, 3),
            "time": spread(work),
            "running": len(found.running),
            "waiting": found.queue_length,
            "oldestWaiting": _age(now, queued.since if queued is not None else None),
            "failuresInARow": vitals.failures_in_a_row,
        },
        "messages": {
            "handled": vitals.messages_handled,
            "unread": found.unread,
            "dead": dead,
            "atWork": found.mail_at_work,
            "oldestWaiting": _age(now, found.unread_since),
            "responseTime": spread(replies),
        },
        "context": {
            "size": found.context_size,
            "max": found.settings.max_context,
            "share": round(found.context_size / found.settings.max_context, 4) if found.settings.max_context else None,
            "overflows": found.context_overflows,
        },
        "buddy": _buddy(found),
        "stalls": vitals.stall_count,
        "breakerOpen": found.breaker is not None,
        "incidentsOpen": len(found.incidents),
        "restarts": vitals.restarts,
    }


def _buddy(found: Pulse) -> dict[str, Any]:
    """Its checks of the one it watches, and whom it covers. Pure."""
    last = found.checks
    return {
        "buddyId": checking.buddy_shown(found.agent.buddy),
        "lastCheckAge": _age(found.now, found.vitals.last_buddy_check),
        "checks": last.made if last else 0,
        "answered": last.answered if last else 0,
        "successRate": last.success_rate if last else None,
        "missedInARow": last.missed_in_a_row if last else 0,
        "covering": len(found.covering),
    }


def spread(values: Sequence[float]) -> dict[str, Any]:
    """How many, their median and 95th percentile in seconds; null where there is none. Pure."""
    ordered = sorted(values)
    return {"n": len(ordered), "p50": percentile(ordered, 0.5), "p95": percentile(ordered, 0.95)}


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that so large a share of the sorted values does not exceed; None of none. Pure."""
    if not ordered:
        return None
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 4)


def _rate(completed: int, failed: int) -> float | None:
    """The share of ended attempts at tasks that finished their task."""
    return round(completed / (completed + failed), 4) if completed + failed else None


def _age(now: float, at: float | None) -> float | None:
    return round(max(0.0, now - at), 3) if at is not None else None


def _by_agent(rows: Sequence[Row]) -> defaultdict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[row.agent].append(row.seconds)
    return found


def _queues(rows: dict[str, Row]) -> dict[str, int]:
    """How many tasks are queued in the agents' own queues, the global and the urgent one."""
    lengths = dict.fromkeys(("own", "global", "urgent"), 0)
    for name, row in rows.items():
        start, found, _ = name.partition(":")
        lengths[start if found else "own"] += row.tasks
    return lengths


def _leader(tx: Transaction) -> dict[str, Any]:
    """Who leads; `cycleAge` grows while the cycle is late (H7b)."""
    row = tx.one(LEADER)
    if row is None:
        return {"holder": None, "leads": False, "cycle": 0, "cycleAge": None}
    return {"holder": row.holder, "leads": row.until > tx.now, "cycle": row.cycle, "cycleAge": _age(tx.now, row.cycled_at)}
