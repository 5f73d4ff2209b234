"""Trees that others wrote are taken in, whatever is wrong with them: each fault is told, the rest is taken (S4)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from covey.agents import configuring, roster
from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.base.errors import NotFound
from covey.base.settings import Settings
from covey.contexts import entries
from covey.files import foreign
from covey.files.foreign import Faults, Item
from covey.files.importing import Report, import_tree
from covey.files.ordering import Ordered, in_order
from covey.files.view import View
from covey.messages import handling, sending
from covey.messages import reading as mail
from covey.messages.model import Message, draft
from covey.store import Store
from covey.tasks import adding, working
from covey.tasks import reading as tasks
from covey.tasks.carried import CarriedTask
from covey.tasks.model import Task, TaskDraft
from tests.conftest import ManualClock
from tests.files.rounds import go
from tests.rules import rule

SEED_MESSAGE: dict[str, Any] = {
    "messageId": "msg_12345",
    "from": "chief",
    "to": "coder",
    "type": "task",
    "priority": "urgent",
    "timestamp": 1703275200,
    "content": {
        "subject": "Code review required",
        "body": "Please review the authentication module",
        "data": {},
        "requiresResponse": True,
        "deadline": 1703278800,
    },
    "context": {"threadId": "thread_123", "projectId": "project_a", "relatedTasks": ["task_123"]},
}
SEED_STATE: dict[str, Any] = {
    "agentId": "chief",
    "status": "busy",
    "lastHeartbeat": 1703275200,
    "currentTask": {
        "taskId": "task_123",
        "description": "Review weekly priorities",
        "startTime": 1703271600,
        "estimatedCompletion": 1703275200,
        "priority": "high",
        "assignedBy": "system",
    },
    "taskQueue": [
        {
            "taskId": "task_124",
            "description": "Schedule team sync",
            "priority": "medium",
            "dependencies": ["task_123"],
            "createdBy": "ops",
            "createdAt": 1703271600,
        }
    ],
    "buddyId": "ops",
    "lastBuddyCheck": 1703271600,
    "context": {
        "activeProjects": ["project_a", "project_b"],
        "recentDecisions": ["we go east", {"decision": "no more meetings", "timestamp": 1703271000}],
        "contextSize": 1024,
        "maxContextSize": 8192,
    },
    "metrics": {"tasksCompleted": 15, "averageTaskTime": 300, "lastActiveTime": 1703275200, "stallCount": 2},
}


def write(root: Path, name: str, content: object) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A sound tree in the seeds' words."""
    root = tmp_path / "old"
    write(root, "agent-states/chief.json", SEED_STATE)
    write(root, "communication/messages.json", [SEED_MESSAGE])
    write(
        root,
        "task-queues/global-queue.json",
        [{"taskId": "g1", "description": "anybody's"}, {"taskId": "g2", "description": "anybody's too"}],
    )
    write(root, "task-queues/urgent-queue.json", [{"taskId": "u1", "description": "at once"}])
    write(root, "task-queues/agent-specific/coder-tasks.json", {"tasks": [{"taskId": "c1", "description": "code", "createdAt": 5}]})
    return root


async def messages(store: Store) -> list[Message]:
    return await store.read(mail.latest, 10_000)


async def all_tasks(store: Store) -> dict[str, Task]:
    page = await store.read(tasks.listed, limit=10_000)
    return {task.task_id: task for task in page.items}


def faults(report: Report) -> list[tuple[str, str]]:
    return [(fault.file, fault.place) for fault in report.faults]


def task(ident: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"taskId": ident, "description": f"do {ident}", "dependencies": list(needs), "createdAt": 1703271600, **more}


