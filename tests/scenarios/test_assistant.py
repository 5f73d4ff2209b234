"""A coding assistant as the brain of an agent of a real fleet: its session goes on from turn to turn, until it is nearly full."""

from __future__ import annotations

import os

import pytest

from covey.reports import spending
from tests.brains.fake_assistants import ID, NEXT, Fake, claude
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until

pytestmark = pytest.mark.scenario


@rule("C5a", "P3")
@pytest.mark.slow
def test_an_assistants_session_goes_on_until_it_is_nearly_full_and_over_no_restart(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    programs = fleet.folder / "programs"
    programs.mkdir()
    fake = Fake(programs, "claude", claude(), claude(context=170_000), claude(session=NEXT), claude(session=NEXT))
    fleet.configure(
        f'[agents.coder]\nbrain = {{ preset = "claude" }}\nenv = {{ PATH = "{programs}:{os.environ["PATH"]}" }}\n[agents.ops]\n'
    )
    fleet.up()

    def do(text: str) -> None:
        task = fleet.add("coder", text)
        wait_until(lambda: fleet.task(task).state == "done", 60, fleet.logs)

    for text in ("first", "second", "third"):
        do(text)
    assert ["--resume" in each["argv"] for each in fake.calls] == [False, True, False]
    assert ID in fake.calls[1]["argv"]
    assert "This session begins afresh" in fake.calls[2]["stdin"]
    assert fleet.read(spending.money).spent == pytest.approx(2 * 0.0375), "the second turn added nothing to what its session had cost"
    fleet.down()
    fleet.up()
    do("fourth")
    assert "--resume" not in fake.calls[3]["argv"], "a process that was started anew begins a session anew"
