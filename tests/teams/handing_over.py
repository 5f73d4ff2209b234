"""A fleet whose agents think for themselves, and short words for handing tasks over in it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from covey.agents import configuring
from covey.base.settings import BrainSettings, Settings
from covey.brains.model import Outcome, Parcel
from covey.runner.work import Work
from covey.store import Transaction
from covey.tasks import handing
from covey.tasks import reading as tasks
from covey.teams.handoffs import answering, lapsing, offering, reading
from covey.teams.handoffs.model import Handoff, HandoffDraft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.runner.desk import Desk, by

RULES_ALONE = "ops"
"""The one agent whose brain is the rules brain."""
JOINS = "comms"
"""The one whose brain joins from outside."""


def thinking() -> Settings:
    """The eight, all but two with brains of their own."""
    own = BrainSettings(kind="python", target="there:brain")
    kinds = {RULES_ALONE: BrainSettings(), JOINS: BrainSettings(kind="external")}
    return msgspec.structs.replace(
        EIGHT, agents=tuple(msgspec.structs.replace(each, brain=kinds.get(each.id, own)) for each in EIGHT.agents)
    )


class Table(Desk):
    """A desk at which tasks are handed over."""

    def __init__(self, hand: Hand) -> None:
        hand(configuring.configure, thinking())
        super().__init__(hand)

    def offer(self, task: str, to: str = "sales", caller: str = "coder", **more: Any) -> Handoff:
        return self.hand(offering.offer, HandoffDraft(task_id=task, to=to, **more), by(caller))

    def hand_over(self, work: Work, to: str = "sales", **more: Any) -> None:
        """The outcome of the agent's brain."""
        self.settle(work, Outcome(kind="handoff", handoff=Parcel(to=to, **more)))

    def accept(self, ident: str, caller: str = "sales", *, consent: bool = False) -> Handoff:
        return self.hand(answering.accept, ident, by(caller), consent=consent)

    def decline(self, ident: str, caller: str = "sales", why: str = "") -> Handoff:
        return self.hand(answering.decline, ident, by(caller), why)

    def pass_on(self, task: str, *names: str, consent: bool = False) -> None:
        """From hand to hand, each accepting."""
        for giver, receiver in pairwise(names):
            self.accept(self.offer(task, receiver, giver).handoff_id, receiver, consent=consent)

    def handoff(self, ident: str) -> Handoff:
        return self.hand(reading.show, ident)

    def open_offer(self, task: str) -> Handoff | None:
        return self.hand(reading.open_of, task)

    def lapse(self) -> list[str]:
        """What ends or begins by itself now."""
        return [*self.hand(lapsing.withdraw_void), *self.hand(lapsing.expire_due), *self.hand(lapsing.begin)]

    def owner(self, task: str) -> str | None:
        return self.hand(owner_of, task)

    def events(self, task: str) -> list[str]:
        """What became of a task's offers, in order."""
        return [kind for each in self.hand(reading.of_task, task) for kind in self.kinds(each.handoff_id)]


def owner_of(tx: Transaction, task: str) -> str | None:
    row = tasks.seek(tx, task)
    assert row is not None
    return handing.owner_of(row)
