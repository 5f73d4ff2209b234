"""What is done about a buddy that does not answer: in order, each once, and nothing to one that lives (B3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.buddies.intervening import Situation, decide, told
from covey.buddies.model import Silence
from tests.rules import rule

MISSED = Silence("slow", "GET /status was not answered within 5 s")
NOW = 10_000.0


def of(**facts: object) -> Situation:
    return Situation(**{"now": NOW, "silence": MISSED, "heartbeat_at": NOW - 300, **facts})  # type: ignore[arg-type]


@rule("B3")
@pytest.mark.parametrize(
    ("facts", "action"),
    [
        ({"silence": None, "heartbeat_at": NOW - 5}, "well"),
        ({"silence": None, "heartbeat_at": NOW - 3600}, "well"),
        ({"silence": None, "heartbeat_at": NOW - 3600.1}, "ping"),
        ({}, "ping"),
        ({"heartbeat_at": NOW}, "ping"),
        ({"ping": "none"}, "restart"),
        ({"ping": "healthy"}, "wait"),
        ({"ping": "healthy", "steps": {"ping": NOW - 59}}, "wait"),
        ({"ping": "healthy", "steps": {"ping": NOW - 60}}, "restart"),
        ({"silence": None, "heartbeat_at": NOW - 7200, "ping": "healthy"}, "wait"),
        ({"ping": "none", "heartbeat_at": None}, "well"),
        ({"heartbeat_at": None}, "well"),
        ({"ping": "none", "steps": {"ping": NOW, "restart": NOW - 59.9}}, "wait"),
        ({"ping": "none", "steps": {"ping": NOW, "restart": NOW - 60}}, "escalate"),
        ({"ping": "none", "steps": {"ping": NOW, "restart": NOW - 60, "escalate": NOW}}, "wait"),
        ({"ping": "none", "given_up": True}, "escalate"),
        ({"ping": "none", "given_up": True, "steps": {"escalate": NOW}}, "wait"),
        ({"ping": "degraded", "heartbeat_at": NOW - 5}, "escalate"),
        ({"ping": "healthy", "heartbeat_at": NOW - 5}, "well"),
        ({"ping": "healthy", "heartbeat_at": NOW - 5, "missed_in_a_row": 3}, "escalate"),
        ({"ping": "none", "heartbeat_at": NOW - 5}, "wait"),
        ({"ping": "none", "heartbeat_at": NOW - 5, "steps": {"ping": NOW - 60}}, "escalate"),
        ({"ping": "none", "heartbeat_at": NOW - 5, "steps": {"ping": NOW - 60}, "cut_off": True}, "well"),
        ({"ping": "none", "cut_off": True}, "restart"),
    ],
)
def test_each_step_has_its_time(facts: dict[str, object], action: str) -> None:
    assert decide(of(**facts)).action == action


@rule("B3", "H7a")
@given(
    st.sampled_from([None, MISSED]),
    st.none() | st.floats(-1e6, 0),
    st.booleans(),
    st.sampled_from([None, "healthy", "degraded", "paused", "none"]),
    st.integers(1, 9),
    st.dictionaries(st.sampled_from(["ping", "restart", "escalate"]), st.floats(NOW - 1e5, NOW)),
)
def test_it_always_decides_never_twice_and_never_restarts_what_beats(
    silence: Silence | None, beat: float | None, given_up: bool, ping: str | None, missed: int, steps: dict[str, float]
) -> None:
    beat_at = NOW + beat if beat is not None else None
    situation = of(silence=silence, heartbeat_at=beat_at, given_up=given_up, ping=ping, missed_in_a_row=missed, steps=steps)
    found = decide(situation)
    assert found.why
    assert found.action == "wait" or found.action not in steps or found.action == "ping"
    if found.action == "restart":
        assert not situation.beats
        assert not given_up
        assert ping is not None, "a ping comes first"


@rule("B3")
@pytest.mark.parametrize(
    ("checked", "up", "who"),
    [("coder", True, ["chief"]), ("chief", True, ["operator", "ops"]), ("coder", False, ["operator", "ops"]), ("ops", False, ["operator"])],
)
def test_the_lead_hears_of_it_and_if_it_is_the_one_the_deputy_and_the_operator(checked: str, up: bool, who: list[str]) -> None:
    assert told(checked, "chief", "ops", up, "operator") == who
