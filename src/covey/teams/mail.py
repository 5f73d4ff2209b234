"""Mail between agents in one process: thread-safe, bounded, the most urgent first. It keeps nothing on disk; the fleet's mail does."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from covey.base.errors import Conflict, Invalid
from covey.base.wire import check_json

INBOX = 10_000
"""So many messages may wait for one agent."""
HISTORY = 10_000
"""So many of the latest are remembered."""
_LEVELS = {"urgent": 2, "high": 1, "medium": 0, "low": -1}


class MessageType(Enum):
    """What a message is."""

    REQUEST = "request"
    RESPONSE = "response"
    HANDOVER = "handover"
    FEEDBACK = "feedback"
    ALERT = "alert"


def _new_id() -> str:
    return os.urandom(16).hex()


@dataclass(slots=True)
class AgentMessage:
    """A message from one agent to another. `priority`: 0 is usual, higher more urgent; or the fleet's word."""

    sender: str
    receiver: str
    message_type: MessageType
    content: dict[str, Any]
    timestamp: float = field(default_factory=time.time)
    message_id: str = field(default_factory=_new_id)
    requires_response: bool = False
    priority: int | str = 0


class InboxFull(Conflict, ValueError):
    """An agent does not read its mail, and no more is taken for it."""


class _Inboxes(dict[str, list[AgentMessage]]):
    """The inboxes by agent; one that was read is empty, and takes no room."""

    def __missing__(self, agent_id: str) -> list[AgentMessage]:
        return []


class AgentCommunication:
    """The mail of agents in one process. Safe to use from several threads.

    `inbox` holds what waits for each agent, `outbox` and `message_history` the latest `history` messages. With `strict`, content
    that is no JSON is refused, as it is in a fleet.
    """

    def __init__(self, *, inbox: int = INBOX, history: int = HISTORY, strict: bool = False) -> None:
        self.inbox: dict[str, list[AgentMessage]] = _Inboxes()
        self.outbox: list[AgentMessage] = []
        self.message_history: list[AgentMessage] = []
        self.strict = strict
        self._inbox_bound = inbox
        self._history_bound = history
        self._changed = threading.Condition()

    def send(self, message: AgentMessage) -> None:
        """Put a message into its receiver's inbox.

        Raises:
            InboxFull: So much waits there that no more is taken; nothing was sent.
            Invalid: The priority is none; with `strict`: the content is no JSON, `field` is the path of what is not.
        """
        if not isinstance(message.priority, int):
            _check_priority(message.priority)
        if self.strict:
            check_json(message.content, "content")
        with self._changed:
            line = self.inbox.get(message.receiver)
            if line is None:
                line = self.inbox[message.receiver] = []
            elif len(line) >= self._inbox_bound:
                raise InboxFull(
                    f"{message.receiver} has {len(line):,} messages unread, which is the most; nothing was sent. Let it read first.",
                    field="receiver",
                )
            line.append(message)
            for kept in (self.outbox, self.message_history):
                kept.append(message)
                if len(kept) >= 2 * self._history_bound:
                    del kept[: -self._history_bound]
            self._changed.notify_all()

    def receive(self, agent_id: str) -> list[AgentMessage]:
        """All that waits for an agent, the most urgent first and the oldest of each; it waits no longer then."""
        with self._changed:
            return _in_order(self.inbox.pop(agent_id, []))

    def take(self, agent_id: str, wanted: Callable[[AgentMessage], bool], timeout_s: float = 0.0) -> AgentMessage | None:
        """The first message for an agent that is wanted, once it is there, or None. All others stay where they are."""
        ends = time.monotonic() + timeout_s
        with self._changed:
            while True:
                found = next((each for each in _in_order(self.inbox.get(agent_id, [])) if wanted(each)), None)
                if found is not None:
                    self._remove(agent_id, found)
                    return found
                left = ends - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return None

    def put_back(self, message: AgentMessage) -> None:
        """Have a message that was taken wait again, before all that came after it."""
        with self._changed:
            self.inbox[message.receiver] = [message, *self.inbox[message.receiver]]
            self._changed.notify_all()

    def waiting(self, agent_id: str) -> list[AgentMessage]:
        """What waits for an agent, which goes on waiting."""
        with self._changed:
            return _in_order(self.inbox.get(agent_id, []))

    def _remove(self, agent_id: str, message: AgentMessage) -> None:
        line = [each for each in self.inbox[agent_id] if each is not message]
        if line:
            self.inbox[agent_id] = line
        else:
            del self.inbox[agent_id]

    def broadcast(self, sender: str, message_type: MessageType, content: dict[str, Any], receivers: Sequence[str]) -> None:
        """Send the same to several agents, each once. One whose inbox is full does not keep it from the others.

        Raises:
            InboxFull: The agents that it names got nothing; all others did.
            Invalid: The receivers are a text.
        """
        full: list[str] = []
        if isinstance(receivers, str):
            raise Invalid("receivers is a text; give a list of agents.", field="receivers")
        for receiver in dict.fromkeys(receivers):
            try:
                self.send(AgentMessage(sender, receiver, message_type, content))
            except InboxFull:
                full.append(receiver)
        if full:
            raise InboxFull(f"the inbox of {', '.join(full)} is full, and nothing went there; all others got it.", field="receivers")


def said(message: AgentMessage, name: str) -> object:
    """What the content has by a name; None where it has nothing by it, or is no object."""
    content: object = message.content
    return content.get(name) if isinstance(content, dict) else None


def _in_order(messages: list[AgentMessage]) -> list[AgentMessage]:
    return sorted(messages, key=_urgency) if len(messages) > 1 else list(messages)


def _urgency(message: AgentMessage) -> float:
    priority = message.priority
    return -(_LEVELS[priority] if isinstance(priority, str) else priority)


def _check_priority(priority: object) -> None:
    known = priority in _LEVELS if isinstance(priority, str) else isinstance(priority, float) and not math.isnan(priority)
    if not known:
        raise Invalid(f"priority is {priority!r}; give a number, higher for more urgent, or {', '.join(_LEVELS)}.", field="priority")
