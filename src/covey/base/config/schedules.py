"""Whether a cron line and a time zone can be used (K6a). Imported only where a schedule is: cronsim and zoneinfo cost milliseconds."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from covey.base.config.faults import Faults, shown
from covey.base.config.sections import Drafts

_FIELDS = 'five fields: minute hour day month weekday, as "30 7 * * MON-FRI" (six with seconds first)'
_LONGEST = 200


def check(faults: Faults, schedules: Drafts) -> None:
    """A fault for each cron line that never comes and each time zone that this machine does not know."""
    for name, draft in schedules.items():
        if draft.get("cron"):
            _cron(faults, ("schedules", name, "cron"), draft["cron"])
        if "time_zone" in draft:
            _zone(faults, ("schedules", name, "time_zone"), draft["time_zone"])


def _cron(faults: Faults, at: tuple[str, str, str], line: str) -> None:
    try:
        if len(line) > _LONGEST:
            raise CronSimError(f"more than {_LONGEST} characters")
        next(CronSim(line, datetime(2000, 1, 1, tzinfo=UTC)))
    except StopIteration:
        faults.add(at, f"is {shown(line)}, a moment that never comes")
    except (CronSimError, ValueError, AssertionError) as wrong:
        faults.add(at, f"is {shown(line)} ({wrong}); allowed: {_FIELDS}")


def _zone(faults: Faults, at: tuple[str, str, str], zone: str) -> None:
    """UTC is always known, also where no zone data is installed."""
    if zone == "UTC":
        return
    try:
        zoneinfo.ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones(), key=lambda name: ("/" not in name, name))
        if known:
            faults.unknown(at, "time zone", zone, known)
        else:
            faults.add(at, f"is {shown(zone)}, and this machine knows no time zone but UTC; install the package tzdata")
