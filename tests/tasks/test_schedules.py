"""A schedule makes exactly one task a slot: over restarts, shifts of the clock, missed slots, and on a task (K6a)."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.agents.model import THE_OPERATOR
from covey.base.settings import ScheduleSettings, Settings
from covey.store import events
from covey.tasks import changing, reading, repeating, scheduling
from covey.tasks.model import Repeat
from covey.tasks.slots import NEVER, next_slot
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, do, now, take


def timing(cron: str = "", zone: str = "UTC", every: float | None = None) -> ScheduleSettings:
    """A schedule that is nothing but its timing."""
    return ScheduleSettings(name="s", text="x", cron=cron, time_zone=zone, every_s=every)


def slots(schedule: ScheduleSettings, first: datetime, last: datetime) -> list[str]:
    """Its slots between two moments, by its own wall clock with its offset."""
    found, at = [], first.timestamp()
    while (at := next_slot(schedule, at)) < last.timestamp():
        found.append(f"{datetime.fromtimestamp(at, ZoneInfo(schedule.time_zone)):%m-%d %H:%M%z}")
    return found


def day(month: int, number: int, hour: int = 12) -> datetime:
    """A moment of 2026."""
    return datetime(2026, month, number, hour, tzinfo=UTC)


# name: when it should come, zone, over which days, what it comes to
SHIFTS = [
    ("forward, in the gap", "30 2 * * *", "Europe/Berlin", day(3, 28), day(3, 31), ["03-29 03:00+0200", "03-30 02:30+0200", "03-31 02:30+0200"]),
    ("forward, before the gap", "30 1 * * *", "Europe/Berlin", day(3, 28), day(3, 30), ["03-29 01:30+0100", "03-30 01:30+0200"]),
    ("forward, both sides of the gap", "0 1-4 * * *", "Europe/Berlin", day(3, 28), day(3, 29), ["03-29 01:00+0100", "03-29 03:00+0200", "03-29 04:00+0200"]),
    ("back, in the fold", "30 2 * * *", "Europe/Berlin", day(10, 24), day(10, 27), ["10-25 02:30+0200", "10-26 02:30+0100", "10-27 02:30+0100"]),
    ("back, each hour", "30 * * * *", "Europe/Berlin", day(10, 24, 23), day(10, 25, 3), ["10-25 01:30+0200", "10-25 02:30+0200", "10-25 02:30+0100", "10-25 03:30+0100"]),
    ("America, forward", "30 2 * * *", "America/New_York", day(3, 7), day(3, 9), ["03-08 03:00-0400", "03-09 02:30-0400"]),
    ("America, back", "30 1 * * *", "America/New_York", day(10, 31), day(11, 2), ["11-01 01:30-0400", "11-02 01:30-0500"]),
    ("half an hour, forward", "15 2 * * *", "Australia/Lord_Howe", day(10, 3), day(10, 5), ["10-04 02:30+1100", "10-05 02:15+1100"]),
    ("half an hour, back", "45 1 * * *", "Australia/Lord_Howe", day(4, 4), day(4, 6), ["04-05 01:45+1100", "04-06 01:45+1030"]),
    ("a rhythm, half an hour back", "*/20 2 * * *", "Australia/Lord_Howe", day(4, 4), day(4, 5), ["04-05 02:00+1030", "04-05 02:20+1030", "04-05 02:40+1030"]),
    ("a rhythm, half an hour back, in the fold", "*/20 1 * * *", "Australia/Lord_Howe", day(4, 4), day(4, 5), ["04-05 01:00+1100", "04-05 01:20+1100", "04-05 01:40+1100", "04-05 01:40+1030"]),
    ("a rhythm, half an hour forward", "*/15 0,3 * * *", "Australia/Lord_Howe", day(10, 3, 14), day(10, 4), ["10-04 00:45+1030", "10-04 03:00+1100", "10-04 03:15+1100", "10-04 03:30+1100", "10-04 03:45+1100"]),
    ("a rhythm, from a quarter to", "10 */2 * * *", "Pacific/Chatham", day(9, 26), day(9, 26, 17), ["09-27 02:10+1245", "09-27 04:10+1345", "09-27 06:10+1345"]),
    ("a rhythm, in the gap", "*/30 2 * * *", "Europe/Berlin", day(3, 28), day(3, 30, 0), []),
    ("at midnight, forward", "0 0 * * *", "America/Havana", day(3, 7), day(3, 9), ["03-08 01:00-0400", "03-09 00:00-0400"]),
    ("no shifts", "0 9 * * MON-FRI", "Asia/Kolkata", day(3, 27), day(3, 31), ["03-30 09:00+0530", "03-31 09:00+0530"]),
    ("utc", "30 2 * * *", "UTC", day(10, 24), day(10, 26), ["10-25 02:30+0000", "10-26 02:30+0000"]),
]  # fmt: skip


@rule("K6a")
@pytest.mark.parametrize(("cron", "zone", "first", "last", "expected"), [each[1:] for each in SHIFTS], ids=[each[0] for each in SHIFTS])
def test_each_day_has_its_slot_once_whichever_way_the_clocks_go(
    cron: str, zone: str, first: datetime, last: datetime, expected: list[str]
) -> None:
    """openclaw#42640, #33092, #60495: cron runs twice, is skipped, or ignores time zone and DST."""
    assert slots(timing(cron, zone), first, last) == expected


