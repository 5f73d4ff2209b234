"""Which agents share a process: one each up to 64 agents, then one process for each 64, unless told otherwise (DESIGN, Processes)."""

from __future__ import annotations

import hashlib

import msgspec

from covey.base.config.changes import LIVE_OF_AGENT, LIVE_OF_FLEET
from covey.base.settings import AgentSettings, Settings
from covey.nodes.node import Group

EACH = 64
CONSOLE = "console"


def groups_of(settings: Settings) -> list[Group]:
    """The processes of this machine, the console's last."""
    agents = [agent for agent in settings.agents if agent.brain.kind != "external" and (not settings.only or agent.id in settings.only)]
    count = settings.processes or (len(agents) if len(agents) <= EACH else -(-len(agents) // EACH))
    groups = [_group(settings, agents[place::count]) for place in range(min(count, len(agents)))]
    return [*groups, Group(CONSOLE, (), settings.host, settings.console_port, _edition(settings, []))]


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
