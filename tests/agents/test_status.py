"""A status is derived from facts alone, and the worst that holds is shown (A3)."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from covey.agents.model import Facts, Status, status_of
from tests.rules import rule

NOW = 1_000_000.0
ago = st.one_of(st.none(), st.floats(0, 10_000).map(lambda seconds: NOW - seconds))
facts = st.builds(
    Facts,
    now=st.just(NOW),
    heartbeat_at=ago,
    last_active_at=ago,
    error=st.one_of(st.none(), st.text(max_size=5)),
    stalled=st.booleans(),
    busy=st.booleans(),
    ready=st.booleans(),
    external=st.booleans(),
)
BADNESS = {"idle": 0, "active": 1, "busy": 2, "stalled": 3, "error": 4}
WELL = Facts(NOW, heartbeat_at=NOW - 1, last_active_at=NOW - 3600)


def silent(found: Facts) -> bool:
    return not found.external and (found.heartbeat_at is None or NOW - found.heartbeat_at > 60)


@rule("A3")
@given(facts)
def test_the_first_that_holds_is_the_status(found: Facts) -> None:
    status = status_of(found)
    assert status in get_args(Status)
    assert (status == "error") == (found.error is not None)
    assert (status == "stalled") == (found.error is None and (found.stalled or silent(found)))
    well = found.error is None and not found.stalled and not silent(found)
    assert (status == "busy") == (well and found.busy)
    lately = found.last_active_at is not None and NOW - found.last_active_at <= 60
    assert (status == "active") == (well and not found.busy and (found.ready or lately))
    assert (status == "idle") == (well and not found.busy and not found.ready and not lately)


@rule("A3")
@given(facts)
def test_one_more_reason_never_makes_it_look_better(found: Facts) -> None:
    for worse in (found._replace(error="broken"), found._replace(stalled=True), found._replace(busy=True), found._replace(ready=True)):
        assert BADNESS[status_of(worse)] >= BADNESS[status_of(found)]


@rule("A3")
@given(facts, st.floats(0, 1000))
def test_time_without_a_sign_of_life_never_makes_it_look_more_alive(found: Facts, seconds: float) -> None:
    later = found._replace(now=found.now + seconds)
    if status_of(found) in ("idle", "stalled", "error"):
        assert BADNESS[status_of(later)] >= BADNESS[status_of(found)]


@rule("A3")
def test_the_bounds_of_silence_and_of_activity() -> None:
    assert status_of(WELL) == "idle"
    assert status_of(WELL._replace(heartbeat_at=NOW - 60.0)) == "idle"
    assert status_of(WELL._replace(heartbeat_at=NOW - 60.001)) == "stalled"
    assert status_of(WELL._replace(heartbeat_at=None)) == "stalled"
    assert status_of(WELL._replace(last_active_at=NOW - 60.0)) == "active"
    assert status_of(WELL._replace(last_active_at=NOW - 60.001)) == "idle"
    assert status_of(WELL._replace(last_active_at=None)) == "idle"
    assert status_of(WELL._replace(heartbeat_at=NOW - 100.0), stale_s=120.0) == "idle"


@rule("A3")
def test_what_an_agent_says_of_itself_is_not_among_the_facts() -> None:
    """Busy with a dead process is stalled: the heartbeat, not the claim, tells whether it lives."""
    assert status_of(WELL._replace(busy=True, heartbeat_at=NOW - 61)) == "stalled"
    assert status_of(WELL._replace(busy=True, ready=True)) == "busy"
    assert status_of(WELL._replace(external=True, heartbeat_at=None)) == "idle", "one without a process of ours has no heartbeat of ours"
