"""Which agents share a process: one each up to 64 agents, then one process for each 64, unless told otherwise (DESIGN, Processes)."""

from __future__ import annotations

import hashlib

import msgspec

from covey.app import gateway_doors
from covey.base.config.changes import LIVE_OF_AGENT, LIVE_OF_FLEET
from covey.base.settings import AgentSettings, Settings
from covey.nodes.node import Group

EACH = 64
CONSOLE = "console"
GATEWAY = "gateway"


def groups_of(settings: Settings) -> list[Group]:
    """The processes of this machine, the console's and the gateway's last."""
    agents = [agent for agent in settings.agents if agent.brain.kind != "external" and (not settings.only or agent.id in settings.only)]
    count = settings.processes or (len(agents) if len(agents) <= EACH else -(-len(agents) // EACH))
    groups = [_group(settings, agents[place::count]) for place in range(min(count, len(agents)))]
    edition = _edition(settings, [])
    return [*groups, *(Group(name, (), settings.host, port, edition) for name, port in own_ports(settings))]


def own_ports(settings: Settings) -> list[tuple[str, int]]:
    """The processes of the fleet's own, which hold no agent, with their ports."""
    gateway = [(GATEWAY, settings.gateway_port)] if gateway_doors.is_wanted(settings) else []
    return [(CONSOLE, settings.console_port), *gateway]


def _group(settings: Settings, agents: list[AgentSettings]) -> Group:
    names = tuple(agent.id for agent in agents)
    name = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more"
    return Group(name, names, settings.host, agents[0].port, _edition(settings, agents))


def _edition(settings: Settings, agents: list[AgentSettings]) -> str:
    """A digest of all that a process is started with; what the store tells an agent live is left out."""
    fixed = [_without(agent, LIVE_OF_AGENT) for agent in agents]
    rest = _without(settings, LIVE_OF_FLEET | {"agents", "projects", "schedules", "webhooks", "features", "retention"})
    # not their JSON: there a default that is written out differs from one that is left out
    return hashlib.blake2b(repr((rest, fixed)).encode(), digest_size=12).hexdigest()


def _without(record: msgspec.Struct, names: frozenset[str]) -> list[object]:
    return [getattr(record, name) for name in record.__struct_fields__ if name not in names]
