"""An agent that is down is covered: who by, what of its mail is shown there, and until when (B5)."""

from __future__ import annotations

from typing import Any

import pytest

from covey.agents import living
from covey.agents.model import OPERATOR, THE_OPERATOR, as_agent
from covey.buddies import checking, covering
from covey.buddies.checking import Found
from covey.buddies.covering import Coverer, Covering, Standing, down
from covey.buddies.model import Silence
from covey.messages import handling, sending
from covey.messages import reading as mail
from covey.messages.model import Message, draft
from covey.reports import metrics, status
from covey.store import events
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.rules import rule

NAMES = [agent.id for agent in EIGHT.agents]


def started(hand: Hand, *names: str) -> None:
    for name in names or NAMES:
        hand(living.arrive, name, node="here", pid=7, start_ticks=1, boot_id="b", port=8001)


def pass_by(hand: Hand, seconds: float, *but: str) -> None:
    """Time passes, in which all but these beat."""
    hand.clock.at += seconds
    for name in NAMES:
        if name not in but:
            hand(living.beat, name, pid=7)


def cover(hand: Hand) -> list[Covering]:
    return hand(covering.cover)


def urgent(hand: Hand, to: str, text: str = "the server burns", sender: str = OPERATOR, **more: Any) -> str:
    by = THE_OPERATOR if sender == OPERATOR else as_agent(sender)
    return hand(sending.send, draft(to, text, priority="urgent", **more), by).message_id


def alerts(hand: Hand, name: str) -> list[Message]:
    return [message for message in hand(mail.inbox, name).items if message.from_ == "system"]


def told(hand: Hand, *kinds: str) -> list[events.Event]:
    return hand(events.after, events.START, kinds=kinds, limit=10_000).events


STANDING = Standing("coder", "devops", rests=False, external=False, failed=None, started=True, silent_s=5.0, unreached=None)


@rule("B5")
@pytest.mark.parametrize(
    ("facts", "is_down"),
    [
        ({}, False),
        ({"silent_s": 60.0}, False),
        ({"silent_s": 60.1}, True),
        ({"silent_s": 60.1, "rests": True}, False),
        ({"silent_s": 60.1, "external": True}, False),
        ({"silent_s": None, "started": False}, False),
        ({"failed": "it died five times"}, True),
        ({"unreached": "no answer"}, True),
        ({"unreached": "no answer", "rests": True}, False),
    ],
)
def test_down_is_a_fault_and_never_a_wish(facts: dict[str, Any], is_down: bool) -> None:
    assert (down(STANDING._replace(**facts)) is not None) == is_down


@rule("B5", "A5a")
def test_its_buddy_covers_and_says_so_until_it_is_back(hand: Hand) -> None:
    started(hand)
    pass_by(hand, 61, "devops")
    assert [(each.agent, each.buddy) for each in cover(hand)] == [("devops", "coder")]
    assert cover(hand) == cover(hand), "another round changes nothing"
    assert hand(status.agent_state, "coder")["covering"] == ["devops"]
    assert hand(status.agent_state, "ops")["covering"] == []
    assert {row["agentId"]: row["covering"] for row in hand(status.fleet)}["coder"] == ["devops"]
    assert hand(metrics.of_agent, "coder")["buddy"]["covering"] == 1
    pass_by(hand, 10)
    assert cover(hand) == []
    assert hand(status.agent_state, "coder")["covering"] == []
    assert [(event.kind, event.agent, event.data["by"]) for event in told(hand, "buddy.")] == [
        ("buddy.covering", "devops", "coder"),
        ("buddy.back", "devops", "coder"),
    ]