TURNS = [
    (zone, datetime.fromisoformat(f"2026-{moment}Z").timestamp())
    for zone, *moments in (
        ("Europe/Berlin", "03-29T01:00", "10-25T01:00"),
        ("America/New_York", "03-08T07:00", "11-01T06:00"),
        ("Australia/Lord_Howe", "04-04T15:00", "10-03T15:30"),
        ("America/Havana", "03-08T05:00", "11-01T05:00"),
        ("Pacific/Chatham", "04-04T14:00", "09-26T14:00"),
        ("UTC", "03-29T01:00"),
    )
    for moment in moments
]
"""Zones, each with the moments in which its clocks are put forward or back."""


@rule("K6a")
@settings(max_examples=400)
@given(
    st.sampled_from(
        [
            "30 2 * * *",
            "0 1-3 * * *",
            "*/20 2 * * *",
            "15 * * * *",
            "0 0 * * *",
            "45 1,2 * * *",
            "50 2,3 * * *",
            "*/15 0,3 * * *",
            "10 */2 * * *",
        ]
    ),
    st.sampled_from(TURNS),
    st.integers(-240, 240),
    st.floats(0, 7200),
)
@example("*/20 2 * * *", ("Australia/Lord_Howe", datetime.fromisoformat("2026-04-04T15:00Z").timestamp()), -60, 7200.0)
@example("*/15 0,3 * * *", ("Pacific/Chatham", datetime.fromisoformat("2026-04-04T14:00Z").timestamp()), -15, 0.0)
def test_whenever_it_is_asked_a_slot_lies_ahead_and_none_is_skipped(cron: str, turn: tuple[str, float], minute: int, later: float) -> None:
    schedule = timing(cron, turn[0])
    at = turn[1] + minute * 60
    slot = next_slot(schedule, at)
    assert slot > at
    between = at + min(later, slot - at - 0.001)
    assert next_slot(schedule, between) == slot
    assert next_slot(schedule, slot) > slot


@rule("K6a")
def test_a_line_whose_every_time_is_left_out_never_comes_and_holds_nobody_up() -> None:
    assert next_slot(timing("* 2 * 3 0L", "Europe/Berlin"), day(1, 1).timestamp()) == NEVER


@rule("K6a")
@given(st.floats(1, 1e7), st.floats(0, 4e9))
def test_slots_of_an_interval_lie_ahead_and_an_interval_apart(every: float, at: float) -> None:
    first = next_slot(timing(every=every), at)
    assert at < first <= at + every * 1.001
    assert next_slot(timing(every=every), first) == pytest.approx(first + every)


def fleet(*schedules: ScheduleSettings) -> Settings:
    """The eight with schedules."""
    return Settings(agents=EIGHT.agents, lead=EIGHT.lead, deputy=EIGHT.deputy, schedules=schedules)


HOURLY = ScheduleSettings(name="hourly", text="check the disk", agent="ops", every_s=3600.0, priority="low")


@rule("K6a")
def test_a_slot_makes_one_task_at_its_second(hand: Hand) -> None:
    hand(scheduling.configure, fleet(HOURLY))
    slot = next_slot(HOURLY, hand.now)
    hand.clock.at += slot - hand.now - 0.001
    assert hand(scheduling.make_due) == []
    hand.clock.at += 0.001
    (ident,) = hand(scheduling.make_due)
    assert hand(scheduling.make_due) == []
    task = hand(reading.show, ident)
    assert (task.description, task.agent, task.priority, task.origin, task.created_by, task.schedule) == (
        "check the disk",
        "ops",
        "low",
        "generated",
        "system",
        "hourly",
    )
    assert task.dedupe_key == f"schedule:hourly:{slot:.3f}"


@rule("K6a")
def test_missed_slots_collapse_into_one(hand: Hand) -> None:
    """claude-code#84494: messages delivered in batches of forty minutes; stale check-ins answered first."""
    hand(scheduling.configure, fleet(HOURLY))
    hand.clock.at += 10 * 3600
    assert len(hand(scheduling.make_due)) == 1
    assert hand(scheduling.make_due) == []
    hand.clock.at += 3600
    assert len(hand(scheduling.make_due)) == 1


