"""Incidents on the command line, while no agent runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from covey.base.clock import SystemClock
from covey.healing import incidents
from covey.store import DatagramBell, Store
from covey.store.sqlite import SqliteEngine
from tests.cli.conftest import Covey
from tests.rules import rule


def happen(folder: Path) -> tuple[str, str]:
    """One incident that has ended, one that is open; their ids."""

    async def both() -> tuple[str, str]:
        bell = DatagramBell(folder / "bells")
        store = Store(SqliteEngine(folder / ".covey" / "store.db", SystemClock()), bell)
        over = await store.write(incidents.open_incident, "coder", "process_died", "its process 7 ended: killed by SIGKILL.")
        await store.write(incidents.step, over, "restart", "its node starts it again at once.")
        await store.write(incidents.end_incident, over, "back", "process 8 serves")
        still = await store.write(incidents.open_incident, "ops", "crash_loop", "five restarts in ten minutes")
        await store.close()
        bell.close()
        return over, still

    return asyncio.run(both())


@rule("H2")
def test_incidents_are_listed_and_one_tells_its_story_with_the_times(covey: Covey, folder: Path) -> None:
    covey("db", "migrate")
    assert covey("incident", "list").out == "no incidents.\n"
    over, still = happen(folder)
    assert [each["incidentId"] for each in covey("incident", "list", "--json").json["items"]] == [still, over]
    assert [each["incidentId"] for each in covey("incident", "list", "--open", "--json").json["items"]] == [still]
    listed = covey("incident", "list", "--agent", "coder").out
    assert over in listed
    assert still not in listed
    more = covey("incident", "list", "--limit", "1").out
    assert "more: covey incident list --cursor" in more
    story = covey("incident", "show", over).out
    assert "its process 7 ended: killed by SIGKILL." in story
    assert "restart" in story
    assert "s from cause to cure" in story
    assert covey("incident", "show", over, "--json").json["outcome"] == "back"
    assert "covey resume ops" in covey("incident", "show", still).out
    assert "ended with `back`" in covey("why", over).out


@rule("H2")
def test_an_incident_is_closed_by_hand_once(covey: Covey, folder: Path) -> None:
    covey("db", "migrate")
    _, still = happen(folder)
    assert "closed by operator: looked at." in covey("incident", "close", still, "--reason", "looked at").out
    assert covey("incident", "close", still).code == 3
    assert covey("incident", "show", "inc_none").code == 4
    assert covey("incident", "list", "--kind", "odd").code == 2
