"""How the open work stands: load, order, what has been lying too long. Verbs for `store.read`, each over pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from covey.reports import open_work, pulse
from covey.reports.open_work import OpenTask, Ranked
from covey.reports.phrases import count, head, listed, span
from covey.reports.pulse import Pulse
from covey.store import Transaction

SHOWN = 50
LYING_S = 86_400.0
"""What waits longer than a day is lying."""


def workload(tx: Transaction, stale_s: float | None = None) -> dict[str, Any]:
    """Each agent's load, and what waits in the shared queues: tasks and estimated seconds of work left."""
    tasks, more = open_work.read(tx)
    return loads(pulse.of_all(tx, stale_s), tasks, tx.now) | {"more": more}


def loads(pulses: Sequence[Pulse], tasks: Sequence[OpenTask], now: float) -> dict[str, Any]:
    """As `workload`, from what was read. Pure."""
    by_place: defaultdict[str, list[OpenTask]] = defaultdict(list)
    for task in tasks:
        by_place[task.place].append(task)
    total = sum(task.remaining_s(now) for task in tasks)
    agents = []
    for each in pulses:
        own = by_place[each.agent.id]
        left = sum(task.remaining_s(now) for task in own)
        agents.append(
            {
                "agentId": each.agent.id,
                "status": each.status,
                "notAble": each.why_not_able,
                "running": len(each.running),
                "queued": sum(task.state == "queued" for task in own),
                "blocked": sum(task.state == "blocked" for task in own),
                "secondsLeft": left,
                "share": left / total if total else 0.0,
                "unread": each.unread,
                "contextShare": each.context_size / each.settings.max_context if each.settings.max_context else 0.0,
            }
        )
    shared = {place: len(found) for place, found in by_place.items() if place.startswith("@")}
    return {"agents": agents, "shared": shared, "open": len(tasks), "secondsLeft": total}


def pending(tx: Transaction, agent: str = "", limit: int = SHOWN) -> dict[str, Any]:
    """What waits, the most pressing first, each with why it stands there; of one agent or of all."""
    tasks, more = open_work.read(tx)
    order = [each for each in open_work.ranked(tasks, tx.now) if agent in ("", each.task.agent)]
    return {"waiting": len(order), "more": more, "tasks": [_in_order(each, tx.now) for each in order[:limit]]}


def _in_order(each: Ranked, now: float) -> dict[str, Any]:
    task = each.task
    return {
        "taskId": task.id,
        "description": head(task.description),
        "place": task.place,
        "priority": task.priority,
        "state": task.state,
        "age": now - task.created_at,
        "because": listed(_because(each, now)) or "its age",
    }


def _because(each: Ranked, now: float) -> list[str]:
    task = each.task
    said = [task.priority] if task.priority in ("urgent", "high") else []
    if each.lent_by is not None:
        said.append(f"{each.lent_by.id} ({each.lent_by.priority}) waits for it")
    elif each.waiters:
        said.append(f"{count(each.waiters, 'task')} {'waits' if each.waiters == 1 else 'wait'} for it")
    if task.deadline is not None:
        said.append(f"due in {span(task.deadline - now)}" if task.deadline > now else f"overdue by {span(now - task.deadline)}")
    if task.approval == "wanted":
        said.append("wants approval")
    return said


def lying(tx: Transaction, agent: str = "") -> dict[str, Any]:
    """What has been lying too long, waits for a person, or stands there twice; of one agent or of all."""
    tasks, more = open_work.read(tx)
    return find_lying([task for task in tasks if agent in ("", task.agent, task.holder)], tx.now) | {"more": more}


def find_lying(tasks: Sequence[OpenTask], now: float) -> dict[str, Any]:
    """As `lying`, from what was read. Pure."""
    alike: defaultdict[tuple[str, str], list[OpenTask]] = defaultdict(list)
    for task in tasks:
        alike[task.place, task.description].append(task)
    waiting = [task for task in tasks if task.state != "running"]
    return {
        "open": len(tasks),
        "old": _shown([task for task in waiting if now - task.created_at > LYING_S], now),
        "blocked": _shown([task for task in waiting if task.state == "blocked"], now),
        "wantApproval": _shown([task for task in waiting if task.approval == "wanted"], now),
        "failedBefore": _shown([task for task in waiting if task.attempts > 0], now),
        "twice": [_twice(same) for same in alike.values() if len(same) > 1][:SHOWN],
    }


def _twice(same: list[OpenTask]) -> dict[str, Any]:
    return {"description": head(same[0].description), "place": same[0].place, "tasks": [task.id for task in same[:20]]}


def _shown(tasks: Sequence[OpenTask], now: float) -> list[dict[str, Any]]:
    return [
        {
            "taskId": task.id,
            "description": head(task.description),
            "place": task.place,
            "state": task.state,
            "age": now - task.created_at,
            "needs": list(task.needs[:10]),
        }
        for task in sorted(tasks, key=lambda task: task.created_at)[:SHOWN]
    ]