@rule("K6a")
def test_a_restart_at_the_edge_of_a_slot_neither_doubles_nor_skips_it(hand: Hand) -> None:
    hand(scheduling.configure, fleet(HOURLY))
    made = 0
    hand.clock.at += next_slot(HOURLY, hand.now) - hand.now - 0.5
    for _ in range(20):
        hand(scheduling.configure, fleet(HOURLY))
        made += len(hand(scheduling.make_due))
        hand(scheduling.configure, fleet(HOURLY))
        hand.clock.at += 0.1
    assert made == 1


@rule("K6a", "P3a")
def test_a_schedule_that_is_only_reworded_keeps_its_slot_and_a_new_timing_starts_anew(hand: Hand) -> None:
    hand(scheduling.configure, fleet(HOURLY))
    hand.clock.at += 5000
    reworded = ScheduleSettings(name="hourly", text="check all disks", agent="ops", every_s=3600.0)
    hand(scheduling.configure, fleet(reworded))
    (ident,) = hand(scheduling.make_due)
    assert hand(reading.show, ident).description == "check all disks"
    hand.clock.at += 5000
    hand(scheduling.configure, fleet(ScheduleSettings(name="hourly", text="x", agent="ops", every_s=600.0)))
    assert hand(scheduling.make_due) == []


@rule("K6a")
def test_a_schedule_that_is_gone_makes_nothing_and_one_that_comes_back_starts_anew(hand: Hand) -> None:
    hand(scheduling.configure, fleet(HOURLY))
    hand(scheduling.configure, fleet())
    hand.clock.at += 7200
    assert hand(scheduling.make_due) == []
    hand(scheduling.configure, fleet(HOURLY))
    assert hand(scheduling.make_due) == []
    hand.clock.at += 3600
    assert len(hand(scheduling.make_due)) == 1


@rule("K6a")
def test_a_schedule_for_an_agent_that_is_not_there_says_so_and_goes_on(hand: Hand) -> None:
    hand(scheduling.configure, fleet(ScheduleSettings(name="lost", text="x", agent="nobody", every_s=60.0), HOURLY))
    hand.clock.at += 3600
    assert len(hand(scheduling.make_due)) == 1
    (event,) = [event for event in hand(events.of_subject, "lost") if event.kind == "schedule.failed"]
    assert "nobody" in event.data["error"]
    assert hand(scheduling.make_due) == []


@rule("K6a")
@pytest.mark.parametrize(
    "settings",
    [
        '{"name": "odd", "text": "x", "cron": "0 9 * * *", "time_zone": "Mars/Base"}',
        '{"name": "odd"}',
        '{"name": "odd", "text": "x", "cron": "x"}',
    ],
)
def test_a_schedule_that_can_not_be_read_stops_no_other(hand: Hand, settings: str) -> None:
    with hand.transaction() as tx:
        tx.run(repeating.PUT, name="odd", settings=settings, next_at=tx.now)
        tx.run(repeating.PUT, name="hourly", settings=msgspec.json.encode(HOURLY).decode(), next_at=tx.now)
    assert len(hand(scheduling.make_due)) == 1
    assert [event.kind for event in hand(events.of_subject, "odd")] == ["schedule.failed"]
    assert hand(scheduling.make_due) == []
    hand.clock.at += 3600
    hand(scheduling.make_due)
    assert len(hand(events.of_subject, "odd")) == 2


@rule("K6a", "K6")
def test_a_finished_task_of_a_slot_is_not_made_again(hand: Hand) -> None:
    """paperclip#4482: a recurring job read again as "create job": 35 duplicates."""
    hand(scheduling.configure, fleet(HOURLY))
    hand.clock.at += 3600
    hand(scheduling.make_due)
    do(hand, "ops")
    for _ in range(10):
        hand(scheduling.configure, fleet(HOURLY))
        assert hand(scheduling.make_due) == []


@rule("K6a")
def test_a_task_with_a_schedule_is_the_first_of_many(hand: Hand) -> None:
    first = add(hand, "water the plants", agent="ops", schedule=Repeat(every=3600.0), data={"litres": 2}, estimated_seconds=60)
    slot = next_slot(HOURLY, hand.now)
    assert (first.state, first.not_before, first.schedule) == ("queued", slot, f"task:{first.task_id}")
    assert take(hand, "ops") is None
    hand.clock.at += slot - hand.now
    assert do(hand, "ops").task_id == first.task_id
    assert hand(scheduling.make_due) == []
    hand(scheduling.configure, fleet())
    hand.clock.at += 3600
    (second,) = hand(scheduling.make_due)
    task = hand(reading.show, second)
    assert (task.description, task.data, task.estimated_seconds, task.created_by, task.schedule) == (
        "water the plants",
        {"litres": 2},
        60,
        "operator",
        first.schedule,
    )
    hand(changing.cancel, second, THE_OPERATOR)
    hand.clock.at += 36_000
    assert hand(scheduling.make_due) == []
    assert now(hand, first).state == "done"