@rule("S4")
async def test_the_seeds_own_examples_are_taken(fleet: Store, tree: Path) -> None:
    report = await import_tree(fleet, tree)
    assert report.faults == []
    assert report.taken == {"messages": 1, "tasks": 6, "entries": 2, "metrics": 1}
    (message,) = await messages(fleet)
    assert (message.message_id, message.from_, message.receiver, message.sent_at, message.timestamp) == (
        "msg_12345",
        "chief",
        "coder",
        1703275200,
        1703275200,
    )
    assert (message.thread_id, message.context["projectId"]) == ("thread_123", "project_a")
    found = await all_tasks(fleet)
    assert (found["task_123"].agent, found["task_123"].created_by, found["task_123"].estimated_seconds) == ("chief", "system", 3600)
    assert (found["task_124"].state, found["task_124"].dependencies, found["task_124"].created_by) == ("blocked", ["task_123"], "ops")
    assert (found["g1"].queue, found["u1"].queue, found["c1"].queue) == ("global:general", "urgent:general", "coder")
    assert [entry.text for entry in await fleet.read(entries.live, "chief")] == ["no more meetings", "we go east"]
    vitals = await fleet.read(roster.vitals, "chief")
    assert (vitals.tasks_completed, vitals.average_task_s, vitals.stall_count) == (15, 300, 2)


@rule("S4")
async def test_a_second_import_of_a_seeds_tree_changes_nothing(fleet: Store, tree: Path) -> None:
    write(tree, "communication/messages.json", [SEED_MESSAGE, {"from": "chief", "to": "ops", "content": {"body": "no id"}}])
    write(tree, "task-queues/global-queue.json", [{"description": "no id"}])
    await import_tree(fleet, tree)
    before = (await messages(fleet), await all_tasks(fleet), await fleet.read(roster.all_vitals), await fleet.read(entries.live, "chief"))
    report = await import_tree(fleet, tree)
    assert report.taken == {}
    assert (
        await messages(fleet),
        await all_tasks(fleet),
        await fleet.read(roster.all_vitals),
        await fleet.read(entries.live, "chief"),
    ) == before


@rule("S4", "M4b")
async def test_old_mail_that_says_nothing_of_its_state_waits_without_waking(fleet: Store, tree: Path) -> None:
    await import_tree(fleet, tree)
    assert await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=1e12) is None
    digest = await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=0)
    assert digest is not None
    assert digest.main is None
    assert [rider.message_id for rider in digest.riders] == ["msg_12345"]


@rule("S4", "M7")
async def test_a_question_whose_answer_is_still_due_wakes(fleet: Store, tree: Path, clock: ManualClock) -> None:
    content = SEED_MESSAGE["content"] | {"deadline": clock.wall() + 100}
    write(tree, "communication/messages.json", [SEED_MESSAGE | {"content": content}])
    await import_tree(fleet, tree)
    claimed = await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=1e12)
    assert claimed is not None
    assert claimed.main is not None
    assert claimed.main.message_id == "msg_12345"


@rule("S4")
@pytest.mark.parametrize("mark", [{"state": "handled"}, {"read": True}, {"acknowledged": True}, {"state": "expired"}])
async def test_mail_that_was_handled_wakes_nobody(fleet: Store, tree: Path, mark: dict[str, Any]) -> None:
    write(tree, "communication/messages.json", [SEED_MESSAGE | mark])
    await import_tree(fleet, tree)
    assert await fleet.read(mail.unread_count, "coder") == 0
    assert (await messages(fleet))[0].state == mark.get("state", "handled")


@rule("S4", "K2")
async def test_a_seeds_queue_keeps_its_order(fleet: Store, tree: Path) -> None:
    order = ["q3", "q1", "q4", "q2"]
    queue = [task(ident, createdAt=1703271600 - 100_000 * place) for place, ident in enumerate(order)]
    write(tree, "task-queues/agent-specific/intel-tasks.json", queue)
    await import_tree(fleet, tree)
    found = await fleet.read(tasks.queue_of_agent, "intel")
    assert [each.task_id for each in found] == order


