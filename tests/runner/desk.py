"""What an agent's runner does with the store, by hand: take, settle, give back. Each word is one commit."""

from __future__ import annotations

import os
from typing import Any

from covey.agents import living
from covey.agents.model import THE_OPERATOR, Caller, as_agent
from covey.base.processes import Identity
from covey.brains.model import Outcome, Turn
from covey.contexts import entries
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import Draft, Message, draft
from covey.runner import holding, settling, turning
from covey.runner.sweeping import PARTS, return_not_started
from covey.runner.taking import take
from covey.runner.work import Lane, Limits, Work
from covey.store import events
from covey.tasks import adding, reading, runs
from covey.tasks.model import Task, TaskDraft
from tests.inline import Hand

LIMITS = Limits(lease_s=60.0, digest_s=900.0, wait_s=3600.0, hard_cap_s=86400.0, max_context=8192)
ME = Identity.of(os.getpid())
START_S = 30.0


def by(name: str) -> Caller:
    """Who calls."""
    return THE_OPERATOR if name == "operator" else as_agent(name)


class Desk:
    """The fleet of eight, each agent's process being this one."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.clock = hand.clock
        assert ME is not None
        for name in ("chief", "coder", "sales", "intel", "ops", "devops"):
            hand(living.arrive, name, node="here", pid=ME.pid, start_ticks=ME.start_ticks, boot_id=ME.boot_id, port=8001)

    def send(self, to: str | list[str], text: str = "hello", *, sender: str = "operator", **more: Any) -> str:
        """The id of a message that was sent."""
        return self.hand(sending.send, draft(to, text, **more), by(sender)).message_id

    def ask(self, to: str, text: str = "well?", *, sender: str = "operator", **more: Any) -> str:
        """The id of a question."""
        return self.send(to, text, sender=sender, requires_response=True, **more)

    def add(self, text: str = "a task", agent: str | None = "coder", *, sender: str = "operator", **more: Any) -> str:
        """The id of a task."""
        return self.hand(adding.add, TaskDraft(description=text, agent=agent, **more), by(sender)).task_id

    def try_to_take(self, agent: str, lane: Lane, limits: Limits = LIMITS) -> Work | None:
        """What comes next, or None."""
        assert ME is not None
        return self.hand(take, agent, lane, "here", ME.pid, limits)

    def take(self, agent: str, lane: Lane, limits: Limits = LIMITS) -> Work:
        """What comes next; there must be something."""
        work = self.try_to_take(agent, lane, limits)
        assert work is not None, f"{agent} has nothing in its {lane} lane"
        return work

    def begin(self, agent: str, lane: Lane = "task") -> Work:
        """What comes next, its brain started."""
        work = self.take(agent, lane)
        self.hand(holding.started, work)
        return work

    def settle(self, work: Work, outcome: Outcome | None = None, limits: Limits = LIMITS) -> None:
        """Store what the brain made of it."""
        assert ME is not None
        self.hand(settling.settle, work, outcome or Outcome(summary="done that"), limits, ME.pid)

    def turn(self, work: Work) -> Turn:
        """The turn that the brain would be given."""
        return self.hand(turning.turn_of, work, 1800.0, 86400.0)

    def task(self, ident: str) -> Task:
        """A task as it stands."""
        return self.hand(reading.show, ident)

    def copy(self, ident: str, receiver: str) -> Message:
        """A message's copy as it stands."""
        return next(each for each in self.hand(mail.show, ident) if each.receiver == receiver)

    def inbox(self, name: str) -> list[Message]:
        """A mailbox, oldest first."""
        return self.hand(mail.inbox, name).items[::-1]

    def answers(self, ident: str) -> list[Message]:
        """The replies to a message."""
        return self.hand(mail.answers, ident)

    def context(self, agent: str) -> list[str]:
        """What an agent remembers."""
        return [f"{entry.kind}: {entry.text}" for entry in self.hand(entries.live, agent)]

    def run_of(self, work: Work) -> Any:
        """The record of a work's run."""
        return self.hand(runs.find, work.run_id)

    def kinds(self, subject: str) -> list[str]:
        """What happened to a thing, in order."""
        return [event.kind for event in self.hand(events.of_subject, subject)][::-1]

    def sweep(self) -> int:
        """How many due things one round of the sweep did."""
        return sum(self.hand(part) for part in PARTS) + self.hand(return_not_started, START_S)

    def pass_time(self, seconds: float) -> None:
        """Time passes, as the store sees it."""
        self.clock.at += seconds


def message(to: str | None, text: str = "by the way", **more: Any) -> Draft:
    """A message of an outcome."""
    return draft(to, text, **more)


def question(to: str, text: str = "what do you say?", **more: Any) -> Draft:
    """A message of an outcome that wants an answer."""
    return draft(to, text, requires_response=True, **more)
