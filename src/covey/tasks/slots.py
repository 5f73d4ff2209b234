"""When a schedule's next slot is: pure arithmetic of intervals, cron lines, time zones and their shifts (K6a)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from covey.base.errors import Invalid
from covey.base.settings import ScheduleSettings

SHORTEST_S = 1.0
CRON_CHARS = 200
LONGEST_FOLD = timedelta(hours=3)
"""No zone puts its clocks back by more."""
MOST_TIMES = 20_000
"""So many times of day are tried; a line whose times all fall into gaps never comes."""
NEVER = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def next_slot(schedule: ScheduleSettings, after: float) -> float:
    """The first slot after a time. `every_s` counts from the epoch; cron goes by its own time zone.

    A time of day that is left out when clocks go forward comes at their new time, one that comes twice counts once;
    a line whose minutes or hours begin with a star goes by each hour that there really is, twice where it comes twice.

    A line that never comes does so at NEVER.
    """
    if schedule.every_s is not None:
        return _next_multiple(schedule.every_s, after)
    zone = _zone(schedule.time_zone)
    if _is_starred(schedule.cron):
        return min(_next_existing(schedule.cron, zone, after, fold) for fold in (0, 1))
    return next((at for wall in _walls(schedule.cron, zone, after) if (at := _kept(wall, zone).timestamp()) > after), NEVER)


def _is_starred(cron: str) -> bool:
    """Whether a line means a rhythm, not times of day. One with seconds always does."""
    fields = cron.split()
    return len(fields) != 5 or any(field.startswith("*") for field in fields[:2])


def _walls(cron: str, zone: tzinfo, after: float) -> Iterator[datetime]:
    """The times by the clock on the wall that fit the line, from before those that may come again.

    The cron package knows nothing of the zone here: its own steps through a zone pass over slots where clocks shift by less than an hour.
    """
    wall = datetime.fromtimestamp(after, UTC).astimezone(zone).replace(tzinfo=None)
    return islice(CronSim(cron, wall - LONGEST_FOLD), MOST_TIMES)


def _next_existing(cron: str, zone: tzinfo, after: float, fold: int) -> float:
    """The first slot, taking the first or the second of each time that comes twice, and none that is left out."""
    times = (wall.replace(tzinfo=zone, fold=fold) for wall in _walls(cron, zone, after))
    return next((at for time in times if (at := time.timestamp()) > after and _exists(time)), NEVER)


def _kept(wall: datetime, zone: tzinfo) -> datetime:
    """The first moment that a clock shows this time, or the one at which it passes over it."""
    time = wall.replace(tzinfo=zone)
    while not _exists(time):
        time += timedelta(minutes=1)
    return time


def _exists(time: datetime) -> bool:
    """Whether a clock ever shows this time."""
    return time.astimezone(UTC).astimezone(time.tzinfo).replace(tzinfo=None) == time.replace(tzinfo=None)


def _first_slot(schedule: ScheduleSettings) -> float:
    if len(schedule.cron) > CRON_CHARS:
        raise CronSimError(f"more than {CRON_CHARS} characters")
    first = next_slot(schedule, 0.0)
    if first == NEVER:
        raise CronSimError("it never comes")
    return first


def _next_multiple(every_s: float, after: float) -> float:
    slot = (after // every_s + 1) * every_s
    return slot if slot > after else slot + every_s


def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)


def check_timing(schedule: ScheduleSettings, field: str) -> None:
    """Refuse a timing that never comes.

    Raises:
        Invalid: `field` and the part of it that is wrong.
    """
    if (schedule.every_s is None) == (not schedule.cron):
        raise Invalid(f"{field} needs either `every`, in seconds, or `cron`, one of them.", field=field)
    if schedule.every_s is not None:
        if not SHORTEST_S <= schedule.every_s <= 366 * 86400:
            raise Invalid(f"{field}.every is {schedule.every_s:g}; it may be 1 s to a year.", field=f"{field}.every")
        return
    try:
        _zone(schedule.time_zone)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(
            f"{field}.timeZone is {schedule.time_zone[:60]!r}, which is no time zone, like Europe/Berlin.", field=f"{field}.timeZone"
        ) from error
    try:
        _first_slot(schedule)
    except (CronSimError, ValueError, AssertionError) as error:
        raise Invalid(
            f"{field}.cron is {schedule.cron[:60]!r}, which never comes; give minute hour day month weekday, like `30 7 * * MON-FRI`.",
            field=f"{field}.cron",
        ) from error
