"""A node that has died is started again by the API's process, once, and only if nobody else did it first (H9)."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from covey.app.node_spec import node_spec
from covey.app.opening import run_dir
from covey.app.reviving import MISSED, Reviver
from covey.base.markers import NameLock
from covey.base.processes import Identity
from covey.base.settings import Settings
from covey.nodes.forkserver import Spec
from tests.conftest import EIGHT
from tests.rules import rule


class Bench:
    """A fleet's folder, whose node is a lock that the test holds or not."""

    def __init__(self, folder: Path) -> None:
        self.settings: Settings = msgspec.structs.replace(
            EIGHT, data_dir=str(folder / ".covey"), root=str(folder), logs_dir=str(folder / "logs")
        )
        run_dir(self.settings).mkdir(parents=True)
        self.lock = NameLock(run_dir(self.settings) / "node.lock")
        self.started: list[Spec] = []
        self.reviver = Reviver(lambda: self.settings, self.spawn)

    async def spawn(self, spec: Spec) -> Identity:
        """Remember what was started; it ends at once."""
        self.started.append(spec)
        found = Identity.of(os.posix_spawn("/bin/true", ["true"], os.environ))  # noqa: ASYNC221 - it starts and ends at once
        assert found is not None
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A folder without a node."""
    return Bench(tmp_path)


@rule("H9")
async def test_a_node_is_started_once_none_was_there_for_some_rounds(bench: Bench) -> None:
    for _ in range(MISSED - 1):
        await bench.reviver.one_round()
    assert bench.started == []
    await bench.reviver.one_round()
    (spec,) = bench.started
    assert (spec.name, spec.entry) == ("node", "covey.app.noding:main")
    assert spec.args == (str(run_dir(bench.settings) / "settings.json"),)
    await bench.reviver.one_round()
    assert len(bench.started) == 1, "the new one has its time to come up"


@rule("H9")
async def test_a_node_that_is_there_or_came_back_is_left_alone(bench: Bench) -> None:
    assert bench.lock.take("node", 8000)
    for _ in range(3 * MISSED):
        await bench.reviver.one_round()
    bench.lock.release()
    await bench.reviver.one_round()
    assert bench.lock.take("node", 8000)
    await bench.reviver.one_round()
    bench.lock.release()
    await bench.reviver.one_round()
    assert bench.started == [], "the rounds are counted in a row"


@rule("H9")
async def test_a_node_of_ours_that_died_is_reaped(bench: Bench) -> None:
    started = await bench.spawn(node_spec(bench.settings))
    bench.reviver._started = started
    os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it ends at once
    await bench.reviver.one_round()
    with pytest.raises(ChildProcessError):
        os.waitpid(started.pid, os.WNOHANG)  # noqa: ASYNC222 - it does not wait
