"""Handoffs in one process (Q3): an offer, its acknowledgement, and nothing else touched. Durable ones are the fleet's."""

from __future__ import annotations

import time
from typing import Any

from covey.base.errors import Invalid
from covey.base.wire import check_json
from covey.teams.mail import AgentCommunication, AgentMessage, InboxFull, MessageType, said

ACK_S = 0.1
RECEIVED = "handoff_received"


class HandoffProtocol:
    """Hands tasks with their state from one agent to another."""

    def __init__(self, communication: AgentCommunication) -> None:
        self.communication = communication

    def create_handoff(self, from_agent: str, to_agent: str, context: dict[str, Any], reason: str) -> AgentMessage:
        """An offer, not yet sent."""
        content = {"handoff_reason": reason, "transferred_context": context, "handoff_timestamp": time.time()}
        return AgentMessage(from_agent, to_agent, MessageType.HANDOVER, content, priority=1)

    def accept_handoff(self, agent_id: str) -> AgentMessage | None:
        """The first offer that waits for an agent, or None; all other mail stays where it is. Who offered it is told, if it wants to be.

        Raises:
            InboxFull: Who offered it can't be told; the offer waits as before.
        """
        offer = self.communication.take(agent_id, lambda each: each.message_type == MessageType.HANDOVER)
        if offer is not None and offer.requires_response:
            content = {"status": RECEIVED, "handoff_id": offer.message_id}
            try:
                self.communication.send(AgentMessage(agent_id, offer.sender, MessageType.RESPONSE, content))
            except InboxFull:
                self.communication.put_back(offer)
                raise
        return offer

    def transfer_with_state(
        self, from_agent: str, to_agent: str, state: dict[str, Any], task: dict[str, Any], *, timeout_s: float = ACK_S
    ) -> bool:
        """Whether the receiver acknowledged this offer within `timeout_s`.

        An acknowledgement of another offer, one that was there before, or one of somebody else counts for nothing.

        Raises:
            Invalid: The state or the task is no JSON object; `field` is the path of what is not. Nothing was sent.
        """
        for name, given in (("state", state), ("task", task)):
            if not isinstance(given, dict):
                raise Invalid(f"{name} is a {type(given).__name__}; give an object.", field=name)
        check_json(state, "state")
        check_json(task, "task")
        context = {"task_state": state, "task_details": task, "progress": state.get("progress", 0)}
        offer = self.create_handoff(from_agent, to_agent, context, "task_transfer")
        offer.requires_response = True
        there = {each.message_id for each in self.communication.waiting(from_agent)}
        self.communication.send(offer)

        def acknowledges(each: AgentMessage) -> bool:
            if each.message_type != MessageType.RESPONSE or each.sender != to_agent or each.message_id in there:
                return False
            return said(each, "status") == RECEIVED and said(each, "handoff_id") in (None, offer.message_id)

        return self.communication.take(from_agent, acknowledges, timeout_s) is not None
