"""The seeds' JSON tree (S1): which files there are, which of them an event touches, what each of them holds. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, RESERVED
from covey.base.errors import Gone, Unknown
from covey.buddies import covering
from covey.messages import reading as mail
from covey.messages.model import Message
from covey.nodes import records
from covey.reports import metrics, status
from covey.store import Transaction
from covey.store.events import Event
from covey.tasks import reading as tasks
from covey.tasks.model import Task
from covey.version import __version__

STATES = "agent-states"
QUEUES = "task-queues"
TASKS = "task-queues/agent-specific"
COMMUNICATION = "communication"
SYSTEM = "system"
FOLDERS = (STATES, QUEUES, TASKS, COMMUNICATION, SYSTEM)

GLOBAL_QUEUE = f"{QUEUES}/global-queue.json"
URGENT_QUEUE = f"{QUEUES}/urgent-queue.json"
MESSAGES = f"{COMMUNICATION}/messages.json"
NOTIFICATIONS = f"{COMMUNICATION}/notifications.json"
HEARTBEATS = f"{COMMUNICATION}/heartbeats.json"
PROTOCOL = f"{SYSTEM}/protocol-state.json"
BUDDIES = f"{SYSTEM}/buddy-assignments.json"
HEALTH = f"{SYSTEM}/health-metrics.json"

LAST_MESSAGES = 1000
LAST_NOTICES = 1000
QUEUE_SHOWN = 1000
"""A file lists so many of these at most."""


def state_file(agent: str) -> str:
    """Where an agent's state lies."""
    return f"{STATES}/{agent}.json"


def tasks_file(agent: str) -> str:
    """Where an agent's open tasks lie."""
    return f"{TASKS}/{agent}-tasks.json"


def agent_of(name: str) -> str | None:
    """Whose file it is; None if it is the whole fleet's."""
    folder, _, file = name.rpartition("/")
    if folder == STATES:
        return file.removesuffix(".json")
    return file.removesuffix("-tasks.json") if folder == TASKS else None


def all_files(agents: Iterable[str]) -> list[str]:
    """The names of all files of a fleet, the whole fleet's first."""
    return [*FLEET_FILES, *(name for agent in agents for name in (state_file(agent), tasks_file(agent)))]


def touched(event: Event) -> set[str] | None:
    """The files that may be other ones after this event; None: any of them. Pure."""
    group = event.kind.partition(".")[0]
    if event.kind in ("agent.added", "agent.removed") or group in ("fleet", "store"):
        return None
    if group in ("file", "view", "logs", "drop", "notice"):
        return set()
    found = {state_file(event.agent)} if event.agent and event.agent not in RESERVED else set()
    if group == "message":
        found |= _touched_by_mail(event)
    elif group == "task":
        found |= _touched_by_task(event)
    elif group == "buddy":
        found |= {HEALTH, BUDDIES} | {
            state_file(name) for name in (event.data.get("by"), event.data.get("before")) if name and name not in RESERVED
        }
    elif group in ("agent", "leader", "node"):
        found |= {MESSAGES, HEARTBEATS, PROTOCOL, HEALTH}
    else:
        found.add(HEALTH)
    return found


def _touched_by_mail(event: Event) -> set[str]:
    receivers = set(event.data.get("to") or ()) if event.kind == "message.sent" else {event.agent, event.data.get("before")}
    found = {MESSAGES, PROTOCOL, HEALTH} | {state_file(name) for name in receivers if name and name not in RESERVED}
    return found | {NOTIFICATIONS} if OPERATOR in receivers or event.agent == OPERATOR else found


def _touched_by_task(event: Event) -> set[str]:
    agents = {event.agent, event.data.get("queue"), event.data.get("before")}
    mine = {name for name in agents if name and name not in RESERVED and ":" not in name}
    found = {GLOBAL_QUEUE, URGENT_QUEUE, PROTOCOL, HEALTH}
    return found | {file for name in mine for file in (state_file(name), tasks_file(name))}


