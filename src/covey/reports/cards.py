"""An agent's card for agents of other systems (A2A): who it is, what it can, where it is asked. One card for version 1.0 and for 0.3. Pure.

Made without the A2A package: each agent serves its card on its own port, and that package is heavy.
"""

from __future__ import annotations

from typing import Any

from covey.agents.model import Agent
from covey.base.settings import Settings
from covey.base.target import authority_of
from covey.version import __version__

MODES = ["text/plain", "application/json", "*/*"]
"""What is taken: a text goes to the brain as such, anything else as data beside it."""
OUTPUT = ["text/plain", "application/json"]
ORGANISATION = "Covey"


def card(agent: Agent, settings: Settings, host: str, *, extended: bool = False) -> dict[str, Any]:
    """The card, for somebody who asks for this host. `extended` is for those who have shown a token."""
    offered = settings.a2a
    where = interfaces(agent.id, settings, host)
    found: dict[str, Any] = {
        "name": agent.id,
        "description": agent.role or f"The agent {agent.id} of a Covey fleet.",
        "version": __version__,
        "provider": {"organization": agent.organisation or agent.owner or ORGANISATION, "url": f"http://{authority_of(host, agent.port)}"},
        "supportedInterfaces": where,
        "capabilities": _capabilities(settings),
        "securitySchemes": {
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": "The token of an agent of the fleet."}}
        },
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": MODES,
        "defaultOutputModes": OUTPUT,
        "skills": [skill(agent, each) for each in agent.capabilities],
    }
    if extended:
        found["skills"] = [*found["skills"], *([] if agent.takes_work else [_away(agent)])]
        return found
    return found | _for_0_3(where, offered.extended_card)


def _for_0_3(where: list[dict[str, Any]], extended: bool) -> dict[str, Any]:
    """The fields that clients of version 0.3 read."""
    older = [each for each in where if each["protocolVersion"] == "0.3"]
    return {
        "protocolVersion": "0.3.0",
        "url": older[0]["url"],
        "preferredTransport": older[0]["protocolBinding"],
        "additionalInterfaces": [{"url": each["url"], "transport": each["protocolBinding"]} for each in older],
        "supportsAuthenticatedExtendedCard": extended,
        "security": [{"bearer": []}],
    }


def interfaces(name: str, settings: Settings, host: str) -> list[dict[str, Any]]:
    """Where an agent is asked, what is best first; the gateway serves all of them. gRPC names the agent as its tenant."""
    url, grpc = f"http://{authority_of(host, settings.gateway_port)}/a2a/{name}", authority_of(host, settings.gateway_port + 1)
    newer = [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"} for binding in ("JSONRPC", "HTTP+JSON")]
    older = [each | {"protocolVersion": "0.3"} for each in newer]
    return [*newer, {"url": grpc, "protocolBinding": "GRPC", "tenant": name, "protocolVersion": "1.0"}, *older]


def _capabilities(settings: Settings) -> dict[str, Any]:
    offered = settings.a2a
    found: dict[str, Any] = {
        "streaming": offered.streaming,
        "pushNotifications": offered.push,
        "extendedAgentCard": offered.extended_card,
    }
    if offered.required_extensions:
        found["extensions"] = [{"uri": uri, "required": True} for uri in offered.required_extensions]
    return found


def skill(agent: Agent, capability: str) -> dict[str, Any]:
    """A capability as a skill."""
    return {
        "id": capability,
        "name": capability,
        "description": f"{agent.id} can be asked to: {capability}." + (f" {agent.role}" if agent.role else ""),
        "tags": [capability, agent.id],
    }


def _away(agent: Agent) -> dict[str, Any]:
    """Said to those who know the fleet: the agent takes no work now."""
    why = agent.flag_reason or "it was paused or stopped"
    return {"id": "waiting", "name": "waiting", "description": f"{agent.id} takes no work now: {why}", "tags": ["state"]}
