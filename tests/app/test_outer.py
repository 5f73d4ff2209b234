"""What flags said at a fleet's start is believed as long as the node that was started with them, and no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.app import outer
from covey.app.node_spec import NODE
from covey.app.opening import run_dir
from covey.base.markers import NameLock
from covey.base.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A fleet that was started with another port."""
    found = Settings(agents=(), data_dir=str(tmp_path), console_port=34_000)
    run_dir(found).mkdir()
    outer.remember(found, {"console_port": 34_000}, {}, tmp_path / "covey.toml")
    return found


def test_flags_are_believed_while_a_node_runs_and_not_after_it_was_killed(settings: Settings) -> None:
    lock = NameLock(run_dir(settings) / f"{NODE}.lock")
    assert lock.take(NODE, settings.console_port)
    assert outer.given(settings) == {"console_port": 34_000}
    lock.release()
    assert outer.given(settings) == {}


def test_a_fleet_that_is_down_leaves_nothing_of_its_flags(settings: Settings) -> None:
    outer.forget(settings)
    assert not list(run_dir(settings).glob("o*.json"))
    outer.forget(settings)
