"""The fleet that stands when nothing is configured: the eight agents of seed 000 (A1, A1a). Plain data, no reading of files."""

from __future__ import annotations

from covey.base.settings import FIRST_PORT, AgentSettings

LEAD = "chief"
DEPUTY = "ops"

BUDDY_PAIRS: dict[str, str] = {
    "chief": "ops",
    "ops": "chief",
    "coder": "devops",
    "devops": "coder",
    "sales": "comms",
    "comms": "sales",
    "finance": "intel",
    "intel": "finance",
}

_ROLES: dict[str, tuple[str, str]] = {
    "chief": ("Chief of Staff - Coordination, priority management, conflict resolution", "coordinate plan review"),
    "coder": ("Coder - Development, technical implementation, code reviews", "code test review"),
    "sales": ("Sales - Customer acquisition, lead qualification, revenue generation", "leads crm outreach"),
    "finance": ("Finance - Budgeting, reporting, compliance, resource allocation", "budget report forecast"),
    "intel": ("Intel - Research, market analysis, competitive intelligence", "search research analyze"),
    "devops": ("DevOps - Infrastructure, deployment, monitoring, security", "deploy monitor security"),
    "comms": ("Comms - Marketing, content, PR, customer communication", "draft write synthesize"),
    "ops": ("Ops - Operations, process optimization, project management", "process schedule execute"),
}

AGENTS: tuple[AgentSettings, ...] = tuple(
    AgentSettings(id=name, role=role, port=FIRST_PORT + place, buddy=BUDDY_PAIRS[name], capabilities=(*able.split(), "general"))
    for place, (name, (role, able)) in enumerate(_ROLES.items())
)
"""chief, coder, sales, finance, intel, devops, comms, ops on 8001 to 8008, each also able of `general`."""

BY_NAME: dict[str, AgentSettings] = {agent.id: agent for agent in AGENTS}
