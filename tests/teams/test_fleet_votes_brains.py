"""Brains vote by their outcomes: settled in the turn's own transaction, once, and refused alone (Q4, M3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import LeaseLost
from covey.brains.agent import Agent, gathering
from covey.brains.answers import from_text
from covey.brains.model import Ballot, Outcome, asked_for_vote, failure
from covey.brains.prompting import as_text
from covey.brains.rules import RulesBrain
from covey.messages import handling
from covey.messages.model import Message
from covey.testing import Script, say, vote
from tests.brains.turns import Noted, a_message, a_turn, asked, settings
from tests.inline import Hand, database, hand, mould_database, mould_file
from tests.rules import rule
from tests.runner.desk import Desk
from tests.teams.ballot_box import Box

__all__ = ["database", "hand", "mould_database", "mould_file"]


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Agents at work, by hand."""
    return Desk(hand)


@pytest.fixture
def box(hand: Hand) -> Box:
    """Votes at hand."""
    return Box(hand)


def vote_of(ident: str, selection: str | None, **more: Any) -> Outcome:
    """The outcome of a brain that votes."""
    return Outcome(summary="I have voted", votes=[Ballot(vote_id=ident, selection=selection, **more)])


@rule("Q4", "M3")
def test_a_request_wakes_a_brain_and_its_ballot_is_cast_as_the_turn_is_settled(desk: Desk, box: Box) -> None:
    ident = box.open(opener="chief")
    work = desk.take("coder", "mail")
    assert work.main is not None
    assert asked_for_vote(work.main) == ident
    desk.settle(work, vote_of(ident, "red", confidence=0.7, argument="it is loud"))
    assert desk.copy(work.main.message_id, "coder").state == "handled"
    mine = box.show(ident, "coder").mine
    assert mine is not None
    assert (mine.selection, mine.confidence) == ("red", 0.7)
    assert "red" not in "".join(each.body for each in desk.inbox("chief")), "nobody is told"


@rule("Q4", "M3")
def test_a_turn_whose_lease_is_lost_casts_nothing_and_its_next_try_casts_once(desk: Desk, box: Box) -> None:
    ident = box.open()
    lost = desk.take("coder", "mail")
    desk.hand(living.stop, "coder", THE_OPERATOR, "a test")
    desk.hand(handling.give_back, lost.token)
    with pytest.raises(LeaseLost):
        desk.settle(lost, vote_of(ident, "red"))
    assert "vote.cast" not in box.kinds(ident)
    desk.hand(living.resume, "coder", THE_OPERATOR)
    desk.settle(desk.take("coder", "mail"), vote_of(ident, "blue"))
    assert box.kinds(ident).count("vote.cast") == 1


@rule("Q4")
@pytest.mark.parametrize(
    ("ballot", "said"),
    [
        ({"selection": "pink"}, "selection is 'pink'"),
        ({"selection": "red", "confidence": 1.5}, "confidence is 1.5"),
        ({"selection": "red", "vote_id": "nothing"}, "there is no vote 'nothing'"),
    ],
)
def test_a_ballot_that_is_refused_stops_nothing_else_and_its_agent_hears_why(
    desk: Desk, box: Box, ballot: dict[str, Any], said: str
) -> None:
    ident = box.open()
    work = desk.take("coder", "mail")
    desk.settle(work, Outcome(votes=[Ballot(**{"vote_id": ident} | ballot), Ballot(vote_id=ident, selection="blue")]))
    mine = box.show(ident, "coder").mine
    assert mine is not None
    assert mine.selection == "blue"
    assert any(said in note for note in desk.context("coder"))
    assert "ballot.refused" in desk.kinds(work.item)


@rule("Q4")
def test_a_ballot_that_a_brain_got_wrong_is_asked_for_once_more_in_its_round(desk: Desk, box: Box) -> None:
    ident = box.open(debate=1)
    for first in (True, False):
        work = desk.take("coder", "mail")
        assert work.main is not None
        assert ("Your ballot was not taken: selection is 'Red!'" in work.main.body) != first
        desk.settle(work, vote_of(ident, "Red!"))
    assert desk.try_to_take("coder", "mail") is None, "once is enough"
    box.next_round(ident)
    desk.settle(desk.take("coder", "mail"), vote_of(ident, "Red!"))
    desk.settle(desk.take("coder", "mail"), vote_of(ident, "red"))
    assert desk.try_to_take("coder", "mail") is None
    mine = box.show(ident, "coder").mine
    assert mine is not None
    assert mine.selection == "red"