def make(tx: Transaction, names: Iterable[str], stale_s: float) -> dict[str, bytes | None]:
    """What these files hold, as JSON; None: its agent was removed, so the file goes. Names of strangers are left out."""
    found: dict[str, bytes | None] = {}
    for name in names:
        try:
            found[name] = _json(_content(tx, name, stale_s))
        except Gone:
            found[name] = None
        except Unknown:
            continue
    return found


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _content(tx: Transaction, name: str, stale_s: float) -> object:
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(tx, stale_s)
    agent = agent_of(name) or ""
    if name == tasks_file(agent):
        roster.find(tx, agent)
        return _open_tasks(tx, agent)
    return status.agent_state(tx, agent, stale_s)


def _open_tasks(tx: Transaction, agent: str) -> list[Task]:
    """What it is at, then what waits, in order."""
    current = tasks.current(tx, agent)
    return ([current] if current else []) + tasks.queue_of_agent(tx, agent, limit=QUEUE_SHOWN)


def _notices(tx: Transaction, _stale_s: float) -> list[Message]:
    return mail.inbox(tx, OPERATOR, limit=LAST_NOTICES).items[::-1]


def _heartbeats(tx: Transaction, _stale_s: float) -> dict[str, Any]:
    vitals = roster.all_vitals(tx)
    return {
        name: {
            "lastHeartbeat": found.heartbeat_at if found.seen_at is None else max(found.heartbeat_at or 0.0, found.seen_at),
            "startedAt": found.started_at,
            "pid": found.pid,
            "node": found.node,
        }
        for name in roster.all_names(tx)
        if (found := vitals.get(name)) is not None
    }


def _protocol(tx: Transaction, stale_s: float) -> dict[str, Any]:
    leader = records.leader(tx)
    states: dict[str, int] = {}
    for agent in status.fleet(tx, stale_s):
        states[agent["status"]] = states.get(agent["status"], 0) + 1
    return {
        "version": __version__,
        "leader": leader.holder if leader else None,
        "fence": leader.fence if leader else None,
        "cycle": leader.cycle if leader else 0,
        "cycledAt": leader.cycled_at if leader else None,
        "agents": states,
        "tasks": tasks.counts(tx),
        "messages": mail.counts(tx),
    }


def _health(tx: Transaction, stale_s: float) -> dict[str, Any]:
    """The five figures that seed 000 monitors, for each agent; null where nothing is measured yet."""
    return {each["agentId"]: _five(each) for each in metrics.of_fleet(tx, stale_s)["agents"]}


def _five(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        "responseTime": figures["messages"]["responseTime"],
        "taskCompletionRate": figures["tasks"]["completionRate"],
        "buddyCheckSuccessRate": figures["buddy"].get("successRate"),
        "contextOverflows": figures["context"].get("overflows"),
        "stalls": {"detected": figures["stalls"], "restarts": figures["restarts"]},
    }


def _buddies(tx: Transaction, _stale_s: float) -> dict[str, Any]:
    return {
        "buddyPairs": {agent.id: agent.buddy for agent in roster.everyone(tx) if agent.buddy},
        "covering": {each.agent: each.buddy for each in covering.coverings(tx)},
    }


_MAKERS: dict[str, Callable[[Transaction, float], object]] = {
    GLOBAL_QUEUE: lambda tx, _: tasks.waiting_in(tx, "global", limit=QUEUE_SHOWN),
    URGENT_QUEUE: lambda tx, _: tasks.waiting_in(tx, "urgent", limit=QUEUE_SHOWN),
    MESSAGES: lambda tx, _: mail.latest(tx, LAST_MESSAGES),
    NOTIFICATIONS: _notices,
    HEARTBEATS: _heartbeats,
    PROTOCOL: _protocol,
    BUDDIES: _buddies,
    HEALTH: _health,
}
FLEET_FILES = tuple(_MAKERS)