@rule("B5")
def test_urgent_mail_to_it_is_shown_to_its_buddy_once_and_stays_its_own(hand: Hand) -> None:
    started(hand)
    early = urgent(hand, "devops")
    hand(sending.send, draft("devops", "no hurry"), THE_OPERATOR)
    own = urgent(hand, "devops", "from its own buddy", sender="coder")
    pass_by(hand, 61, "devops")
    for _ in range(3):
        cover(hand)
    shown = alerts(hand, "coder")
    assert len(shown) == 1
    assert (shown[0].type, shown[0].priority, shown[0].content["data"]["messageIds"]) == ("alert", "urgent", [early])
    assert "the server burns" in shown[0].body
    assert "the server burns" not in shown[0].content["subject"], "another's words are no title of the system's"
    late = urgent(hand, "devops", "and the other one")
    assert hand(covering.is_to_change, frozenset())
    cover(hand)
    assert not hand(covering.is_to_change, frozenset())
    assert [each.content["data"]["messageIds"] for each in alerts(hand, "coder")] == [[late], [early]]
    assert {hand(mail.show, ident)[0].state for ident in (early, late, own)} == {"delivered"}
    pass_by(hand, 5)
    cover(hand)
    pass_by(hand, 61, "devops")
    cover(hand)
    assert len(alerts(hand, "coder")) == 2, "what still waits was shown before"


@rule("B5")
def test_what_was_taken_meanwhile_is_forgotten(hand: Hand) -> None:
    started(hand)
    urgent(hand, "devops")
    pass_by(hand, 61, "devops")
    cover(hand)
    pass_by(hand, 1)
    claimed = hand(handling.claim, "devops", "run_1", lease_s=60, digest_s=900)
    assert claimed is not None
    hand(handling.close, "devops", claimed.token)
    cover(hand)
    pass_by(hand, 61, "devops")
    urgent(hand, "devops", "a new one")
    cover(hand)
    assert len(alerts(hand, "coder")) == 2


@rule("B5")
def test_when_both_of_a_pair_are_down_the_lead_covers_and_in_the_end_the_operator(hand: Hand) -> None:
    started(hand)
    urgent(hand, "devops")
    pass_by(hand, 61, "devops", "coder")
    assert {(each.agent, each.buddy) for each in cover(hand)} == {("devops", "chief"), ("coder", "chief")}
    assert len(alerts(hand, "chief")) == 1
    pass_by(hand, 61, *NAMES)
    assert {each.buddy for each in cover(hand)} == {OPERATOR}
    pass_by(hand, 1, "devops", "chief", "ops")
    assert {(each.agent, each.buddy) for each in cover(hand)} == {("devops", "coder"), ("chief", OPERATOR), ("ops", OPERATOR)}


@rule("B5")
def test_one_that_rests_neither_covers_nor_is_covered(hand: Hand) -> None:
    started(hand)
    hand(living.pause, "coder", THE_OPERATOR)
    hand(living.stop, "sales", THE_OPERATOR)
    pass_by(hand, 61, "devops", "sales", "coder")
    assert [(each.agent, each.buddy) for each in cover(hand)] == [("devops", "chief")]


@rule("B5", "N3")
def test_one_that_its_buddy_could_not_reach_is_covered_though_it_beats(hand: Hand) -> None:
    started(hand)
    pass_by(hand, 61)
    due = hand(checking.due, "coder")
    assert due is not None
    missed = Found(Silence("no answer", "the port is closed"), "c", "coder", unreachable=True)
    hand(checking.record, due, missed)
    assert cover(hand) == [], "once may be chance"
    hand(checking.record, due, missed)
    assert [(each.agent, each.buddy) for each in cover(hand)] == [("devops", "coder")]


@rule("B5", "H8b")
def test_only_who_was_down_in_two_rounds_running_begins_to_be_covered(hand: Hand) -> None:
    started(hand)
    coverer = Coverer()
    pass_by(hand, 61, *NAMES)
    assert coverer.after(hand(coverer.one_round)) == frozenset()
    pass_by(hand, 10, "devops")
    assert coverer.after(hand(coverer.one_round)) == {"devops"}
    coverer.forget()
    assert coverer.after(hand(coverer.one_round)) == frozenset()
    assert hand(covering.cover, 60.0, frozenset()) == []


@rule("B5", "L12")
def test_a_storm_of_urgent_mail_makes_few_alerts(hand: Hand) -> None:
    started(hand)
    for number in range(50):
        urgent(hand, "devops", f"alarm {number}")
    pass_by(hand, 61, "devops")
    for _ in range(10):
        cover(hand)
    assert len(alerts(hand, "coder")) == 3
    assert sum(len(each.content["data"]["messageIds"]) for each in alerts(hand, "coder")) == 50
