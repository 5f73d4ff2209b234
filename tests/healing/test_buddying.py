"""What follows from a look after a buddy: each step once, the operator and the lead told, tasks planned; on both databases (B2 to B4)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living, roster
from covey.agents.model import THE_OPERATOR
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.buddies import checking
from covey.buddies.asking import Ping
from covey.buddies.checking import Due, Found
from covey.buddies.model import Answer, Silence, Verdict
from covey.healing import buddying, incidents
from covey.healing.buddying import Looked
from covey.messages import reading as mail
from covey.store import events
from covey.tasks import reading as tasks
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.rules import rule

SLOW = Silence("slow", "GET /status was not answered within 5 s")


def started(hand: Hand, *names: str) -> None:
    for name in names or [agent.id for agent in EIGHT.agents]:
        hand(living.arrive, name, node="here", pid=7, start_ticks=1, boot_id="b", port=8001)


def beat(hand: Hand, name: str) -> None:
    hand(living.beat, name, pid=7)


def due_of(hand: Hand, checker: str = "coder") -> Due:
    found = hand(checking.due, checker)
    assert found is not None
    return found


def answer(name: str = "devops", **facts: Any) -> Answer:
    usual: dict[str, Any] = {
        "agent_id": name, "status": "busy", "last_heartbeat": 1.0, "queue_length": 1, "context_size": 1, "max_context_size": 8192,
        "covering": [], "timestamp": 1.0,
    }  # fmt: skip
    return Answer(**usual | facts)


def look(hand: Hand, verdict: Verdict, ping: Ping | None = None, checker: str = "coder", settings: Settings = EIGHT) -> Looked:
    due = due_of(hand, checker)
    return hand(buddying.conclude, due, Found(verdict, "check-1", checker), ping, settings)


def told(hand: Hand, *kinds: str) -> list[events.Event]:
    return hand(events.after, events.START, kinds=kinds, limit=10_000).events


def steps(hand: Hand, agent: str = "devops") -> list[str]:
    return [step.action for each in hand(incidents.open_of, agent, "buddy_down") for step in each.steps]


def alerts(hand: Hand, name: str) -> list[str]:
    return [message.content["subject"] for message in hand(mail.inbox, name).items if message.type == "alert"]


@rule("B2")
def test_a_check_is_made_each_hour_and_ten_restarts_make_no_more(hand: Hand) -> None:
    started(hand)
    first = due_of(hand)
    assert not first.is_due, "a new fleet comes up first"
    hand.clock.at += 61
    assert due_of(hand).is_due
    look(hand, answer())
    for _ in range(10):
        started(hand, "coder")
        assert not due_of(hand).is_due
    hand.clock.at += 3598
    assert not due_of(hand).is_due
    hand.clock.at += 3
    assert due_of(hand).is_due
    assert [event.subject for event in told(hand, "buddy.checked")] == ["coder"]
    alive = hand(roster.vitals, "coder")
    assert alive.last_buddy_check is not None
    last = hand(checking.last, "coder")
    assert last is not None
    assert (last.checked, last.outcome, last.made, last.success_rate) == ("devops", "answered", 1, 1.0)


@rule("B2")
def test_the_controller_does_a_check_that_is_more_than_ten_minutes_late(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 61
    for agent in EIGHT.agents:
        look(hand, answer(agent.buddy), checker=agent.id)
    hand.clock.at += 3600 + 599
    assert hand(buddying.overdue, 3600.0) == []
    look(hand, answer(), checker="coder")
    hand.clock.at += 2
    late = hand(buddying.overdue, 3600.0)
    assert [due.checker for due in late] == [agent.id for agent in EIGHT.agents if agent.id != "coder"]
    hand(buddying.conclude, late[0], Found(answer("ops"), "c", buddying.CONTROLLER), None, EIGHT)
    last = hand(checking.last, "chief")
    assert last is not None
    assert last.done_by == "controller"
    assert "chief" not in [due.checker for due in hand(buddying.overdue, 3600.0)]


@rule("B3")
def test_a_silent_buddy_is_pinged_then_restarted_then_escalated_each_once(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 100
    assert look(hand, SLOW, "none").decision.action == "restart"
    assert steps(hand) == ["ping", "restart"]
    asked = told(hand, "agent.restart_asked")
    assert [event.agent for event in asked] == ["devops"]
    assert "coder" in asked[0].data["reason"]
    hand.clock.at += 30
    assert look(hand, SLOW, "none").decision.action == "wait"
    assert alerts(hand, "chief") == []
    hand.clock.at += 30.1
    assert look(hand, SLOW, "none").decision.action == "escalate"
    for _ in range(5):
        hand.clock.at += 61
        assert look(hand, SLOW, "none").decision.action == "wait"
    assert steps(hand) == ["ping", "restart", "escalate"]
    assert len(alerts(hand, "chief")) == 1
    assert alerts(hand, "operator") == [], "the lead is well, and decides"
    assert len(told(hand, "agent.restart_asked")) == 1
    assert len(told(hand, "buddy.missed")) == 1, "looks between two checks are no news"
    started(hand, "devops")
    look(hand, answer())
    assert steps(hand) == []
    ended = told(hand, "incident.ended")[-1]
    assert (ended.agent, ended.data["outcome"]) == ("devops", "back")


@rule("B3")
def test_if_the_lead_is_the_one_the_deputy_and_the_operator_hear_of_it(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 100
    look(hand, SLOW, "none", checker="ops")
    hand.clock.at += 61
    look(hand, SLOW, "none", checker="ops")
    assert (len(alerts(hand, "ops")), len(alerts(hand, "operator")), alerts(hand, "chief")) == (1, 1, [])


@rule("B3", "H7a")
def test_a_buddy_that_lives_is_left_alone(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 61
    beat(hand, "devops")
    assert look(hand, SLOW, "healthy").decision.action == "well"
    assert steps(hand) == []
    hand.clock.at += 3601
    beat(hand, "devops")
    look(hand, SLOW, "none")
    hand.clock.at += 61
    beat(hand, "devops")
    assert look(hand, SLOW, "none").decision.action == "escalate", "it beats, so the way to it is cut: told, not restarted"
    assert told(hand, "agent.restart_asked") == []


@rule("B3", "H7")
def test_who_was_given_up_is_not_started_again_by_its_buddy(hand: Hand) -> None:
    started(hand)
    hand(living.give_up, "devops", "it died five times")
    hand.clock.at += 100
    assert look(hand, SLOW, "none").decision.action == "escalate"
    assert told(hand, "agent.restart_asked") == []


@rule("B3")
def test_a_restart_that_another_incident_asked_for_is_not_asked_again(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 100
    other = hand(incidents.open_incident, "devops", "heartbeat_stale", "silent")
    hand(incidents.step, other, "restart", "asked")
    assert look(hand, SLOW, "none").decision.action == "wait"
    assert told(hand, "agent.restart_asked") == []


@rule("B1", "B2")
def test_a_look_at_somebody_who_is_no_longer_its_buddy_counts_for_nothing(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 61
    due = due_of(hand)
    others = tuple(msgspec.structs.replace(each, buddy="ops") if each.id == "coder" else each for each in EIGHT.agents)
    hand(configuring.configure, msgspec.structs.replace(EIGHT, agents=others))
    hand(buddying.conclude, due, Found(SLOW, "check-1", "coder"), "none", EIGHT)
    assert hand(checking.last, "coder") is None
    assert steps(hand) == []
    hand(configuring.configure, msgspec.structs.replace(EIGHT, agents=EIGHT.agents[:-1]))
    assert hand(checking.due, "chief") is None, "its buddy left the fleet"


@rule("B2", "A5b")
def test_an_external_buddy_is_known_by_its_calls_and_never_restarted(hand: Hand) -> None:
    outside = tuple(
        AgentSettings(id="devops", port=8006, buddy="coder", brain=BrainSettings(kind="external")) if each.id == "devops" else each
        for each in EIGHT.agents
    )
    hand(configuring.configure, msgspec.structs.replace(EIGHT, agents=outside))
    started(hand, "coder")
    verdict = hand(buddying.of_external, "devops", 60.0)
    assert isinstance(verdict, Silence)
    assert look(hand, verdict).decision.action == "well"
    assert steps(hand) == []


@rule("B4")
def test_an_idle_buddy_with_an_empty_queue_is_planned_for(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 400
    beat(hand, "devops")
    look(hand, answer(status="idle", queue_length=0))
    made = [task for task in hand(tasks.queue_of_agent, "devops", limit=10) if task.origin == "generated"]
    assert 1 <= len(made) <= 3
    assert told(hand, "buddy.planned")[0].data["tasks"] == [task.task_id for task in made]
    hand.clock.at += 3601
    beat(hand, "devops")
    look(hand, answer(status="busy", queue_length=0))
    assert len(told(hand, "buddy.planned")) == 1


@rule("A9", "B2")
def test_a_check_opens_no_run_of_a_brain(hand: Hand) -> None:
    started(hand)
    hand.clock.at += 100
    look(hand, answer())
    look(hand, SLOW, "none")
    assert told(hand, "run.", "message.seen", "task.claimed") == []


def test_a_person_may_look_and_an_agent_that_leads_not_may_not(hand: Hand) -> None:
    from covey.agents.model import as_agent
    from covey.base.errors import Forbidden

    started(hand)
    assert hand(buddying._place, "coder", THE_OPERATOR).place.name == "coder"
    with pytest.raises(Forbidden):
        hand(buddying._place, "coder", as_agent("sales"))
