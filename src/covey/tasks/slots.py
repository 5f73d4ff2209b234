"""When a schedule's next slot is: pure arithmetic of intervals, cron lines, time zones and their shifts (K6a)."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from covey.base.errors import Invalid
from covey.base.settings import ScheduleSettings

SHORTEST_S = 1.0
CRON_CHARS = 200


def next_slot(schedule: ScheduleSettings, after: float) -> float:
    """The first slot after a time. `every_s` counts from the epoch; cron goes by its own time zone.

    A time of day that is left out when clocks go forward comes at their new time, one that comes twice counts once;
    what runs each hour or oftener does not care.
    """
    if schedule.every_s is not None:
        return _next_multiple(schedule.every_s, after)
    local = datetime.fromtimestamp(after, UTC).astimezone(_zone(schedule.time_zone))
    # In the hour that comes twice the first slot may lie behind: a cron line knows the time of day alone.
    return next(at for slot in CronSim(schedule.cron, local) if (at := slot.timestamp()) > after)


def _first_slot(schedule: ScheduleSettings) -> float:
    if len(schedule.cron) > CRON_CHARS:
        raise CronSimError(f"more than {CRON_CHARS} characters")
    return next_slot(schedule, 0.0)


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
    except (CronSimError, StopIteration, ValueError, AssertionError) as error:
        raise Invalid(
            f"{field}.cron is {schedule.cron[:60]!r}, which never comes; give minute hour day month weekday, like `30 7 * * MON-FRI`.",
            field=f"{field}.cron",
        ) from error
