"""Bring the stored fleet in line with the settings: agents added, changed, removed; queues, projects and schedules likewise."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, Agent
from covey.base.errors import Invalid
from covey.base.settings import AgentSettings, Settings
from covey.store import Transaction, statement

ADD = statement(__package__, "add")
ADD_QUEUE = statement(__package__, "add_queue")
ADD_VITALS = statement(__package__, "add_vitals")
CLEAR_QUEUES = statement(__package__, "clear_queues")
REMOVE = statement(__package__, "remove")
SET_FACT = statement(__package__, "set_fact")
SET_PROJECT = statement(__package__, "set_project")
PROJECTS = statement(__package__, "projects")
DROP_PROJECT = statement(__package__, "drop_project")

URGENT = "urgent"


class Changes(NamedTuple):
    """What a configuration changed, by agent name."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def queues_of(name: str, capabilities: tuple[str, ...]) -> list[str]:
    """The queues an agent takes work from: its own, and the urgent and global ones of each capability (K2)."""
    return [name, *(f"{URGENT}:{each}" for each in capabilities), *(f"global:{each}" for each in capabilities)]


def configure(tx: Transaction, settings: Settings) -> Changes:
    """The stored agents are those of the settings. Mail, tasks and history of every agent stay (A2)."""
    tx.lock("settings", "")
    known = {agent.id: agent for agent in roster.everyone(tx)}
    wanted = {agent.id: agent for agent in settings.agents}
    removed = tuple(name for name in known if name not in wanted)
    added = tuple(name for name in wanted if name not in known)
    changed = []
    for place, agent in enumerate(settings.agents):
        before = known.get(agent.id)
        if before is None or _differs(before, agent, place, settings.host):
            _put(tx, agent, place, settings.host)
            if before is not None:
                changed.append(agent.id)
    for name in removed:
        tx.run(REMOVE, id=name, now=tx.now)
        tx.run(CLEAR_QUEUES, agent=name)
        tx.happened("agent.removed", agent=name)
    for name in added:
        tx.happened("agent.added", agent=name)
    tx.run(SET_FACT, name="lead", value=msgspec.json.encode((settings.lead or OPERATOR, settings.deputy or OPERATOR)).decode())
    _set_projects(tx, settings)
    changes = Changes(added, tuple(changed), removed)
    if any(changes):
        tx.happened("fleet.configured", added=changes.added, changed=changes.changed, removed=changes.removed)
    tx.ring("node")
    return changes


def _differs(before: Agent, after: AgentSettings, place: int, host: str) -> bool:
    return before.place != place or before.host != host or before.settings != msgspec.json.decode(msgspec.json.encode(after))


def _put(tx: Transaction, agent: AgentSettings, place: int, host: str) -> None:
    tx.run(
        ADD,
        id=agent.id,
        place=place,
        role=agent.role,
        host=host,
        port=agent.port,
        buddy=agent.buddy,
        owner=agent.owner,
        organisation=agent.organisation,
        brain=agent.brain.kind,
        capabilities=msgspec.json.encode(agent.capabilities).decode(),
        settings=msgspec.json.encode(agent).decode(),
        now=tx.now,
    )
    tx.run(ADD_VITALS, agent=agent.id)
    tx.run(CLEAR_QUEUES, agent=agent.id)
    for queue in queues_of(agent.id, agent.capabilities):
        tx.run(ADD_QUEUE, agent=agent.id, queue=queue)


def _set_projects(tx: Transaction, settings: Settings) -> None:
    names = {project.name for project in settings.projects}
    for row in tx.all(PROJECTS):
        if row.name not in names:
            tx.run(DROP_PROJECT, name=row.name)
    for project in settings.projects:
        tx.run(SET_PROJECT, name=project.name, path=project.path, agents=msgspec.json.encode(project.agents).decode(), now=tx.now)


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