@rule("S4", "K3")
async def test_tasks_are_taken_after_those_they_need_wherever_they_stand(fleet: Store, tree: Path) -> None:
    write(tree, "task-queues/urgent-queue.json", [task("a", "b", "c")])
    write(tree, "task-queues/agent-specific/coder-tasks.json", [task("b", "c")])
    write(tree, "task-queues/agent-specific/ops-tasks.json", [task("c")])
    report = await import_tree(fleet, tree)
    assert report.faults == []
    found = await all_tasks(fleet)
    assert {ident: (found[ident].state, found[ident].blockers) for ident in "abc"} == {
        "a": ("blocked", 2),
        "b": ("blocked", 1),
        "c": ("queued", 0),
    }


@rule("S4", "K3")
async def test_a_circle_is_told_and_left_out_with_what_hangs_on_it(fleet: Store, tree: Path) -> None:
    queue = [task("a", "b"), task("b", "c"), task("c", "a"), task("d", "a"), task("e"), task("f", "f")]
    write(tree, "task-queues/agent-specific/coder-tasks.json", queue)
    report = await import_tree(fleet, tree)
    found = await all_tasks(fleet)
    assert "e" in found
    assert not found.keys() & {"a", "b", "c", "d", "f"}
    assert sorted(place for _, place in faults(report)) == ["[0]", "[1]", "[2]", "[3]", "[5]"]


@rule("S4")
async def test_what_is_needed_and_not_there_is_told_and_taken_as_done(fleet: Store, tree: Path) -> None:
    write(tree, "task-queues/agent-specific/coder-tasks.json", [task("a", "long-gone")])
    report = await import_tree(fleet, tree)
    assert (await all_tasks(fleet))["a"].state == "queued"
    (fault,) = report.faults
    assert (fault.place, "long-gone" in fault.what) == ("[0]", True)


@rule("S4")
async def test_unknown_agents_are_told_and_nothing_of_theirs_is_taken(fleet: Store, tree: Path) -> None:
    write(tree, "agent-states/legal.json", SEED_STATE | {"agentId": "legal", "currentTask": None, "taskQueue": []})
    write(tree, "task-queues/agent-specific/legal-tasks.json", [task("l1")])
    write(
        tree,
        "communication/messages.json",
        [SEED_MESSAGE, SEED_MESSAGE | {"messageId": "m2", "to": "legal"}, SEED_MESSAGE | {"messageId": "m3", "to": ["ops", "legal"]}],
    )
    report = await import_tree(fleet, tree)
    assert "l1" not in await all_tasks(fleet)
    assert sorted((message.message_id, message.receiver) for message in await messages(fleet)) == [("m3", "ops"), ("msg_12345", "coder")]
    assert sorted(faults(report)) == [
        ("agent-states/legal.json", "agentId"),
        ("communication/messages.json", "[1].to"),
        ("communication/messages.json", "[2]"),
        ("task-queues/agent-specific/legal-tasks.json", "[0].agent"),
    ]


@rule("S4")
async def test_mail_of_an_unknown_sender_is_taken_and_told(fleet: Store, tree: Path) -> None:
    write(tree, "communication/messages.json", [SEED_MESSAGE | {"from": "alice"}])
    report = await import_tree(fleet, tree)
    assert (await messages(fleet))[0].from_ == "alice"
    assert "alice" in report.faults[0].what


@rule("S4")
async def test_the_whole_entries_of_a_file_that_is_cut_off_are_taken(fleet: Store, tree: Path) -> None:
    whole = json.dumps([SEED_MESSAGE | {"messageId": f"m{number}"} for number in range(3)]).encode()
    write(tree, "communication/messages.json", whole[:-30])
    state = json.dumps(SEED_STATE).encode()
    write(tree, "agent-states/chief.json", state[: state.index(b'"buddyId"') - 5])
    report = await import_tree(fleet, tree)
    assert [message.message_id for message in await messages(fleet)] == ["m0", "m1"]
    assert sorted({file for file, _ in faults(report)}) == ["agent-states/chief.json", "communication/messages.json"]
    assert all("line 1, column" in fault.place for fault in report.faults if "not JSON" in fault.what)


