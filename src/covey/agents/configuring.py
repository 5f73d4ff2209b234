"""Bring the stored fleet in line with the settings: agents added, changed, removed; queues, projects and schedules likewise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import GLOBAL, OPERATOR, URGENT, Agent
from covey.base.errors import Invalid
from covey.base.settings import AgentSettings, Settings
from covey.store import Transaction, statement

ADD = statement(__package__, "add")
ADD_QUEUES = statement(__package__, "add_queues")
ADD_VITALS = statement(__package__, "add_vitals")
CLEAR_QUEUES = statement(__package__, "clear_queues")
REMOVE = statement(__package__, "remove")
SET_FACT = statement(__package__, "set_fact")
SET_PROJECT = statement(__package__, "set_project")
PROJECTS = statement(__package__, "projects")
DROP_PROJECT = statement(__package__, "drop_project")

PART = 500


class Changes(NamedTuple):
    """What a configuration changed, by agent name."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def queues_of(name: str, capabilities: tuple[str, ...]) -> list[str]:
    """The queues an agent takes work from: its own, and the urgent and global ones of each capability (K2)."""
    return [name, *(f"{URGENT}:{each}" for each in capabilities), *(f"{GLOBAL}:{each}" for each in capabilities)]


def configure(tx: Transaction, settings: Settings) -> Changes:
    """The stored agents are those of the settings. Mail, tasks and history of every agent stay (A2)."""
    tx.lock("settings", "")
    known = {agent.id: agent for agent in roster.everyone(tx)}
    wanted = {agent.id: agent for agent in settings.agents}
    removed = tuple(name for name in known if name not in wanted)
    added = tuple(name for name in wanted if name not in known)
    differing = [
        (place, agent)
        for place, agent in enumerate(settings.agents)
        if agent.id not in known or _differs(known[agent.id], agent, place, settings.host)
    ]
    _put(tx, differing, settings.host)
    changed = tuple(agent.id for _, agent in differing if agent.id in known)
    tx.run(CLEAR_QUEUES, agents=_text([{"id": name} for name in removed]))
    for name in removed:
        tx.run(REMOVE, id=name, now=tx.now)
        tx.happened("agent.removed", agent=name)
    for name in added:
        tx.happened("agent.added", agent=name)
    tx.run(SET_FACT, name="lead", value=_text((settings.lead or OPERATOR, settings.deputy or OPERATOR)))
    tx.run(SET_FACT, name="links", value=_policy(settings))
    tx.run(SET_FACT, name="stale_s", value=_text(settings.stale_s))
    _set_projects(tx, settings)
    changes = Changes(added, changed, removed)
    if any(changes):
        tx.happened("fleet.configured", added=changes.added, changed=changes.changed, removed=changes.removed)
    tx.ring("node")
    return changes


def _policy(settings: Settings) -> str:
    """What the sending of mail has to know of the settings (L1, L12, L14)."""
    return _text({"links": settings.links, "limits": settings.limits, "features": settings.features})


def _differs(before: Agent, after: AgentSettings, place: int, host: str) -> bool:
    return before.place != place or before.host != host or before.settings != msgspec.json.decode(msgspec.json.encode(after))


def _put(tx: Transaction, agents: Sequence[tuple[int, AgentSettings]], host: str) -> None:
    """Store these agents, each with its place; some hundred with one statement, since a fleet may have 10,000."""
    for start in range(0, len(agents), PART):
        part = agents[start : start + PART]
        rows = _text([_row(place, agent, host) for place, agent in part])
        tx.run(ADD, agents=rows, now=tx.now)
        tx.run(ADD_VITALS, agents=rows)
        tx.run(CLEAR_QUEUES, agents=rows)
        queues = [{"agent": agent.id, "queue": queue} for _, agent in part for queue in queues_of(agent.id, agent.capabilities)]
        tx.run(ADD_QUEUES, queues=_text(queues))


def _row(place: int, agent: AgentSettings, host: str) -> dict[str, object]:
    return {
        "id": agent.id,
        "place": place,
        "role": agent.role,
        "host": host,
        "port": agent.port,
        "buddy": agent.buddy,
        "owner": agent.owner,
        "organisation": agent.organisation,
        "brain": agent.brain.kind,
        "capabilities": _text(agent.capabilities),
        "settings": _text(agent),
    }


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _set_projects(tx: Transaction, settings: Settings) -> None:
    names = {project.name for project in settings.projects}
    for row in tx.all(PROJECTS):
        if row.name not in names:
            tx.run(DROP_PROJECT, name=row.name)
    for project in settings.projects:
        tx.run(SET_PROJECT, name=project.name, path=project.path, agents=_text(project.agents), now=tx.now)


class Project(NamedTuple):
    """A project, where it lies and who works on it (A1b)."""

    name: str
    path: str
    agents: tuple[str, ...]


def projects(tx: Transaction) -> list[Project]:
    """All projects (A1b)."""
    return [Project(row.name, row.path, tuple(msgspec.json.decode(row.agents))) for row in tx.all(PROJECTS)]


def check_project(tx: Transaction, name: str | None, field: str) -> None:
    """Refuse a projectId that names no project, where the fleet has any (A1b)."""
    if name is None:
        return
    known = [project.name for project in projects(tx)]
    if known and name not in known:
        raise Invalid(f"{field} is {name!r}, which is no project of this fleet; it has: {', '.join(known)}.", field=field)
