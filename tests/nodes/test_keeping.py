"""A node keeps real processes: started, restarted, given up, hung and ended, adopted, rearranged, stopped (H1, H4, H7, H7a, H8b, H9)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import StoreUnavailable
from covey.base.processes import alive, every_process
from covey.healing import incidents
from covey.healing import reading as care
from covey.messages import reading as mail
from covey.nodes import keeping
from covey.nodes.node import Duty
from covey.nodes.watching import PingCounter, RestartPolicy
from tests.nodes.workshop import SlowSpawner, Workshop, until
from tests.rules import rule

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""A node waits for no store, so the kind of it makes no difference here."""


@rule("H4")
async def test_a_process_that_dies_is_started_again_at_once_and_its_end_is_recorded(workshop: Workshop) -> None:
    await workshop.open(workshop.group("coder"))
    first = await workshop.serving("coder")
    await workshop.store.write(
        living.arrive, "coder", node="here", pid=first.pid, start_ticks=first.start_ticks, boot_id=first.boot_id, port=1
    )
    os.kill(first.pid, signal.SIGKILL)
    second = await workshop.serving("coder", other_than=first)
    assert alive(second)

    async def recorded() -> bool:
        return "agent.ended" in await workshop.kinds("coder")

    await until(recorded)


@rule("H7", "A3")
async def test_five_restarts_in_ten_minutes_are_the_last_until_somebody_has_it_tried_again(workshop: Workshop) -> None:
    workshop.entries["coder"] = "crash"
    node = await workshop.open(workshop.group("coder"), workshop.group("ops"))

    async def given_up() -> bool:
        return (await workshop.agent("coder")).failed_at is not None

    await until(given_up)
    reason = (await workshop.agent("coder")).failed_reason or ""
    assert "5 restarts in 10 minutes" in reason
    assert "the disk is on fire" in reason, "what it said last is the reason that helps"
    (told,) = (await workshop.store.read(mail.inbox, "operator")).items
    assert (told.type, told.priority) == ("alert", "urgent")
    assert "covey resume coder" in told.body
    assert workshop.spawned.count("coder") == 7, "six lives, and one look where its log is"
    (loop,) = await workshop.store.read(incidents.open_of, "coder", "crash_loop")
    assert "the disk is on fire" in loop.cause
    deaths = (await workshop.store.read(care.page, agent="coder", kind="process_died")).items
    assert [each.outcome for each in deaths] == ["given_up"], "each death is told in the one story of its coming back"
    assert alive(await workshop.serving("ops"))
    workshop.entries["coder"] = "live"
    node.prod("coder")
    await workshop.serving("coder")

    async def tried_again() -> bool:
        return (await workshop.agent("coder")).failed_at is None

    await until(tried_again)

    async def over() -> bool:
        return (await workshop.store.read(incidents.find, loop.incident_id)).outcome == "resumed"

    await until(over)


@rule("H7")
async def test_a_restart_asked_for_tries_again_what_was_given_up(workshop: Workshop) -> None:
    workshop.entries["coder"] = "crash"
    node = await workshop.open(workshop.group("coder"), policy=RestartPolicy(most=0))

    async def given_up() -> bool:
        return (await workshop.agent("coder")).failed_at is not None

    await until(given_up)
    workshop.entries["coder"] = "live"
    assert node.restart("coder")
    await workshop.serving("coder")
    assert not node.restart("nobody")


@rule("H7a")
async def test_a_restart_that_was_asked_for_counts_as_none(workshop: Workshop) -> None:
    node = await workshop.open(workshop.group("coder", "ops", name="both"), policy=RestartPolicy(most=0))
    for name in ("coder", "ops", "both"):
        before = await workshop.serving("coder")
        assert node.restart(name)
        await workshop.serving("coder", other_than=before)
    assert (await workshop.agent("coder")).failed_at is None