BROKEN: dict[str, tuple[bytes, str]] = {
    "0 bytes": (b"", "empty"),
    "blanks": (b" \n ", "empty"),
    "no JSON": (b"hello", "not JSON"),
    "a number": (b"17", "a number"),
    "an object without a list": (b'{"x": 1}', "an object"),
    "deep": (b"[" * 200_000, "deeply"),
    "deep and whole": (b"[" * 200_000 + b"]" * 200_000, "deeply"),
    "NUL bytes": (b"\0" * 100, "not JSON"),
    "10 MB of nothing": (b" " * 10_000_000 + b"[", "not JSON"),
}


@rule("S4")
@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize(
    "name", ["communication/messages.json", "task-queues/global-queue.json", "task-queues/agent-specific/ops-tasks.json"]
)
async def test_a_broken_file_is_told_and_the_others_are_taken(store: Store, settings: Settings, tree: Path, case: str, name: str) -> None:
    await store.write(configuring.configure, settings)
    content, said = BROKEN[case]
    write(tree, name, content)
    report = await import_tree(store, tree)
    (fault,) = [fault for fault in report.faults if fault.file == name]
    assert said in fault.what
    assert "task_124" in await all_tasks(store)


@rule("S4", "M10")
@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"content": {"body": 7}}, ".content.body"),
        ({"content": {"body": ""}}, ".content.body"),
        ({"content": {"body": "x" * 300_000}}, ".content.body"),
        ({"content": {"body": "a\0b"}}, ""),
        ({"content": None}, ".content"),
        ({"to": 5}, ".to"),
        ({"to": []}, ".to"),
        ({"timestamp": "yesterday"}, ".timestamp"),
        ({"timestamp": float("nan")}, ""),
        ({"priority": "soon"}, ".priority"),
        ({"type": "chat"}, ".type"),
        ({"messageId": "not an id!"}, ".messageId"),
        ({"messageId": 12}, ".messageId"),
        ({"from": "../../etc"}, ".from"),
        ({"state": "odd"}, ".copies[0].state"),
        ({"context": "none"}, ".context"),
    ],
)
async def test_a_message_of_the_wrong_form_is_told_with_its_place(fleet: Store, tree: Path, wrong: dict[str, Any], place: str) -> None:
    write(tree, "communication/messages.json", [SEED_MESSAGE | {"messageId": "bad"} | wrong, SEED_MESSAGE])
    report = await import_tree(fleet, tree)
    assert [message.message_id for message in await messages(fleet)] == ["msg_12345"]
    assert [found for found in faults(report) if found == ("communication/messages.json", f"[0]{place}")] or place == ""
    assert len(report.faults) == 1


@rule("S4")
async def test_broken_text_in_one_message_costs_that_message_only(fleet: Store, tree: Path) -> None:
    raw = json.dumps([SEED_MESSAGE | {"messageId": "bad", "content": {"body": "BROKEN"}}, SEED_MESSAGE]).encode()
    write(tree, "communication/messages.json", raw.replace(b"BROKEN", b"\xff\xfe"))
    report = await import_tree(fleet, tree)
    assert [message.message_id for message in await messages(fleet)] == ["msg_12345"]
    assert faults(report) == [("communication/messages.json", "[0]")]


@rule("S4")
async def test_duplicates_are_told_and_the_first_is_taken(fleet: Store, tree: Path) -> None:
    write(tree, "communication/messages.json", [SEED_MESSAGE, SEED_MESSAGE, SEED_MESSAGE | {"content": {"body": "another"}}])
    write(tree, "task-queues/agent-specific/coder-tasks.json", [task("a"), task("a") | {"description": "another"}])
    write(tree, "task-queues/agent-specific/ops-tasks.json", [task("a") | {"description": "a third"}])
    report = await import_tree(fleet, tree)
    assert (await messages(fleet))[0].body == SEED_MESSAGE["content"]["body"]
    assert (await all_tasks(fleet))["a"].description == "do a"
    assert sorted(faults(report)) == [
        ("communication/messages.json", "[1]"),
        ("communication/messages.json", "[2]"),
        ("task-queues/agent-specific/coder-tasks.json", "[1]"),
        ("task-queues/agent-specific/ops-tasks.json", "[0]"),
    ]


