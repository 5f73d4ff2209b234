"""Short words for what the tests of links do over and over."""

from __future__ import annotations

from typing import Any

from covey.agents.model import THE_OPERATOR, as_agent
from covey.links import reading
from covey.links.model import LinkChange
from covey.links.reading import Allowance, LinkShown
from covey.messages import reading as mail
from covey.messages import releasing, relinking, sending
from covey.messages.letters import Prompt
from covey.messages.model import Message, Receipt, SendOutcome, draft
from tests.inline import Hand


def say(hand: Hand, sender: str, to: str | list[str] | None, body: str, *, prompt: Prompt | None = None, **words: Any) -> Receipt:
    """The receipt of a message from an agent, or the operator."""
    by = THE_OPERATOR if sender == "operator" else as_agent(sender)
    return hand(sending.send, draft(to, body, **words), by, prompt)


def told(hand: Hand, sender: str, to: str, body: str, **words: Any) -> SendOutcome:
    """The outcome of its one copy."""
    return say(hand, sender, to, body, **words).outcomes[to]


def burst(hand: Hand, sender: str, to: str, count: int, start: int = 0) -> list[str]:
    """The statuses of so many different messages, 5 s apart."""
    found = []
    for number in range(start, start + count):
        found.append(told(hand, sender, to, f"fact {number}").status)
        hand.clock.at += 5.0
    return found


def link(hand: Hand, one: str = "chief", other: str = "coder", **change: Any) -> LinkShown:
    """The link, changed by the operator."""
    return hand(relinking.change, one, other, LinkChange(**change), THE_OPERATOR)


def left(hand: Hand, sender: str = "chief", receiver: str = "coder") -> Allowance:
    """What a direction has left, as it is shown."""
    return hand(reading.show, sender, receiver, THE_OPERATOR).directions[sender]


def mail_of(hand: Hand, agent: str, state: str | None = None) -> list[Message]:
    """An agent's mail, in the order in which it was stored."""
    items = hand(mail.inbox, agent, limit=1000).items[::-1]
    return [message for message in items if message.from_ != "system" and state in (None, message.state)]


def bodies(hand: Hand, agent: str, state: str | None = None) -> list[str]:
    """What it says."""
    return [message.body for message in mail_of(hand, agent, state)]


def sweep(hand: Hand) -> int:
    """What the sweep does with mail that waits for credit."""
    done = 0
    while (step := hand(releasing.deliver_due) + hand(releasing.expire_due)) > 0:
        done += step
    return done