@rule("H1", "H8b")
async def test_a_process_that_is_alive_but_silent_is_ended_and_started_again(workshop: Workshop) -> None:
    await workshop.open(workshop.group("coder"), workshop.group("ops"), ping_s=0.3)
    coder, ops = await workshop.serving("coder"), await workshop.serving("ops")
    os.kill(coder.pid, signal.SIGSTOP)
    await workshop.serving("coder", other_than=coder)
    assert await workshop.serving("ops") == ops

    async def told() -> bool:
        return "agent.hung" in await workshop.kinds("coder")

    await until(told)


@rule("H7a", "H8b")
async def test_a_process_that_is_still_coming_up_is_not_called_hung(workshop: Workshop) -> None:
    workshop.entries["coder"] = "mute"
    node = await workshop.open(workshop.group("coder"), pings=PingCounter(grace_s=3600.0))
    coder = await workshop.serving("coder")
    node._ping_s = 0.05
    for _ in range(6):
        await node.ping_all()
    assert [keeper.pings.missed for keeper in node.keepers()] == [0]
    assert alive(coder)


@rule("H7a", "H8b")
async def test_a_process_that_has_answered_and_then_is_silent_is_hung_however_young_it_is(workshop: Workshop) -> None:
    node = await workshop.open(workshop.group("coder"), pings=PingCounter(grace_s=3600.0))
    coder = await workshop.serving("coder")

    async def has_answered() -> bool:
        return all(keeper.pings.has_answered for keeper in node.keepers())

    await until(has_answered)  # it is asked by itself: no round of pings has been done since it is up
    os.kill(coder.pid, signal.SIGSTOP)
    node._ping_s = 0.05
    for _ in range(6):
        await node.ping_all()
    await workshop.serving("coder", other_than=coder)


@rule("H9")
async def test_a_new_node_adopts_the_processes_of_two_former_ones(workshop: Workshop) -> None:
    groups = [workshop.group(name) for name in ("coder", "ops")]
    first = await workshop.open(groups[0])
    coder = await workshop.serving("coder")
    await workshop.abandon(first)
    second = await workshop.open(*groups)
    ops = await workshop.serving("ops")
    await workshop.abandon(second)
    assert (alive(coder), alive(ops)) == (True, True)
    third = await workshop.open(*groups)
    await until(lambda: _true(all(keeper.identity is not None for keeper in third.keepers())))
    assert {keeper.identity for keeper in third.keepers()} == {coder, ops}
    assert workshop.spawned == ["coder", "ops"]
    os.kill(coder.pid, signal.SIGKILL)
    await workshop.serving("coder", other_than=coder)
    assert await third.stop() == []
    workshop.nodes.remove(third)
    assert not alive(ops)


@rule("H7a", "H9")
async def test_an_adopted_process_is_as_old_as_it_is_not_as_its_new_node(workshop: Workshop) -> None:
    """Else an agent that ran for a month and dies just after its node was started anew counts as one that crashes at once."""
    first = await workshop.open(workshop.group("coder"))
    coder = await workshop.serving("coder")
    (began,) = [keeper.since for keeper in first.keepers()]
    await workshop.abandon(first)
    again = await workshop.open(workshop.group("coder"))
    await until(lambda: _true(all(keeper.identity is not None for keeper in again.keepers())))
    assert [(keeper.identity, keeper.since) for keeper in again.keepers()] == [(coder, began)]
    assert workshop.spawned == ["coder"]


@rule("H9", "A2")
@pytest.mark.parametrize(
    ("names", "edition"),
    [(("coder",), "first"), (("coder", "ops"), "first"), (("coder", "ops", "intel"), "first"), (("coder", "ops", "intel"), "")],
)
async def test_what_is_not_quite_the_process_that_is_wanted_is_ended_and_made_anew(
    workshop: Workshop, names: tuple[str, ...], edition: str
) -> None:
    """Another edition of the settings, a name too few, a name too many: none of them is adopted."""
    first = await workshop.open(workshop.group("coder", "ops", name="two", edition=edition))
    before = await workshop.serving("coder")
    await workshop.abandon(first)
    second = await workshop.open(workshop.group(*names, name="two", edition="second"))
    await workshop.serving("coder", other_than=before)
    assert not alive(before)
    for name in names:
        await workshop.serving(name)
    assert len({keeper.identity for keeper in second.keepers()}) == 1


