"""Coordination patterns for agents: supervisor, handoff, consensus, failure handling.

In one process they are these seven names (Q1), with the call shapes of seed 004; `docs/teams.md` lists where they
differ and why. The rules behind them are pure and serve the fleet's own teams too.
"""

from __future__ import annotations

from covey.teams.failing import AgentFailureHandler
from covey.teams.handing import HandoffProtocol
from covey.teams.mail import AgentCommunication, AgentMessage, MessageType
from covey.teams.supervising import SupervisorAgent
from covey.teams.voting import ConsensusManager

__all__ = [
    "AgentCommunication",
    "AgentFailureHandler",
    "AgentMessage",
    "ConsensusManager",
    "HandoffProtocol",
    "MessageType",
    "SupervisorAgent",
]