@rule("Q4")
def test_nobody_is_asked_again_who_has_voted_or_has_no_vote(desk: Desk, box: Box) -> None:
    ident = box.open()
    desk.settle(
        desk.take("coder", "mail"), Outcome(votes=[Ballot(vote_id=ident, selection="red"), Ballot(vote_id=ident, selection="pink")])
    )
    assert desk.try_to_take("coder", "mail") is None
    desk.send("chief", "look at the vote")
    desk.settle(desk.take("chief", "mail"), vote_of(ident, "pink"))
    assert desk.try_to_take("chief", "mail") is None


@rule("Q4")
async def test_a_scripted_brain_votes_where_it_is_asked_to(desk: Desk, box: Box) -> None:
    script = Script(vote("red", 0.5, "loud"), say("hm"))
    ident = box.open(tie="decider", voters=["coder", "sales"])
    work = desk.take("coder", "mail")
    desk.settle(work, await script(desk.turn(work)))
    box.cast(ident, "sales", "blue", 0.5)
    decides = desk.take("chief", "mail")
    desk.settle(decides, await script(desk.turn(decides)))
    assert (box.result(ident).winner, box.result(ident).decided_by) == ("red", "chief")
    desk.send("coder", "hello")
    other = desk.take("coder", "mail")
    assert (await script(desk.turn(other))).votes == []


@rule("Q4")
def test_a_failed_turn_casts_nothing(desk: Desk, box: Box) -> None:
    ident = box.open()
    failed = failure("no idea")
    failed.votes = [Ballot(vote_id=ident, selection="red")]
    desk.settle(desk.take("coder", "mail"), failed)
    assert "vote.cast" not in box.kinds(ident)


@rule("Q4")
def test_a_task_may_vote_too(desk: Desk, box: Box) -> None:
    ident = box.open()
    desk.add("vote on the colour")
    desk.settle(desk.begin("coder"), vote_of(ident, "green"))
    mine = box.show(ident, "coder").mine
    assert mine is not None
    assert mine.selection == "green"


@rule("Q4")
def test_a_request_of_a_vote_that_was_closed_is_not_handed_over(desk: Desk, box: Box) -> None:
    ident = box.open()
    box.close(ident)
    assert desk.try_to_take("coder", "mail") is None


@rule("Q4")
async def test_the_rules_brain_leaves_its_ballot_to_a_person_and_says_so(tmp_path: Path) -> None:
    turn = a_turn(kind="message", task=None, message=asked(a_request("vote_7")))
    outcome = await RulesBrain(settings(tmp_path)).think(turn, Noted())
    assert outcome.votes == []
    assert "can't judge" in outcome.summary
    assert f"covey vote cast vote_7 OPTION --from {turn.agent}" in outcome.summary


def a_request(ident: str, sender: str = "system") -> Message:
    """A request for a ballot."""
    found = a_message("chief asks for your vote.", sender=sender, requires_response=False, data={"voteId": ident, "options": ["a", "b"]})
    found.type = "request"
    return found


@rule("Q4", "M12")
def test_only_the_protocol_asks_for_a_ballot() -> None:
    ours = as_text(a_turn(kind="message", task=None, message=asked(a_request("vote_7"))))
    assert '{"kind": "done", "votes": [{"voteId": "vote_7"' in ours.partition("<covey-")[0]
    theirs = as_text(a_turn(kind="message", task=None, message=asked(a_request("vote_7", sender="sales"))))
    assert "votes" not in theirs.partition("<covey-")[0], "what a peer says stays data"


@rule("Q4")
def test_a_command_votes_by_printing_an_outcome() -> None:
    outcome = from_text('{"kind": "done", "votes": [{"voteId": "v", "selection": "red", "confidence": 0.8, "argument": "loud"}]}')
    assert outcome.votes == [Ballot(vote_id="v", selection="red", confidence=0.8, argument="loud")]
    assert from_text('{"votes": [{"voteId": "v"}]}').kind == "failed", "who abstains says null"


@rule("Q4")
def test_an_agent_that_handles_no_messages_abstains() -> None:
    turn = a_turn(kind="message", task=None, message=asked(a_request("v")))
    assert turn.message is not None
    with gathering(lambda _: None, lambda: False) as gathered:
        Agent().on_message(turn.message.message, turn)
    assert gathered.votes == [Ballot(vote_id="v", selection=None)]


@rule("Q4")
def test_an_agents_method_votes_when_its_turn_is_settled() -> None:
    with gathering(lambda _: None, lambda: False) as gathered:
        Agent().vote("v", "red", 0.5, "loud")
        Agent().vote("w", None)
    assert gathered.into(Outcome()).votes == [
        Ballot(vote_id="v", selection="red", confidence=0.5, argument="loud"),
        Ballot(vote_id="w", selection=None),
    ]