@rule("H9")
async def test_a_process_whose_edition_is_not_known_is_adopted_as_it_is(workshop: Workshop) -> None:
    """`covey agent NAME`, started by hand."""
    first = await workshop.open(workshop.group("coder", edition=""))
    before = await workshop.serving("coder")
    await workshop.abandon(first)
    await workshop.open(workshop.group("coder", edition="second"))
    await asyncio.sleep(0.2)
    assert await workshop.serving("coder") == before


@rule("A2")
async def test_changed_settings_start_anew_only_those_they_concern(workshop: Workshop) -> None:
    coder, ops, intel = (workshop.group(name) for name in ("coder", "ops", "intel"))
    node = await workshop.open(coder, ops, intel)
    before = {name: await workshop.serving(name) for name in ("coder", "ops", "intel")}
    workshop.groups = [coder, ops._replace(edition="second"), workshop.group("sales")]
    node.arrange()
    await workshop.serving("sales")
    await workshop.serving("ops", other_than=before["ops"])
    await until(lambda: _true(not alive(before["intel"])))
    assert await workshop.serving("coder") == before["coder"]
    assert sorted(keeper.group.name for keeper in node.keepers()) == ["coder", "ops", "sales"]


@rule("A2")
async def test_settings_that_change_while_a_process_is_being_started_are_not_missed(workshop: Workshop) -> None:
    slow = SlowSpawner()
    coder = workshop.group("coder")
    node = await workshop.open(coder, spawner=slow)
    await slow.asked.wait()
    workshop.groups = [coder._replace(edition="second")]
    node.arrange()
    slow.go_on.set()
    await until(lambda: _edition(workshop, "coder", "second"))


@rule("H7a")
async def test_a_restart_asked_for_while_it_is_being_started_is_one_start_and_no_busy_wait(workshop: Workshop) -> None:
    slow = SlowSpawner()
    node = await workshop.open(workshop.group("coder"), spawner=slow)
    await slow.asked.wait()
    node.restart("coder")
    slow.go_on.set()
    await workshop.serving("coder")
    (keeper,) = node.keepers()
    await until(lambda: _true(not keeper._told.is_set()))
    assert workshop.spawned == ["coder"]


