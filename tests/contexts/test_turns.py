"""An agent's turns leave checkpoints, and a brain with a context of its own begins afresh from one (C5, C5a)."""

from __future__ import annotations

from typing import Any

import pytest

from covey.base.settings import AgentSettings, BrainSettings
from covey.brains.agent import Agent, gathering
from covey.brains.command import session_of
from covey.brains.model import Cost, Hands, Outcome, Turn
from covey.brains.prompting import as_text
from covey.contexts import checkpoints, entries, reading
from covey.healing import incidents
from covey.runner.condensing import Condenser
from covey.runner.place import Place
from covey.store import Store
from tests.conftest import EIGHT, ManualClock
from tests.contexts.test_compressing import talk
from tests.contexts.test_condensing import BOUND
from tests.inline import Hand
from tests.rules import rule
from tests.runner.desk import LIMITS, Desk


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Work at hand."""
    return Desk(hand)


@rule("C5")
def test_each_handled_item_leaves_a_checkpoint(desk: Desk) -> None:
    task = desk.add("Count the stars")
    desk.settle(desk.begin("coder"), Outcome(summary="There are many.", decisions=["Count again in May"]))
    point = desk.hand(checkpoints.load, "coder")
    assert point is not None
    assert (point.item, point.outcome, point.summary) == (task, "done", "There are many.")
    message = desk.ask("coder", "how many stars?")
    desk.settle(desk.take("coder", "mail"), Outcome(summary="Many."))
    point = desk.hand(checkpoints.load, "coder")
    assert point is not None
    assert point.item == message


@rule("C5")
def test_a_failed_try_leaves_the_checkpoint_as_it_was(desk: Desk) -> None:
    desk.add("Count the stars")
    desk.settle(desk.begin("coder"), Outcome(kind="failed", error="clouds"))
    assert desk.hand(checkpoints.load, "coder") is None


@rule("C5a")
def test_a_brain_whose_own_context_is_nearly_full_gets_a_fresh_session_and_its_checkpoint(desk: Desk) -> None:
    desk.add("first")
    work = desk.begin("coder")
    turn = desk.turn(work)
    assert (turn.session, turn.fresh) == ("coder-1", True)
    desk.settle(work, Outcome(summary="did the first", cost=Cost(context_tokens=100, context_limit=200)))
    second = desk.add("second")
    work = desk.begin("coder")
    turn = desk.turn(work)
    assert (turn.session, turn.fresh, turn.checkpoint) == ("coder-1", False, "")
    assert session_of(turn) == {"COVEY_SESSION": "coder-1", "COVEY_FRESH": "0"}
    desk.settle(work, Outcome(summary="did the second", cost=Cost(context_tokens=160, context_limit=200)))
    desk.add("third")
    turn = desk.turn(desk.begin("coder"))
    assert (turn.session, turn.fresh) == ("coder-2", True)
    assert session_of(turn) == {"COVEY_SESSION": "coder-2", "COVEY_FRESH": "1"}
    assert second in turn.checkpoint
    assert "did the second" in turn.checkpoint
    assert "This session begins afresh." in as_text(turn)


@rule("C5a")
def test_an_agent_as_a_class_says_how_full_its_session_is() -> None:
    with gathering(print, lambda: False) as gathered:
        Agent().context_used(150, 200)
        outcome = gathered.into(Outcome(cost=Cost(usd=1.0)))
    assert outcome.cost == Cost(usd=1.0, context_tokens=150, context_limit=200)


@rule("C3", "A3")
def test_a_context_that_must_keep_too_much_is_an_incident_until_it_fits(desk: Desk) -> None:
    small = LIMITS._replace(max_context=600)
    tasks = [desk.add(f"urgent {number} " + "and more " * 60, priority="urgent") for number in range(12)]
    for _ in range(6):
        desk.hand(entries.remember, "coder", "note", talk(1, 100), source=tasks[0], max_tokens=600)
    assert desk.hand(reading.too_large, "coder") is not None
    desk.settle(desk.begin("coder"), Outcome(), small)
    (incident,) = desk.hand(incidents.open_of, "coder", "context_overflow")
    assert "max_context" in incident.cause
    while desk.hand(reading.too_large, "coder"):
        desk.settle(desk.begin("coder"), Outcome(), small)
    assert desk.hand(incidents.open_of, "coder", "context_overflow") == []


class Summarist:
    """A brain that makes summaries by keeping only the words with a digit."""

    kind = "python"
    lanes = None

    def __init__(self) -> None:
        self.asked: list[Turn] = []

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """The summary."""
        self.asked.append(turn)
        sources = [str(entry["source"]) for entry in turn.context]
        kept = [word for entry in turn.context for word in entry["text"].split() if any(char.isdigit() for char in word)]
        return Outcome(summary=" ".join(sources + kept))

    def can(self, description: str) -> bool:
        """Anything."""
        return bool(description)

    async def close(self) -> None:
        """Nothing is held."""


@rule("C4")
async def test_a_free_brain_summarises_its_own_context(fleet: Store, clock: ManualClock) -> None:
    agent = AgentSettings(id="coder", port=8002, brain=BrainSettings(kind="python"), max_context=BOUND, summaries="brain")
    brain = Summarist()
    place: dict[str, Any] = {"store": fleet, "agent": agent, "settings": EIGHT, "brain": brain, "clock": clock, "node": "here", "pid": 1}
    condenser = Condenser(Place(**place, leave=lambda why, code: pytest.fail(f"{why} {code}")), lambda: True)
    assert await condenser.one_round() is False, "there is room"
    for number in range(24):
        await fleet.write(entries.remember, "coder", "message", talk(number), source=f"msg_{number}", max_tokens=BOUND)
    assert await condenser.one_round() is True
    (turn,) = brain.asked
    assert turn.kind == "summary"
    assert "Put what you remember, below, into a third of its words" in as_text(turn)
    warm = [entry for entry in await fleet.read(entries.live, "coder") if entry.form == "warm"]
    assert "msg_0 msg_1" in warm[0].text
