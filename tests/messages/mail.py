"""Short words for what the tests of messages do over and over."""

from __future__ import annotations

from typing import Any

from covey.agents.model import OPERATOR, THE_OPERATOR, THE_SYSTEM, Caller, as_agent
from covey.messages import handling, reading, sending
from covey.messages.handling import Claimed
from covey.messages.model import Message, Receipt, draft
from tests.inline import Hand

LEASE_S = 60.0
DIGEST_S = 900.0


def caller(name: str) -> Caller:
    """Who calls, by name."""
    return {OPERATOR: THE_OPERATOR, "system": THE_SYSTEM}.get(name) or as_agent(name)


def say(hand: Hand, sender: str, to: str | list[str] | None, body: str = "hello", **words: Any) -> Receipt:
    """The receipt of a message; it wakes its receiver unless another `type` is given."""
    words.setdefault("type", None if words.get("in_reply_to") or words.get("requires_response") else "task")
    return hand(sending.send, draft(to, body, **words), caller(sender))


def ask(hand: Hand, sender: str, to: str | list[str], body: str = "well?", **words: Any) -> Receipt:
    """The receipt of a message that wants an answer."""
    return say(hand, sender, to, body, requires_response=True, **words)


def take(hand: Hand, agent: str, *, digest_s: float = DIGEST_S) -> Claimed | None:
    """What the agent's brain gets next."""
    return hand(handling.claim, agent, "run_1", lease_s=LEASE_S, digest_s=digest_s)


def taken(hand: Hand, agent: str, *, digest_s: float = DIGEST_S) -> Claimed:
    """As `take`, when something must be there."""
    found = take(hand, agent, digest_s=digest_s)
    assert found is not None
    return found


def next_of(hand: Hand, agent: str) -> Message:
    """The next waking message, taken."""
    found = taken(hand, agent).main
    assert found is not None
    return found


def inbox(hand: Hand, agent: str, *, unread: bool = False) -> list[Message]:
    """A mailbox, newest first."""
    return hand(reading.inbox, agent, unread=unread).items


def copy_of(hand: Hand, ident: str, receiver: str) -> Message:
    """One receiver's copy as it stands."""
    return next(message for message in hand(reading.show, ident) if message.receiver == receiver)


def state_of(hand: Hand, ident: str, receiver: str) -> str | None:
    """The state of one copy."""
    return copy_of(hand, ident, receiver).state


def notices(hand: Hand, name: str) -> list[Message]:
    """What the fleet itself wrote to somebody, oldest first."""
    return [message for message in inbox(hand, name) if message.from_ == "system"][::-1]
