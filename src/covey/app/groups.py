"""Which agents share a process: one each up to 64 agents, then one process for each 64, unless told otherwise (DESIGN, Processes)."""

from __future__ import annotations

import hashlib

import msgspec

from covey.base.settings import AgentSettings, Retention, Settings
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
    fixed = [msgspec.structs.replace(agent, role="", buddy="", owner="", organisation="", capabilities=(), plan=None) for agent in agents]
    rest = msgspec.structs.replace(
        settings, agents=(), projects=(), schedules=(), features={}, lead="", deputy="", retention=Retention(), notify=()
    )
    # not their JSON: there a default that is written out differs from one that is left out
    return hashlib.blake2b(repr((rest, fixed)).encode(), digest_size=12).hexdigest()