@rule("S4", "T3")
async def test_an_id_that_the_fleet_has_given_to_something_else_is_not_touched(fleet: Store, tree: Path) -> None:
    await fleet.write(sending.send, draft("ops", "here first", message_id="msg_12345"), THE_OPERATOR)
    await fleet.write(adding.add, TaskDraft(description="here first", task_id="g1"), THE_OPERATOR)
    await fleet.write(adding.add, TaskDraft(description="a task", task_id="task_123"), THE_OPERATOR)
    report = await import_tree(fleet, tree)
    assert (await messages(fleet))[0].body == "here first"
    assert (await all_tasks(fleet))["g1"].description == "here first"
    assert report.fault_count == len(report.faults) == 3


@rule("S4")
async def test_links_and_pipes_are_not_read(fleet: Store, tree: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps([SEED_MESSAGE]))
    (tree / "communication/messages.json").unlink()
    (tree / "communication/messages.json").symlink_to(secret)
    (tree / "task-queues/global-queue.json").unlink()
    os.mkfifo(tree / "task-queues/global-queue.json")
    report = await import_tree(fleet, tree)
    assert await messages(fleet) == []
    assert sorted(faults(report)) == [("communication/messages.json", ""), ("task-queues/global-queue.json", "")]


@rule("S4")
async def test_what_is_no_tree_is_an_error(fleet: Store, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    for path in (tmp_path / "nothing", tmp_path / "nowhere"):
        with pytest.raises(NotFound, match="no tree"):
            await import_tree(fleet, path)


@rule("S4")
async def test_odd_states_are_told_and_cost_nothing_else(fleet: Store, tree: Path) -> None:
    write(tree, "agent-states/coder.json", [1, 2])
    write(tree, "agent-states/ops.json", {"agentId": "chief", "context": 5, "metrics": {"tasksCompleted": -1}, "taskQueue": {"x": 1}})
    write(tree, "agent-states/intel.json", {"context": {"recentDecisions": [7, {"text": 8}, "ok"]}, "metrics": {"tasksCompleted": "many"}})
    write(tree, "agent-states/Not A Name.json", {})
    report = await import_tree(fleet, tree)
    assert [entry.text for entry in await fleet.read(entries.live, "intel")] == ["ok"]
    assert sorted(faults(report)) == [
        ("agent-states/Not A Name.json", ""),
        ("agent-states/coder.json", "taskQueue[0]"),
        ("agent-states/coder.json", "taskQueue[1]"),
        ("agent-states/intel.json", "context.recentDecisions[0]"),
        ("agent-states/intel.json", "context.recentDecisions[1].text"),
        ("agent-states/intel.json", "metrics.tasksCompleted"),
        ("agent-states/ops.json", "agentId"),
        ("agent-states/ops.json", "context"),
        ("agent-states/ops.json", "metrics.tasksCompleted"),
    ]


@rule("S4", "S1")
async def test_our_own_view_alone_is_taken_too(fleet: Store, store: Store, settings: Settings, clock: ManualClock, tree: Path) -> None:
    await import_tree(fleet, tree)
    claimed = await fleet.write(working.claim, "chief", "run_1", lease_s=60)
    assert claimed is not None
    await go(fleet, View(fleet, settings, clock))
    before = await all_tasks(fleet)
    report = await import_tree(fleet, Path(settings.shared_dir))
    assert report.faults == []
    assert report.taken == {}
    assert await all_tasks(fleet) == before


@rule("S4")
async def test_faults_are_counted_beyond_those_that_are_kept(fleet: Store, tree: Path) -> None:
    write(tree, "communication/messages.json", [{"x": 1}] * 1500)
    report = await import_tree(fleet, tree)
    assert (len(report.faults), report.fault_count) == (foreign.FAULTS_KEPT, 1500)
    assert msgspec.json.encode(report)


@rule("S4")
async def test_lines_that_are_broken_cost_only_themselves(fleet: Store, tree: Path) -> None:
    good = json.dumps(SEED_MESSAGE | {"messageId": "m1", "copies": [{"receiver": "coder", "state": "delivered"}]})
    lines = ["{", good, "", "17", '{"messageId": "m2"}', "\xff", good.replace("m1", "m3"), good[:50]]
    write(tree, "messages.jsonl", "\n".join(lines).encode("latin-1"))
    report = await import_tree(fleet, tree)
    assert {"m1", "m3"} <= {message.message_id for message in await messages(fleet)}
    assert [place.split(".")[0] for file, place in faults(report) if file == "messages.jsonl"] == [
        "line 1",
        "line 4",
        "line 5",
        "line 6",
        "line 8",
    ]


@rule("S4")
async def test_the_operator_gets_its_notices(fleet: Store, tree: Path) -> None:
    write(tree, "communication/notifications.json", [SEED_MESSAGE | {"messageId": "n1", "to": "operator"}, {"text": "no message at all"}])
    report = await import_tree(fleet, tree)
    assert [message.message_id for message in (await fleet.read(mail.inbox, OPERATOR)).items] == ["n1"]
    assert [place.split(".")[0] for _, place in faults(report)] == ["[1]"]


@rule("S4")
@hypothesis_settings(max_examples=200, deadline=None)
@given(
    raw=st.binary(max_size=200)
    | st.text(max_size=200).map(str.encode)
    | st.recursive(st.none() | st.text(max_size=5), lambda each: st.lists(each, max_size=3)).map(lambda value: json.dumps(value).encode()),
    cut=st.integers(0, 200),
)
def test_no_file_whatever_is_in_it_stops_an_import(tmp_path_factory: pytest.TempPathFactory, raw: bytes, cut: int) -> None:
    root = tmp_path_factory.mktemp("tree")
    (root / "x.json").write_bytes(raw[:cut])
    found = Faults()
    items = foreign.items(root, "x.json", found)
    assert all(isinstance(item.value, dict) for item in items)
    assert list(foreign.lines(root, "x.json", found)) is not None
    assert msgspec.json.encode(found.kept)


GRAPHS = st.lists(st.lists(st.integers(0, 14), max_size=4), max_size=15)


@rule("S4", "K3")
@hypothesis_settings(max_examples=200, deadline=None)
@given(GRAPHS)
def test_each_task_comes_after_those_it_needs_unless_a_circle_is_in_the_way(graph: list[list[int]]) -> None:
    def made(ident: int, needs: list[int]) -> Ordered:
        return Ordered(
            Item("x", "", None), CarriedTask(task_id=str(ident), description="x", dependencies=[str(need) for need in needs]), 0.0
        )

    given_ = [made(ident, needs) for ident, needs in enumerate(graph)]
    ordered, never = in_order(given_)
    assert sorted(each.task.task_id for each in ordered + never) == sorted(each.task.task_id for each in given_)
    seen: set[str] = set()
    for each in ordered:
        assert {need for need in each.task.dependencies if int(need) < len(graph)} <= seen
        seen.add(each.task.task_id)
    circles = {ident for ident in range(len(graph)) if reaches(graph, ident, {ident})}
    for each in never:
        assert reaches(graph, int(each.task.task_id), circles)


def reaches(graph: list[list[int]], start: int, goals: set[int]) -> bool:
    """Whether a task needs one of these, itself or by way of others."""
    line, seen = list(graph[start]), set[int]()
    while line:
        here = line.pop()
        if here in goals:
            return True
        if here not in seen and here < len(graph):
            seen.add(here)
            line.extend(graph[here])
    return False
