"""What the agents of a fleet settle among each other: ports, buddies, lead and deputy, and who is named elsewhere. No reading of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from covey.base.config.faults import Faults
from covey.base.config.sections import Drafts
from covey.base.config.spelling import Key
from covey.base.defaults import DEPUTY, LEAD
from covey.base.pairing import complete
from covey.base.settings import BASE_PORT, GATEWAY_OFFSET, Settings

LAST_PORT = 65535
OPERATOR = "operator"
_USUAL = Settings(agents=())


def settle_ports(faults: Faults, fleet: dict[str, Any], agents: Drafts, written_for: int) -> None:
    """Give a port to the console, the gateway and each agent.

    Written ports belong to the base port `written_for`; another base moves them all by the difference. Those not written are
    counted upwards from base + 1, leaving out what the fleet uses (A2a).
    """
    base = fleet.setdefault("base_port", BASE_PORT)
    for name, draft in agents.items():
        if "port" in draft:
            draft["port"] = moved(faults, ("agents", name, "port"), draft["port"], base - written_for)
    fleet.setdefault("console_port", base)
    fleet.setdefault("gateway_port", base + GATEWAY_OFFSET)
    taken = _written_ports(faults, fleet, agents)
    free = (port for port in range(base + 1, LAST_PORT + 1) if port not in taken)
    for name, draft in agents.items():
        if "port" not in draft:
            draft["port"] = next(free, 0)
            if not draft["port"]:
                faults.add(("agents", name), f"has no port left: all from {base + 1} to {LAST_PORT} are in use; take a lower base_port")


def moved(faults: Faults, at: Key, port: int, by: int) -> int:
    """The port after the move of the whole fleet."""
    if not 1 <= port + by <= LAST_PORT:
        faults.add(at, f"is {port} and would move with the base port to {port + by}; allowed: 1 to {LAST_PORT}")
        return port
    return port + by


def _written_ports(faults: Faults, fleet: dict[str, Any], agents: Drafts) -> set[int]:
    """The ports that are spoken for; a fault for each that two want."""
    holders = {fleet["console_port"]: "the console"}
    gateway = fleet["gateway_port"]
    for port, what in ((gateway, "the gateway"), (gateway + 1, "the gateway's gRPC door")):
        if port in holders:
            faults.add(("fleet", "gateway_port"), f"leaves {what} on {port}, which is {holders[port]}'s")
        holders[port] = what
    for name, draft in agents.items():
        port = draft.get("port")
        if port in holders:
            faults.add(("agents", name, "port"), f"is {port}, which is {holders[port]}'s already; leave it out and a free one is taken")
        elif port is not None:
            holders[port] = f"agent {name}"
    return set(holders)


def settle_buddies(faults: Faults, agents: Drafts) -> None:
    """Give each agent the one it watches (B1); a fault for each that is named and can't be."""
    named = dict(_named(faults, agents))
    for name, buddy in complete(list(agents), named).items():
        agents[name]["buddy"] = buddy


def _named(faults: Faults, agents: Drafts) -> Iterator[tuple[str, str]]:
    """Whom each agent is written to watch."""
    for name, draft in agents.items():
        buddy = draft.get("buddy")
        if buddy and buddy not in agents:
            faults.unknown(("agents", name, "buddy"), "agent", buddy, agents)
        elif buddy == name:
            faults.add(("agents", name, "buddy"), "is the agent itself; name another, or leave it out to be paired")
        elif buddy:
            yield name, buddy


def settle_lead(faults: Faults, fleet: dict[str, Any], agents: Drafts) -> None:
    """Name who plays chief and ops; empty is the operator (A2a)."""
    for part in ("lead", "deputy"):
        name = fleet.get(part)
        if name == OPERATOR:
            fleet[part] = ""
        elif name and name not in agents:
            faults.unknown(("fleet", part), "agent", name, [*agents, OPERATOR])
    alone = len(agents) < 2
    first = LEAD if LEAD in agents else next(iter(agents), "")
    lead = fleet.setdefault("lead", "" if alone else first)
    if "deputy" not in fleet:
        follows = agents[lead].get("buddy", "") if lead in agents else ""
        fleet["deputy"] = "" if alone else DEPUTY if DEPUTY in agents and lead != DEPUTY else follows
    elif lead and lead == fleet["deputy"]:
        faults.add(("fleet", "deputy"), f"is {lead}, who is the lead already; name another, or leave it out")


def check_times(faults: Faults, fleet: dict[str, Any]) -> None:
    """A fault if a healthy agent would look dead between two of its heartbeats (A3)."""
    heartbeat = fleet.get("heartbeat_s", _USUAL.heartbeat_s)
    stale = fleet.get("stale_s", _USUAL.stale_s)
    if stale < 2 * heartbeat:
        key = "stale_s" if "stale_s" in fleet else "heartbeat_s"
        faults.add(("fleet", key), f"leaves stale_s {stale:g} and heartbeat_s {heartbeat:g}; stale_s must be at least twice heartbeat_s")


def check_names(faults: Faults, agents: Drafts, projects: Drafts, schedules: Drafts) -> None:
    """A fault for each agent or project that is named and not there."""
    for name, draft in projects.items():
        for place, agent in enumerate(draft.get("agents", ())):
            if agent not in agents:
                faults.unknown(("projects", name, "agents", place), "agent", agent, agents)
    for name, draft in schedules.items():
        if draft.get("agent") and draft["agent"] not in agents:
            faults.unknown(("schedules", name, "agent"), "agent", draft["agent"], agents)
        if draft.get("project") and draft["project"] not in projects:
            faults.unknown(("schedules", name, "project"), "project", draft["project"], projects)


def check_planner(faults: Faults, agents: Drafts, planning: dict[str, Any]) -> None:
    """A fault if the planner is no agent (P4)."""
    if planning.get("planner") and planning["planner"] not in agents:
        faults.unknown(("planning", "planner"), "agent", planning["planner"], agents)
