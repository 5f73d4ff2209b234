"""The fleet's port: agents and the fleet as a whole. Looked at, paused, stopped, resumed, restarted; why; projects; the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import UNSET

from covey.agents import configuring, living
from covey.agents.configuring import Project
from covey.api import views
from covey.api.shapes import (
    Agents,
    AgentState,
    Because,
    EmergencyStop,
    Flagged,
    FleetPaging,
    FleetState,
    FleetStopped,
    Projects,
    ProjectShown,
    RestartAsked,
    ServerShown,
)
from covey.base.config.show import describe
from covey.base.markers import servers
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.nodes import restarting
from covey.reports import metrics, status, told
from covey.reports.model import Why


async def get_agents(call: Call[FleetPaging, Nothing]) -> Answer:
    """Agents in short, and what serves beside them on the API's machine."""
    settings, asked = call.door.settings, call.query
    beside = await asyncio.to_thread(servers, Path(settings.data_dir) / "run")
    found = [ServerShown(name=each.name, pid=each.pid, port=each.port) for each in beside]
    page = await call.door.store.read(status.page, settings.stale_s, after=asked.cursor, limit=asked.limit)
    return shown({"items": page.items, "servers": found, "cursor": str(page.cursor) if page.cursor is not None else None})


async def get_agent(call: Call[Nothing, Nothing]) -> Answer:
    """One agent's state (A4)."""
    return shown(await call.door.store.read(status.agent_state, call.named("name"), call.door.settings.stale_s))


async def get_fleet(call: Call[Nothing, Nothing]) -> Answer:
    """The fleet in numbers."""
    return shown(await call.door.store.read(metrics.of_fleet, call.door.settings.stale_s))


async def pause_agent(call: Call[Nothing, Because]) -> Answer:
    """The agent takes nothing new until `resume` (M5)."""
    return await call.write(_flagged(call), living.pause, call.named("name"), call.by, call.body.reason)


async def stop_agent(call: Call[Nothing, Because]) -> Answer:
    """The agent takes nothing and its brain ends, until `resume` (A7)."""
    return await call.write(_flagged(call), living.stop, call.named("name"), call.by, call.body.reason)


async def resume_agent(call: Call[Nothing, Nothing]) -> Answer:
    """The agent works again."""
    return await call.write(_flagged(call), living.resume, call.named("name"), call.by)


def _flagged(call: Call[Any, Any]) -> Callable[[None], Answer]:
    name = call.named("name")
    return lambda _: shown(Flagged(agents=[name]))


def _all_flagged(names: list[str]) -> Answer:
    return shown(Flagged(agents=names))


async def restart_agent(call: Call[Nothing, Because]) -> Answer:
    """Ask the agent's node to start its process again."""
    name = call.named("name")
    return await call.write(lambda _: shown(RestartAsked(agent=name, asked=True), 202), restarting.ask, name, call.by, call.body.reason)


async def stop_fleet(call: Call[Nothing, EmergencyStop]) -> Answer:
    """Stop every agent in one call (A7)."""
    wanted = call.body.restart
    return await call.write(lambda found: _all_stopped(found, wanted=wanted), views.stop_all, call.by, call.body.reason, restart=wanted)


def _all_stopped(found: views.StoppedAll, *, wanted: bool) -> Answer:
    stopped = FleetStopped(agents=found.names)
    if wanted:
        stopped.restart_asked = [name for name in found.names if name not in found.not_restarted]
        stopped.detail = next(iter(found.not_restarted.values()), UNSET)
    return shown(stopped)


async def resume_fleet(call: Call[Nothing, Nothing]) -> Answer:
    """Resume every agent in one call."""
    return await call.write(_all_flagged, views.resume_all, call.by)


async def get_why(call: Call[Nothing, Nothing]) -> Answer:
    """Where something stands and what it waits for (K8)."""
    return shown(await call.door.store.read(told.why_of, call.named("id"), call.by, call.door.settings))


async def get_projects(call: Call[Nothing, Nothing]) -> Answer:
    """All projects (A1b)."""
    return shown(Projects(items=[_project(each) for each in await call.door.store.read(configuring.projects)]))


def _project(project: Project) -> ProjectShown:
    return ProjectShown(name=project.name, path=project.path, agents=list(project.agents))


async def get_config(call: Call[Nothing, Nothing]) -> Answer:
    """The settings this process goes by, secrets masked."""
    return shown(describe(call.door.settings))


OPERATIONS = (
    get("/api/v1/agents", get_agents, "caller", "Agents with their states.", query=FleetPaging, gives=Agents, verb=status.page),
    get("/api/v1/agents/{name}", get_agent, "caller", "One agent's state.", gives=AgentState, verb=status.agent_state),
    post(
        "/api/v1/agents/{name}/pause",
        pause_agent,
        "lead",
        "The agent takes nothing new until it is resumed.",
        takes=Because,
        gives=Flagged,
        verb=living.pause,
    ),
    post(
        "/api/v1/agents/{name}/stop",
        stop_agent,
        "lead",
        "The agent stops, and its running brain too.",
        takes=Because,
        gives=Flagged,
        verb=living.stop,
    ),
    post("/api/v1/agents/{name}/resume", resume_agent, "lead", "The agent works again.", gives=Flagged, verb=living.resume),
    post(
        "/api/v1/agents/{name}/restart",
        restart_agent,
        "lead",
        "Ask for a new process of the agent.",
        takes=Because,
        gives=RestartAsked,
        status=202,
        verb=restarting.ask,
    ),
    post(
        "/api/v1/emergency-stop",
        stop_fleet,
        "lead",
        "Stop every agent at once.",
        takes=EmergencyStop,
        gives=FleetStopped,
        verb=views.stop_all,
    ),
    post("/api/v1/resume", resume_fleet, "lead", "Resume every agent.", gives=Flagged, verb=views.resume_all),
    get("/api/v1/status", get_fleet, "caller", "The fleet in numbers.", gives=FleetState, verb=metrics.of_fleet),
    get(
        "/api/v1/why/{id}",
        get_why,
        "caller",
        "Where an agent, task or message stands, and what it waits for.",
        gives=Why,
        verb=told.why_of,
    ),
    get("/api/v1/projects", get_projects, "caller", "All projects.", gives=Projects, verb=configuring.projects),
    get("/api/v1/config", get_config, "operator", "The settings, secrets masked.", gives=dict[str, Any]),
)
