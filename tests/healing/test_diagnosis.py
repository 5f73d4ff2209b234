"""The diagnosis: pure, total, monotone; the calm of it (H1, H1a, H2)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from covey.healing.diagnosis import AtWork, Limits, Signs, diagnose, overdue_at, span
from tests.rules import rule

HOUR = 3600.0
times = st.floats(-1e12, 1e12, allow_nan=False)
lengths = st.floats(-1e9, 1e9, allow_nan=False)
tasks = st.lists(st.builds(AtWork, st.text(max_size=5), times, lengths), max_size=4).map(tuple)
signs = st.builds(Signs, times, st.none() | times, tasks, st.none() | times, st.booleans())
limits = st.builds(Limits, st.floats(0.0, 1e6), st.floats(0.0, 1e6), st.floats(0.0, 100.0))


def kinds(found: Signs, by: Limits | None = None) -> set[tuple[str, str | None]]:
    """What is wrong, and with what."""
    return {(each.kind, each.subject) for each in diagnose(found, by)}


@rule("H2", "H1")
@given(signs, limits)
def test_every_set_of_facts_has_a_diagnosis_and_always_the_same(found: Signs, by: Limits) -> None:
    said = diagnose(found, by)
    assert said == diagnose(found, by)
    assert all(each.since < found.now and each.cause.endswith(".") for each in said)
    assert [each.kind for each in said] == sorted(
        (each.kind for each in said), key=["heartbeat_stale", "task_timeout", "excessive_idle"].index
    )


@rule("H2")
@given(signs, limits, st.floats(0.0, 1e9))
def test_what_is_wrong_stays_wrong_as_long_as_nothing_new_is_recorded(found: Signs, by: Limits, later: float) -> None:
    assert kinds(found, by) <= kinds(found._replace(now=found.now + later), by)


@rule("H2")
@given(signs, limits, st.floats(0.0, 1e9))
def test_no_sign_of_life_makes_an_agent_worse(found: Signs, by: Limits, more: float) -> None:
    better = found._replace(
        heartbeat_at=None if found.heartbeat_at is None else found.heartbeat_at + more,
        tasks=tuple(each._replace(since=each.since + more) for each in found.tasks),
        idle_since=None if found.idle_since is None else found.idle_since + more,
    )
    assert kinds(better, by) <= kinds(found, by)
    patient = found._replace(tasks=tuple(each._replace(expected_s=each.expected_s + more) for each in found.tasks))
    assert kinds(patient, by) <= kinds(found, by)


@rule("H1")
def test_each_stall_begins_just_after_its_limit() -> None:
    at_work = AtWork("task_1", 1000.0, 600.0)
    cases = [
        ("heartbeat_stale", Signs(0.0, heartbeat_at=1000.0), 2800.0),
        ("excessive_idle", Signs(0.0, idle_since=1000.0), 2800.0),
        ("task_timeout", Signs(0.0, tasks=(at_work,)), 2200.0),
    ]
    for kind, found, limit in cases:
        assert diagnose(found._replace(now=limit)) == ()
        (ailment,) = diagnose(found._replace(now=limit + 0.001))
        assert (ailment.kind, ailment.since) == (kind, limit)
    assert overdue_at(at_work) == 2200.0


@rule("H1a")
def test_an_idleness_that_was_a_stall_already_is_none_again() -> None:
    idle = Signs(10 * HOUR, idle_since=1.0)
    assert kinds(idle) == {("excessive_idle", None)}
    assert not kinds(idle._replace(idle_told=True))


@rule("H1")
@given(st.lists(st.floats(1.0, 60.0), min_size=1, max_size=80))
def test_a_half_hour_tool_call_and_two_idle_hours_with_a_beating_heart_are_no_reason_to_restart(beats: list[float]) -> None:
    """Only a silent heart is: a brain in one call for half an hour, and an agent that nobody needs, beat on."""
    now = 0.0
    for pause in beats:
        now += pause
        at_work = Signs(now, heartbeat_at=now - pause, tasks=(AtWork("task_1", now - 1800.0, 1800.0),))
        assert diagnose(at_work) == ()
        assert kinds(Signs(now, heartbeat_at=now - pause, idle_since=now - 2 * HOUR)) == {("excessive_idle", None)}


def test_a_length_of_time_is_said_in_its_own_unit() -> None:
    assert [span(each) for each in (0.25, 59.0, 60.0, 1800.0, 7200.0, 90_000.0)] == ["0.25 s", "59 s", "1 min", "30 min", "2 h", "25 h"]
