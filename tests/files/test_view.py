"""The seeds' JSON tree as a view of the store (S1)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import AgentSettings, Settings
from covey.files import tree
from covey.files import view as viewing
from covey.files.view import View
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.nodes import records
from covey.store import Store, events
from covey.tasks import adding, changing, working
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.files.rounds import files_below, go, told_in_time
from tests.rules import rule

NAMES = [agent.id for agent in EIGHT.agents]
TREE = {
    *(f"agent-states/{name}.json" for name in NAMES),
    *(f"task-queues/agent-specific/{name}-tasks.json" for name in NAMES),
    "task-queues/global-queue.json",
    "task-queues/urgent-queue.json",
    "communication/messages.json",
    "communication/notifications.json",
    "communication/heartbeats.json",
    "system/protocol-state.json",
    "system/buddy-assignments.json",
    "system/health-metrics.json",
}


@pytest.fixture
def shared(settings: Settings) -> Path:
    return Path(settings.shared_dir)


@pytest.fixture
def view(fleet: Store, settings: Settings, clock: ManualClock) -> View:
    return View(fleet, settings, clock)


def block(folder: Path) -> None:
    folder.write_text("I am a file")


def unblock(folder: Path) -> None:
    folder.unlink()


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


@rule("S1")
async def test_one_round_makes_the_whole_tree_of_the_seed(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    assert files_below(shared) == TREE


@rule("S1")
async def test_an_agents_state_has_every_field_of_the_seed(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    state = read(shared / "agent-states/chief.json")
    seed = {"agentId", "status", "lastHeartbeat", "currentTask", "taskQueue", "buddyId", "lastBuddyCheck", "context", "metrics"}
    assert seed <= state.keys()
    assert {"activeProjects", "recentDecisions", "contextSize", "maxContextSize"} <= state["context"].keys()
    assert {"tasksCompleted", "averageTaskTime", "lastActiveTime", "stallCount"} <= state["metrics"].keys()


@rule("S1")
async def test_buddies_stand_as_the_seed_has_them(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    pairs = read(shared / "system/buddy-assignments.json")["buddyPairs"]
    assert pairs == {agent.id: agent.buddy for agent in EIGHT.agents}
    assert pairs["finance"] == "intel"


@rule("S1")
async def test_the_next_round_shows_a_message_and_whom_it_is_for(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    await fleet.write(sending.send, draft("coder", "please review", subject="Review"), THE_OPERATOR)
    await go(fleet, view)
    (message,) = read(shared / "communication/messages.json")
    assert (message["from"], message["to"], message["content"]["body"], message["state"]) == (
        "operator",
        "coder",
        "please review",
        "delivered",
    )
    assert read(shared / "agent-states/coder.json")["unread"] == 1


@rule("S1")
async def test_the_last_messages_are_there_oldest_first(view: View, fleet: Store, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree.LAST_MESSAGES == 1000
    monkeypatch.setattr(tree, "LAST_MESSAGES", 10)
    for number in range(13):
        await fleet.write(sending.send, draft("coder", f"number {number}"), THE_OPERATOR)
    await go(fleet, view)
    bodies = [message["content"]["body"] for message in read(shared / "communication/messages.json")]
    assert bodies == [f"number {number}" for number in range(3, 13)]


@rule("S1")
async def test_the_operators_notices_are_there(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    await fleet.write(sending.send, draft("operator", "all is well"), as_agent("chief"))
    await fleet.write(sending.send, draft("coder", "not for the operator"), as_agent("chief"))
    await go(fleet, view)
    assert [notice["content"]["body"] for notice in read(shared / "communication/notifications.json")] == ["all is well"]


@rule("S1")
async def test_a_tasks_way_through_its_queues_is_shown(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    mine = await fleet.write(adding.add, TaskDraft(description="write it", agent="coder"), THE_OPERATOR)
    anyones = await fleet.write(adding.add, TaskDraft(description="somebody's"), THE_OPERATOR)
    urgent = await fleet.write(adding.add, TaskDraft(description="now", priority="urgent"), THE_OPERATOR)
    await go(fleet, view)
    queues = shared / "task-queues"
    assert [task["taskId"] for task in read(queues / "agent-specific/coder-tasks.json")] == [mine.task_id]
    assert [task["taskId"] for task in read(queues / "global-queue.json")] == [anyones.task_id]
    assert [task["taskId"] for task in read(queues / "urgent-queue.json")] == [urgent.task_id]
    claimed = await fleet.write(working.claim, "coder", "run_1", lease_s=60)
    assert claimed is not None
    await go(fleet, view)
    assert read(queues / "urgent-queue.json") == []
    assert read(shared / "agent-states/coder.json")["currentTask"]["taskId"] == urgent.task_id
    await fleet.write(working.finish, "coder", claimed[1], "done")
    await fleet.write(changing.reassign, mine.task_id, "intel", THE_OPERATOR)
    await go(fleet, view)
    assert read(queues / "agent-specific/coder-tasks.json") == []
    assert [task["taskId"] for task in read(queues / "agent-specific/intel-tasks.json")] == [mine.task_id]
    assert read(shared / "system/protocol-state.json")["tasks"] == {"done": 1, "queued": 2}


@rule("S1", "A8")
async def test_a_heartbeat_is_shown_though_it_writes_no_event(view: View, fleet: Store, shared: Path, clock: ManualClock) -> None:
    await fleet.write(living.arrive, "chief", node="here", pid=7, start_ticks=1, boot_id="b", port=8001)
    await view.round()
    clock.at += 15
    await fleet.write(living.beat, "chief", pid=7)
    before = await fleet.read(events.last)
    await view.round()
    beat = read(shared / "communication/heartbeats.json")["chief"]
    assert beat["lastHeartbeat"] == pytest.approx(clock.wall())
    assert beat["pid"] == 7
    assert read(shared / "agent-states/chief.json")["lastHeartbeat"] == beat["lastHeartbeat"]
    assert await fleet.read(events.last) == before


@rule("S1", "A3")
async def test_an_agent_that_falls_silent_is_shown_as_stalled_without_any_event(
    view: View, fleet: Store, shared: Path, clock: ManualClock
) -> None:
    await fleet.write(living.arrive, "chief", node="here", pid=7, start_ticks=1, boot_id="b", port=8001)
    await go(fleet, view)
    assert read(shared / "agent-states/chief.json")["status"] == "idle"
    view._refresh_due = clock.at + 1000
    for _ in range(61):
        clock.at += 1
        await view.round()
    assert read(shared / "agent-states/chief.json")["status"] == "stalled"
    assert read(shared / "system/protocol-state.json")["agents"] == {"stalled": 8}


@rule("S1")
async def test_who_leads_and_in_which_cycle_is_shown(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    fence = await fleet.write(records.beat, "node-1")
    assert fence is not None
    await fleet.write(records.cycled, fence)
    await go(fleet, view)
    state = read(shared / "system/protocol-state.json")
    assert (state["leader"], state["cycle"]) == ("node-1", 1)
    assert state["version"]


@rule("S1")
async def test_health_has_five_figures_for_each_agent(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    health = read(shared / "system/health-metrics.json")
    assert health.keys() == set(NAMES)
    assert all(len(figures) == 5 for figures in health.values())


@rule("S1")
async def test_a_round_in_which_nothing_happened_writes_nothing(view: View, fleet: Store, shared: Path) -> None:
    await view.round()
    await view.round()
    before = {name: os.lstat(shared / name) for name in TREE}
    news = await fleet.read(events.last)
    await view.round()
    assert {name: os.lstat(shared / name) for name in TREE} == before
    assert await fleet.read(events.last) == news


@rule("S1")
async def test_a_round_asks_the_store_only_if_somebody_has_written(
    view: View, fleet: Store, shared: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fleet.stamp() is None:
        pytest.skip("a server keeps no stamp")
    await fleet.write(living.arrive, "coder", node="here", pid=1, start_ticks=1, boot_id="b", port=8002)
    await go(fleet, view)
    for _ in range(3):  # what was put off is made
        clock.at += 5.0
        await view.round()
    with monkeypatch.context() as patch:
        patch.setattr(fleet, "read", None)
        clock.at += 0.7
        await view.round()
    clock.at += 0.7
    await fleet.write(living.beat, "coder", pid=1)
    await view.round()
    assert read(shared / "communication/heartbeats.json")["coder"]["lastHeartbeat"] == pytest.approx(clock.wall(), abs=0.01), (
        "it writes no event"
    )


@rule("S1")
async def test_what_time_alone_makes_of_an_agent_is_shown_though_nobody_writes(
    view: View, fleet: Store, shared: Path, clock: ManualClock
) -> None:
    await fleet.write(living.arrive, "coder", node="here", pid=1, start_ticks=1, boot_id="b", port=8002)
    await go(fleet, view)
    ended = clock.at + EIGHT.stale_s
    while clock.at <= ended:
        assert read(shared / "agent-states/coder.json")["status"] != "stalled"
        clock.at += 0.7
        await view.round()
    assert read(shared / "agent-states/coder.json")["status"] == "stalled"


@rule("S1")
async def test_a_file_whose_content_stays_is_not_written_again(view: View, fleet: Store, shared: Path, clock: ManualClock) -> None:
    await go(fleet, view)
    before = (shared / "system/buddy-assignments.json").stat().st_ino
    clock.at += viewing.REFRESH_S + 1
    await go(fleet, view)
    assert (shared / "system/buddy-assignments.json").stat().st_ino == before


@rule("S1")
@pytest.mark.parametrize("name", ["communication/messages.json", "agent-states/coder.json", "task-queues/agent-specific/ops-tasks.json"])
async def test_an_edit_from_outside_is_overwritten_and_told_with_the_drop_folder(
    view: View, fleet: Store, shared: Path, settings: Settings, name: str
) -> None:
    await go(fleet, view)
    before = (shared / name).read_bytes()
    (shared / name).write_text('[{"messageId": "msg_mine", "to": "coder", "content": {"body": "do this"}}]')
    await go(fleet, view)
    assert (shared / name).read_bytes() == before
    (event,) = await told_in_time(fleet, "file.edited")
    assert event.data["file"] == str(shared / name)
    assert event.data["drop"] == str(Path(settings.data_dir) / "drop")
    assert event.data["drop"] in event.data["sentence"]


@rule("S1")
async def test_an_edit_that_changes_a_single_byte_in_place_is_noticed(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    path = shared / "agent-states/coder.json"
    before, look = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        file.write(b"[")
    os.utime(path, ns=(look.st_atime_ns, look.st_mtime_ns))
    await go(fleet, view)
    assert path.read_bytes() == before
    assert len(await told_in_time(fleet, "file.edited")) == 1


@rule("S1")
async def test_a_file_that_is_deleted_or_replaced_by_a_link_comes_back(view: View, fleet: Store, shared: Path, tmp_path: Path) -> None:
    await go(fleet, view)
    target = tmp_path / "precious"
    target.write_text("precious")
    (shared / "agent-states/coder.json").unlink()
    (shared / "agent-states/ops.json").unlink()
    (shared / "agent-states/ops.json").symlink_to(target)
    await go(fleet, view)
    assert read(shared / "agent-states/coder.json")["agentId"] == "coder"
    assert not (shared / "agent-states/ops.json").is_symlink()
    assert read(shared / "agent-states/ops.json")["agentId"] == "ops"
    assert target.read_text() == "precious"


@rule("S1")
async def test_touching_a_file_is_no_edit(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    for name in TREE:
        (shared / name).touch()
    await go(fleet, view)
    assert await told_in_time(fleet, "file.edited") == []


@rule("S1")
async def test_touching_a_file_that_is_to_change_anyway_is_no_edit(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    await fleet.write(sending.send, draft("coder", "hello"), THE_OPERATOR)
    (shared / "communication/messages.json").touch()
    await go(fleet, view)
    assert len(read(shared / "communication/messages.json")) == 1
    assert await told_in_time(fleet, "file.edited") == []


@rule("S1")
async def test_two_that_keep_one_tree_for_a_while_do_not_take_each_other_for_intruders(
    fleet: Store, settings: Settings, clock: ManualClock
) -> None:
    one, other = View(fleet, settings, clock), View(fleet, settings, clock)
    for number in range(5):
        await fleet.write(sending.send, draft("coder", f"number {number}"), THE_OPERATOR)
        await go(fleet, one)
        await go(fleet, other)
    assert await told_in_time(fleet, "file.edited") == []


@rule("S1")
async def test_after_a_time_in_which_another_kept_the_tree_nobody_is_taken_for_an_intruder(
    fleet: Store, settings: Settings, clock: ManualClock, shared: Path
) -> None:
    one, other = View(fleet, settings, clock), View(fleet, settings, clock)
    await go(fleet, one)
    clock.at += viewing.PAUSE_S + 1
    await fleet.write(sending.send, draft("coder", "meanwhile"), THE_OPERATOR)
    await go(fleet, other)
    await fleet.write(sending.send, draft("coder", "and now"), THE_OPERATOR)
    await go(fleet, one)
    assert await told_in_time(fleet, "file.edited") == []
    assert len(read(shared / "communication/messages.json")) == 2


@rule("S1")
async def test_what_was_there_before_the_start_is_overwritten_in_silence(
    fleet: Store, settings: Settings, clock: ManualClock, shared: Path
) -> None:
    (shared / "system").mkdir(parents=True)
    (shared / "system/buddy-assignments.json").write_text("{}")
    await go(fleet, View(fleet, settings, clock))
    assert read(shared / "system/buddy-assignments.json")["buddyPairs"]
    assert await told_in_time(fleet, "file.edited") == []


@rule("S1")
async def test_readers_never_see_a_part_of_a_file(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    path = shared / "communication/messages.json"
    with path.open("rb") as held:
        await fleet.write(sending.send, draft("coder", "x" * 10_000), THE_OPERATOR)
        await go(fleet, view)
        assert json.loads(held.read()) == []
    assert len(read(path)) == 1
    assert not [name for name in files_below(shared) if name.endswith(".tmp")]


@rule("S1")
async def test_a_part_left_by_a_killed_process_is_removed(view: View, fleet: Store, shared: Path) -> None:
    (shared / "agent-states").mkdir(parents=True)
    part = shared / "agent-states/.coder.json.123.tmp"
    part.write_text("{")
    os.utime(part, (1, 1))
    await go(fleet, view)
    assert files_below(shared) == TREE


@rule("S1")
async def test_files_are_for_their_owner_and_group_alone(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    for name in TREE:
        assert stat.S_IMODE((shared / name).stat().st_mode) & 0o037 == 0
        assert stat.S_IMODE((shared / name).parent.stat().st_mode) & 0o027 == 0


@rule("S1")
async def test_a_folder_that_vanishes_is_made_again_and_told_once(view: View, fleet: Store, shared: Path) -> None:
    await go(fleet, view)
    for path in (shared / "agent-states").iterdir():
        path.unlink()
    (shared / "agent-states").rmdir()
    await go(fleet, view)
    await go(fleet, view)
    assert files_below(shared) == TREE
    assert [event.subject for event in await told_in_time(fleet, "file.edited")] == ["agent-states"]


@rule("S1")
async def test_a_folder_that_cannot_be_made_is_told_once_and_tried_again(view: View, fleet: Store, shared: Path) -> None:
    block(shared)
    for _ in range(3):
        await go(fleet, view)
    (event,) = await told_in_time(fleet, "view.failed")
    assert str(shared) in event.data["sentence"]
    unblock(shared)
    await go(fleet, view)
    assert files_below(shared) == TREE
    assert len(await told_in_time(fleet, "view.restored")) == 1


@rule("S1")
async def test_one_file_that_cannot_be_written_holds_up_no_other(view: View, fleet: Store, shared: Path) -> None:
    for name in ("communication/messages.json", "agent-states/chief.json"):
        (shared / name).mkdir(parents=True)
    await go(fleet, view)
    await fleet.write(sending.send, draft("coder", "hello"), THE_OPERATOR)
    await go(fleet, view)
    await go(fleet, view)
    assert read(shared / "agent-states/coder.json")["unread"] == 1
    assert len(await told_in_time(fleet, "view.failed")) == 1
    assert await told_in_time(fleet, "view.restored") == []
    (shared / "communication/messages.json").rmdir()
    (shared / "agent-states/chief.json").rmdir()
    await go(fleet, view)
    await go(fleet, view)
    assert len(read(shared / "communication/messages.json")) == 1
    assert len(await told_in_time(fleet, "view.restored")) == 1


@rule("S1")
async def test_a_full_disk_leaves_the_old_files_whole(view: View, fleet: Store, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await go(fleet, view)
    before = (shared / "communication/messages.json").read_bytes()
    await fleet.write(sending.send, draft("coder", "hello"), THE_OPERATOR)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("covey.files.whole.os.write", full)
        for _ in range(3):
            await go(fleet, view)
    assert (shared / "communication/messages.json").read_bytes() == before
    (event,) = await told_in_time(fleet, "view.failed")
    assert "No space left" in event.data["sentence"]
    await go(fleet, view)
    assert len(read(shared / "communication/messages.json")) == 1
    assert files_below(shared) == TREE


@rule("S1", "A2")
async def test_an_agent_that_joins_gets_its_files_and_one_that_leaves_loses_them(
    view: View, fleet: Store, shared: Path, settings: Settings
) -> None:
    await go(fleet, view)
    (shared / "agent-states/notes.json").write_text("somebody's own file")
    newcomer = AgentSettings(id="legal", port=8009)
    changed = msgspec.structs.replace(settings, agents=(*settings.agents[1:], newcomer), lead="ops")
    await fleet.write(configuring.configure, changed)
    await go(fleet, view)
    names = files_below(shared)
    assert "agent-states/legal.json" in names
    assert "task-queues/agent-specific/legal-tasks.json" in names
    assert "agent-states/chief.json" not in names
    assert "task-queues/agent-specific/chief-tasks.json" not in names
    assert (shared / "agent-states/notes.json").read_text() == "somebody's own file"


@rule("S1")
async def test_files_of_an_agent_removed_while_nobody_looked_go_at_the_next_start(
    view: View, fleet: Store, shared: Path, settings: Settings, clock: ManualClock
) -> None:
    await go(fleet, view)
    await fleet.write(configuring.configure, msgspec.structs.replace(settings, agents=settings.agents[1:], lead="ops"))
    await go(fleet, View(fleet, settings, clock))
    assert "agent-states/chief.json" not in files_below(shared)


@rule("S1")
async def test_more_news_than_a_round_reads_is_shown_all_the_same(
    view: View, fleet: Store, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await go(fleet, view)
    monkeypatch.setattr(viewing, "EVENTS_A_ROUND", 5)
    for name in NAMES[1:]:
        await fleet.write(sending.send, draft(name, "hello"), THE_OPERATOR)
    await go(fleet, view)
    assert [read(shared / f"agent-states/{name}.json")["unread"] for name in NAMES[1:]] == [1] * 7


@rule("S1", "M4a")
async def test_what_becomes_of_a_message_is_shown(view: View, fleet: Store, shared: Path) -> None:
    await fleet.write(sending.send, draft("coder", "hello"), THE_OPERATOR)
    await go(fleet, view)
    claimed = await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=0)
    assert claimed is not None
    await go(fleet, view)
    assert read(shared / "communication/messages.json")[0]["state"] == "seen"
    await fleet.write(handling.close, "coder", claimed.token)
    await go(fleet, view)
    assert read(shared / "communication/messages.json")[0]["state"] == "handled"


@rule("S1", "M5")
async def test_mail_of_a_paused_agent_shows_as_held(view: View, fleet: Store, shared: Path) -> None:
    await fleet.write(sending.send, draft("coder", "hello"), THE_OPERATOR)
    await go(fleet, view)
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    await go(fleet, view)
    assert read(shared / "communication/messages.json")[0]["state"] == "held"
    assert read(shared / "agent-states/coder.json")["flags"]["paused"] is True