@rule("H7a")
async def test_a_node_that_ends_takes_all_its_processes_along_the_deaf_ones_by_force(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LEAVING_S", 0.1)
    workshop.entries["ops"] = "deaf"
    node = await workshop.open(workshop.group("coder"), workshop.group("ops"), grace_s=0.2)
    there = [await workshop.serving(name) for name in ("coder", "ops")]
    workshop.nodes.remove(node)
    assert await node.stop() == []
    assert [alive(each) for each in there] == [False, False]


@rule("H7a")
async def test_a_process_that_is_being_started_while_its_node_ends_is_ended_too(workshop: Workshop) -> None:
    slow = SlowSpawner()
    node = await workshop.open(workshop.group("coder"), spawner=slow)
    await slow.asked.wait()
    workshop.nodes.remove(node)
    stopping = asyncio.create_task(node.stop())
    await asyncio.sleep(0)
    slow.go_on.set()
    assert await stopping == []
    assert workshop.spawned == ["coder"]
    assert [each for each in every_process() if _is_of(each.pid, workshop)] == []


@rule("H7a")
async def test_one_that_was_let_go_is_ended_though_the_node_ends_meanwhile(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LEAVING_S", 0.1)
    workshop.entries["coder"] = "deaf"
    node = await workshop.open(workshop.group("coder"), grace_s=0.2)
    coder = await workshop.serving("coder")
    workshop.groups = []
    node.arrange()
    workshop.nodes.remove(node)
    assert await node.stop() == []
    assert not alive(coder)


@rule("H8b")
async def test_a_store_that_cannot_be_written_holds_up_no_restart_and_the_record_follows(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await workshop.open(workshop.group("coder"))
    first = await workshop.serving("coder")
    await workshop.store.write(
        living.arrive, "coder", node="here", pid=first.pid, start_ticks=first.start_ticks, boot_id=first.boot_id, port=1
    )
    write, may_write = workshop.store.write, asyncio.Event()

    async def unwilling(verb: Any, *args: Any, **more: Any) -> Any:
        if not may_write.is_set():
            raise StoreUnavailable("not now")
        return await write(verb, *args, **more)

    monkeypatch.setattr(workshop.store, "write", unwilling)
    os.kill(first.pid, signal.SIGKILL)
    await workshop.serving("coder", other_than=first)
    await node._beat()
    assert not node.leading
    may_write.set()

    async def recorded() -> bool:
        return "agent.ended" in await workshop.kinds("coder")

    await until(recorded)


@rule("H4")
async def test_twenty_restarts_leave_no_open_file_and_no_zombie(workshop: Workshop) -> None:
    node = await workshop.open(workshop.group("coder"), policy=RestartPolicy(most=100, longest_s=0.0))
    identity = await workshop.serving("coder")
    files = _open_files()
    for _ in range(20):
        os.kill(identity.pid, signal.SIGKILL)
        identity = await workshop.serving("coder", other_than=identity)
    await node._reap()
    await node._reap()
    assert _open_files() <= files
    assert [stat for stat in every_process() if stat.parent == os.getpid() and stat.dead and _is_of(stat.pid, workshop)] == []
    assert [stat.pid for stat in every_process() if stat.parent == os.getpid() and stat.state == "Z"] == []


@rule("H7a")
async def test_who_holds_what_it_must_not_is_ended_if_it_is_one_of_ours(workshop: Workshop) -> None:
    node = await workshop.open(workshop.group("coder"))
    coder = await workshop.serving("coder")
    assert not node.end_holder(os.getpid(), "a stranger to the node")
    assert node.end_holder(coder.pid, "it holds the lock")
    await workshop.serving("coder", other_than=coder)


@rule("A7", "H7")
async def test_resume_leaves_a_process_that_runs_alone(workshop: Workshop) -> None:
    node = await workshop.open(workshop.group("coder"))
    coder = await workshop.serving("coder")
    await workshop.store.write(living.resume, "coder", THE_OPERATOR)
    node.prod("coder")
    await asyncio.sleep(0.1)
    assert await workshop.serving("coder") == coder


async def _true(value: bool) -> bool:
    return value


async def _edition(workshop: Workshop, name: str, edition: str) -> bool:
    found = workshop.marker(name)
    return found is not None and found.edition == edition


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _is_of(pid: int, workshop: Workshop) -> bool:
    """Whether a process was started in the workshop's folder."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == workshop.folder
    except OSError:
        return False


@rule("H8b")
async def test_a_duty_that_fails_says_so_once_and_again_when_it_was_well_between(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    fails = [True, True, True, False, True]

    async def one_round(_: int) -> None:
        if fails.pop(0):
            raise StoreUnavailable("the store is away.")

    node = await workshop.open()
    duty = Duty("sweep", 3600.0, False, one_round)
    with caplog.at_level(logging.WARNING, "covey.node"):
        while fails:
            await node._do(duty)
    assert caplog.text.count("sweep: the store is away.") == 2


@rule("H8b")
async def test_who_is_well_is_asked_every_other_round_and_who_missed_a_ping_each_time(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await workshop.open(workshop.group("coder"), pings=PingCounter(grace_s=0.0, most=100))
    await workshop.serving("coder")
    asked: list[bool] = []
    well = True

    async def answers(*_: object) -> bool:
        asked.append(well)
        return well

    monkeypatch.setattr("covey.nodes.node.answers", answers)
    await node.ping_all()
    await node.ping_all()
    asked.clear()
    for _ in range(6):
        await node.ping_all()
    assert len(asked) == 3
    well = False
    for _ in range(6):
        await node.ping_all()
    assert asked.count(False) in (5, 6)
