"""Mail that the protocol answers itself: a message of type buddy-check never reaches a brain (A5a, A9)."""

from __future__ import annotations

from covey.agents.model import as_agent
from covey.base.errors import CoveyError
from covey.messages import handling, sending
from covey.messages.letters import Prompt
from covey.messages.model import Message, draft
from covey.reports import status
from covey.store import Transaction

CHECK = "buddy-check"


def is_ours(message: Message) -> bool:
    """Whether the protocol answers it. Pure."""
    return message.type == CHECK


def answer(tx: Transaction, agent: str, token: str, message: Message) -> None:
    """Close a check that was taken under this token, and tell its sender how the agent is; what rode along waits on.

    The answer is an ordinary reply of the agent: whoever asks more than its link allows hears no more than that.
    """
    handling.give_back(tx, token)
    handling.acknowledge(tx, agent, message.message_id)
    state = status.agent_state(tx, agent)
    told = {
        "agentId": agent,
        "status": state["status"],
        "lastHeartbeat": state["lastHeartbeat"],
        "queueLength": state["queueLength"],
        "contextSize": state["context"]["contextSize"],
        "maxContextSize": state["context"]["maxContextSize"],
        "covering": state["covering"],
        "timestamp": tx.now,
    }
    body = f"{agent} is {state['status']}; {state['queueLength']} tasks wait in its queue."
    words = draft(message.from_, body, subject=f"Buddy check: {agent}", type="response", in_reply_to=message.message_id, data=told)
    try:
        with tx.attempt():
            sending.send(tx, words, as_agent(agent), Prompt(tuple(message.visited), answering=frozenset({message.from_})))
    except CoveyError as error:
        tx.happened("buddy.unanswered", agent=agent, subject=message.message_id, why=error.message[:500])
