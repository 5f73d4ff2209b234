"""Short words for what the tests of tasks do over and over."""

from __future__ import annotations

from typing import Any

from covey.agents.model import OPERATOR, THE_OPERATOR, THE_SYSTEM, Caller, as_agent
from covey.messages import reading as mail
from covey.messages.model import Message
from covey.tasks import adding, reading, working
from covey.tasks.model import Task, TaskDraft
from tests.inline import Hand

LEASE_S = 60.0


def caller(name: str) -> Caller:
    """Who calls, by name."""
    return {OPERATOR: THE_OPERATOR, "system": THE_SYSTEM}.get(name) or as_agent(name)


def add(
    hand: Hand,
    description: str = "work",
    agent: str | None = "coder",
    *,
    by: str = "operator",
    needs: list[Task] | None = None,
    **words: Any,
) -> Task:
    """A task, added."""
    dependencies = [need.task_id for need in needs or []]
    return hand(adding.add, TaskDraft(description=description, agent=agent, dependencies=dependencies, **words), caller(by))


def take(hand: Hand, agent: str = "coder") -> tuple[Task, str] | None:
    """The next task of an agent and its token."""
    return hand(working.claim, agent, "run_1", lease_s=LEASE_S)


def taken(hand: Hand, agent: str = "coder") -> tuple[Task, str]:
    """As `take`, when something must be there."""
    found = take(hand, agent)
    assert found is not None
    return found


def do(hand: Hand, agent: str = "coder", summary: str = "did it") -> Task:
    """The next task of an agent, done."""
    _, token = taken(hand, agent)
    return hand(working.finish, agent, token, summary)


def break_(hand: Hand, agent: str = "coder", error: str = "no luck") -> Task:
    """The next task of an agent, failed for good."""
    _, token = taken(hand, agent)
    return hand(working.fail, agent, token, error, permanent=True)


def now(hand: Hand, task: Task) -> Task:
    """The task as it stands."""
    return hand(reading.show, task.task_id)


def state_of(hand: Hand, task: Task) -> str:
    """Its state."""
    return now(hand, task).state


def notices(hand: Hand, name: str) -> list[Message]:
    """What the fleet itself wrote to somebody, oldest first."""
    return [message for message in hand(mail.inbox, name, limit=500).items if message.from_ == "system"][::-1]
