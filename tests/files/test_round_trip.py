"""All there is written out, and taken in again by an empty fleet: nothing that is open is lost, nothing is done twice (S4)."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living, roster
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict, Failed
from covey.base.settings import BrainSettings
from covey.contexts import carrying as carried_entries
from covey.contexts import checkpoints, entries
from covey.files import exporting, histories
from covey.files.exporting import export_tree
from covey.files.importing import import_tree
from covey.healing import incidents
from covey.links import carrying as carried_links
from covey.links.model import LinkChange
from covey.messages import carried as carried_mail
from covey.messages import handling, indexing, relinking, sending, waiting
from covey.messages import reading as mail
from covey.messages.model import Message, draft
from covey.store import Store, events
from covey.tasks import adding, changing, runs, working
from covey.tasks import carried as carried_tasks
from covey.tasks import reading as tasks
from covey.tasks.model import Task, TaskDraft
from covey.teams.handoffs import offering
from covey.teams.handoffs.model import HandoffDraft
from covey.teams.runs import starting
from covey.teams.runs.model import TeamDraft
from covey.teams.votes import casting, opening
from covey.teams.votes.model import VoteDraft
from tests import postgres as server
from tests.conftest import EIGHT, Database, ManualClock, opened
from tests.files.rounds import files_below
from tests.rules import rule


@pytest.fixture
async def empty(request: pytest.FixtureRequest, database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Store]:
    """A second fleet, of the same agents and the same kind of database, in which nothing has happened."""
    with ExitStack() as stack:
        url = ""
        if database.kind == "postgres":
            databases: server.Databases = request.getfixturevalue("postgres")
            url = stack.enter_context(databases.fresh())
        folder = tmp_path / "second"
        folder.mkdir()
        async with opened(Database(database.kind, url, folder / "store.db"), folder, clock) as store:
            await store.write(configuring.configure, EIGHT)
            yield store


async def live_a_little(fleet: Store, clock: ManualClock) -> dict[str, str]:
    """A fleet in the midst of its work; the names of what is of interest, with their ids."""
    ids: dict[str, str] = {}

    async def send(name: str, to: Any, body: str, by: str = "", **more: Any) -> None:
        clock.at += 1
        receipt = await fleet.write(sending.send, draft(to, body, **more), as_agent(by) if by else THE_OPERATOR)
        ids[name] = receipt.message_id

    async def add(name: str, by: str = "", **fields: Any) -> Task:
        clock.at += 1
        task = await fleet.write(adding.add, TaskDraft(description=name, **fields), as_agent(by) if by else THE_OPERATOR)
        ids[name] = task.task_id
        return task

    async def claim(agent: str) -> tuple[Task, str]:
        claimed = await fleet.write(working.claim, agent, "run_1", lease_s=60)
        assert claimed is not None
        return claimed

    await send("handled", "coder", "do it at once", priority="urgent", data={"a": [1, {"b": None}]})
    handled = await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=0)
    assert handled is not None
    await fleet.write(handling.close, "coder", handled.token)
    await send("quiet", "coder", "for your information", by="chief")
    await send("urgent", "coder", "now!", by="chief", priority="urgent", subject="Ünïcode ✓")
    await send("broadcast", "*", "to all", by="chief")
    await send("question", "intel", "what is the market?", by="coder", requires_response=True, deadline=clock.wall() + 500)
    await send("answered", "finance", "how much?", by="coder", requires_response=True)
    await send("answer", None, "a lot", by="finance", in_reply_to=ids["answered"])
    await send("leased", "ops", "in your hands")
    assert await fleet.write(handling.claim, "ops", "run_1", lease_s=60, digest_s=0) is not None
    await send("dead", "comms", "nobody can do this")
    for _ in range(5):
        clock.at += 100
        dying = await fleet.write(handling.claim, "comms", "run_1", lease_s=60, digest_s=1e9)
        assert dying is not None
        await fleet.write(handling.failed, "comms", dying.token, "it can't be done")
    await send("to the operator", "operator", "all is well", by="chief")

    await add("done", agent="sales", priority="urgent")
    _, token = await claim("sales")
    await fleet.write(working.finish, "sales", token, "sold", {"n": 1})
    await add("failed", agent="sales", priority="urgent", max_attempts=1)
    _, token = await claim("sales")
    await fleet.write(working.fail, "sales", token, "no luck")
    await add("running", agent="devops")
    await claim("devops")
    await add("queued", agent="devops", priority="low", data={"x": "y"}, dedupe_key="only-one", estimated_seconds=60)
    await add("blocked", agent="devops", dependencies=[ids["running"], ids["done"]])
    await add("anyones", capability="research", by="chief")
    await add("urgent one", priority="urgent", agent="chief")
    await add("wants approval", agent="coder", approval=True)
    await add("cancelled", agent="coder")
    await fleet.write(changing.cancel, ids["cancelled"], THE_OPERATOR)
    await add("parent", agent="finance", priority="urgent")
    _, token = await claim("finance")
    parts = await fleet.write(
        working.split, "finance", token, [TaskDraft(description="part 1"), TaskDraft(description="part 2", agent="intel")]
    )
    ids |= {part.description: part.task_id for part in parts}
    await add("waits for an answer", agent="coder", priority="urgent")
    _, token = await claim("coder")
    await fleet.write(working.wait_for_answer, "coder", token, ids["question"])

    await fleet.write(entries.remember, "chief", "decision", "we go east")
    await fleet.write(entries.remember, "chief", "note", "x" * 60_000)
    await fleet.write(runs.open_run, "run_2", item=ids["running"], kind="task", agent="devops", node="here", attempt=1)
    await fleet.write(living.pause, "ops", THE_OPERATOR)
    return ids


def as_carried(message: Message) -> dict[str, Any]:
    """What must be the same after a move: all but leases, which end."""
    state = "delivered" if message.state in ("seen", "held") else message.state
    return {
        "to": message.to, "from": message.from_, "content": message.content, "context": message.context, "type": message.type, "priority": message.priority,
        "timestamp": message.timestamp, "inReplyTo": message.in_reply_to, "visited": message.visited, "receiver": message.receiver, "state": state,
        "reason": message.reason, "answeredBy": message.answered_by, "handledAt": message.handled_at,
    }  # fmt: skip


def task_as_carried(task: Task) -> dict[str, Any]:
    """The same of a task."""
    state = "queued" if task.state == "running" else task.state
    return {
        "description": task.description, "state": state, "priority": task.priority, "queue": task.queue, "dependencies": sorted(task.dependencies),
        "createdBy": task.created_by, "createdAt": task.created_at, "agent": task.agent, "capability": task.capability, "origin": task.origin,
        "estimatedSeconds": task.estimated_seconds, "parentId": task.parent_id, "dedupeKey": task.dedupe_key, "approval": task.approval,
        "blockers": task.blockers, "waitingFor": task.waiting_for, "result": task.result, "error": task.error, "data": task.data,
        "attempts": task.attempts - (task.state == "running"), "maxAttempts": task.max_attempts,
    }  # fmt: skip


async def all_mail(store: Store) -> dict[tuple[str, str | None], dict[str, Any]]:
    found = await store.read(mail.latest, 100_000)
    return {(message.message_id, message.receiver): as_carried(message) for message in found}


async def all_tasks(store: Store) -> dict[str, dict[str, Any]]:
    page = await store.read(tasks.listed, limit=100_000)
    return {task.task_id: task_as_carried(task) for task in page.items}


@rule("S4")
async def test_an_export_taken_in_by_an_empty_fleet_is_the_same_fleet(
    fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path
) -> None:
    ids = await live_a_little(fleet, clock)
    counts = await export_tree(fleet, tmp_path / "out")
    report = await import_tree(empty, tmp_path / "out")
    assert report.faults == []
    assert await all_mail(empty) == await all_mail(fleet)
    assert await all_tasks(empty) == await all_tasks(fleet)
    assert report.taken["messages"] == counts["messages"]
    assert report.taken["tasks"] == counts["tasks"] == len(await all_tasks(fleet))
    for name in ("chief", "coder"):
        assert await empty.read(entries.live, name) == await fleet.read(entries.live, name)
    assert (await empty.read(roster.vitals, "sales")).tasks_completed == 1
    assert (await empty.read(waiting.open_waits, "coder"))[0].message_id == ids["question"]


@rule("S4", "L1")
async def test_links_go_along_with_their_limits_and_what_is_left_of_them(
    fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path
) -> None:
    for each in (fleet, empty):
        await each.write(configuring.configure, msgspec.structs.replace(EIGHT, limits="on"))
    await fleet.write(relinking.change, "coder", "ops", LinkChange(messages_per_window=2, window_hours=3), THE_OPERATOR)
    await fleet.write(relinking.remove, "sales", "comms", THE_OPERATOR)
    await fleet.write(relinking.disable, "finance", "intel", THE_OPERATOR)
    for receiver in ("ops", "devops"):
        await fleet.write(sending.send, draft(receiver, "the build is green"), as_agent("coder"))
    before = (await fleet.read(carried_links.page)).items
    assert {(link.one, link.other): (link.implied, link.removed_at is None) for link in before} == {
        ("coder", "ops"): (False, True),
        ("comms", "sales"): (False, False),
        ("finance", "intel"): (False, True),
        ("coder", "devops"): (True, True),
    }
    assert next(link for link in before if link.other == "ops").directions["coder"].credits == 1
    await export_tree(fleet, tmp_path / "out")
    report = await import_tree(empty, tmp_path / "out")
    assert (report.faults, report.taken["links"]) == ([], 4)
    assert (await empty.read(carried_links.page)).items == before
    again = await import_tree(empty, tmp_path / "out")
    assert (again.faults, again.taken, again.known["links"]) == ([], {}, 4)


@rule("S4")
async def test_a_link_with_a_fault_is_told_and_the_others_are_taken(empty: Store, tmp_path: Path) -> None:
    sound = {"one": "coder", "other": "ops", "messages": 7, "hours": 6, "debounceS": 5, "createdAt": 1, "createdBy": "operator"}
    lines = [sound | {"messages": 501}, sound | {"one": "ops", "other": "coder"}, sound | {"other": "zorro"}, sound]
    (tmp_path / "links.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = await import_tree(empty, tmp_path)
    assert report.taken == {"links": 1}
    assert [fault.place for fault in report.faults] == ["line 1.messagesPerWindow", "line 2.one", "line 3.other"]
    assert (await empty.read(carried_links.page)).items[0].messages == 7


@rule("S4")
async def test_a_second_import_changes_nothing(fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path) -> None:
    await live_a_little(fleet, clock)
    await export_tree(fleet, tmp_path / "out")
    first = await import_tree(empty, tmp_path / "out")
    before = (await all_mail(empty), await all_tasks(empty), await empty.read(entries.live, "chief"), await empty.read(roster.all_vitals))
    second = await import_tree(empty, tmp_path / "out")
    after = (await all_mail(empty), await all_tasks(empty), await empty.read(entries.live, "chief"), await empty.read(roster.all_vitals))
    assert after == before
    assert second.taken == {}
    assert second.faults == []
    assert second.known["messages"] >= first.taken["messages"]


@rule("S4")
async def test_a_fleet_may_take_in_its_own_export(fleet: Store, clock: ManualClock, tmp_path: Path) -> None:
    await live_a_little(fleet, clock)
    before = (await all_mail(fleet), await all_tasks(fleet))
    await export_tree(fleet, tmp_path / "out")
    report = await import_tree(fleet, tmp_path / "out")
    assert report.taken == {}
    assert report.faults == []
    assert (await all_mail(fleet), await all_tasks(fleet)) == before


@rule("S4", "M4", "K2")
async def test_the_moved_fleet_goes_on_where_the_old_one_stood(fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path) -> None:
    ids = await live_a_little(fleet, clock)
    await export_tree(fleet, tmp_path / "out")
    await import_tree(empty, tmp_path / "out")
    urgent = await empty.write(handling.claim, "coder", "run_9", lease_s=60, digest_s=1e9)
    assert urgent is not None
    assert urgent.main is not None
    assert urgent.main.message_id == ids["urgent"]
    claimed = await empty.write(working.claim, "devops", "run_9", lease_s=60)
    assert claimed is not None
    assert claimed[0].task_id == ids["running"]
    assert claimed[0].attempts == 1
    await empty.write(working.finish, "devops", claimed[1], "done at last")
    assert (await empty.read(tasks.show, ids["blocked"])).state == "queued"
    order = []
    while (found := await empty.write(working.claim, "intel", "run_9", lease_s=60)) is not None:
        order.append(found[0].task_id)
        await empty.write(working.finish, "intel", found[1], found[0].description)
    assert order == [ids["anyones"], ids["part 1"], ids["part 2"]]
    assert (await empty.read(tasks.show, ids["parent"])).state == "done"


@rule("S4", "M7")
async def test_a_task_that_waits_for_an_answer_is_woken_after_the_move_too(
    fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path
) -> None:
    ids = await live_a_little(fleet, clock)
    await export_tree(fleet, tmp_path / "out")
    await import_tree(empty, tmp_path / "out")
    assert (await empty.read(tasks.show, ids["waits for an answer"])).state == "blocked"
    clock.at += 1000
    (given_up,) = [each for each in await empty.write(waiting.give_up_due) if each.message_id == ids["question"]]
    assert given_up.asker == "coder"
    assert await empty.write(working.answer_came, "coder", ids["question"]) == [ids["waits for an answer"]]


@rule("S4", "T3")
async def test_a_known_id_answers_with_its_receipt_after_the_move(fleet: Store, empty: Store, tmp_path: Path) -> None:
    message = draft("coder", "once", message_id="mine-1", requires_response=True)
    task = TaskDraft(description="once", task_id="mine-2")
    await fleet.write(sending.send, message, THE_OPERATOR)
    await fleet.write(adding.add, task, THE_OPERATOR)
    await export_tree(fleet, tmp_path / "out")
    await import_tree(empty, tmp_path / "out")
    receipt = await empty.write(sending.send, message, THE_OPERATOR)
    again = await empty.write(adding.add, task, THE_OPERATOR)
    assert (receipt.known, receipt.differs) == (True, False)
    assert (again.known, again.differs) == (True, False)


@rule("S4", "M13")
async def test_imported_mail_is_found_by_a_search(fleet: Store, empty: Store, tmp_path: Path) -> None:
    await fleet.write(sending.send, draft("coder", "a needle in the hay"), THE_OPERATOR)
    await export_tree(fleet, tmp_path / "out")
    await import_tree(empty, tmp_path / "out")
    for _ in range(500):
        await empty.write(indexing.index_new)
        if await empty.read(mail.search, "needle"):
            return
    pytest.fail("it is not found")


@rule("S4", "S1")
async def test_an_export_has_the_seeds_tree_and_the_whole_history(fleet: Store, clock: ManualClock, tmp_path: Path) -> None:
    await live_a_little(fleet, clock)
    seen: dict[str, tuple[int, int]] = {}
    counts = await export_tree(fleet, tmp_path / "out", lambda what, done, total: seen.update({what: (done, total)}))
    names = files_below(tmp_path / "out")
    lines = {"messages.jsonl", "tasks.jsonl", "events.jsonl", "contexts.jsonl", "runs.jsonl"}
    assert names >= lines | {
        "agents.json",
        "export.json",
        "agent-states/chief.json",
        "communication/messages.json",
        "system/protocol-state.json",
    }
    for name in lines:
        found = [json.loads(line) for line in (tmp_path / "out" / name).read_text().splitlines()]
        assert found
        assert len(found) == counts[name.removesuffix(".jsonl").replace("contexts", "entries")]
    assert len((tmp_path / "out/runs.jsonl").read_text().splitlines()) == 1
    assert set(seen) == {"links", "messages", "tasks", "entries", "runs", "events", "files"}
    assert all(seen[what] == (counts[what], counts[what]) for what in seen), "how much there is was known before"
    assert json.loads((tmp_path / "out/export.json").read_bytes())["counts"] == counts


@rule("S4")
async def test_an_export_has_what_befell_the_fleet_and_what_it_decided(
    fleet: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(histories, "PAGE", 1)
    able = BrainSettings(kind="python", target="there:brain")
    agents = tuple(msgspec.structs.replace(each, brain=able) for each in EIGHT.agents)
    await fleet.write(configuring.configure, msgspec.structs.replace(EIGHT, agents=agents))
    told = [await fleet.write(incidents.open_incident, "coder", "crash", f"cause {n}", subject=str(n)) for n in range(3)]
    vote = await fleet.write(opening.open_vote, VoteDraft(topic="Which?", voters=["coder", "sales"], options=["a", "b"]), THE_OPERATOR)
    await fleet.write(casting.cast, vote.vote_id, as_agent("coder"), "a", 1.0)
    task = await fleet.write(adding.add, TaskDraft(description="hand me over", agent="coder"), THE_OPERATOR)
    offer = await fleet.write(offering.offer, HandoffDraft(task_id=task.task_id, to="sales"), as_agent("coder"))
    run = await fleet.write(starting.start, TeamDraft(goal="a goal", workers=["intel", "comms"]), THE_OPERATOR)
    await fleet.write(checkpoints.save, "intel", item="m1", outcome="done", summary="all is well")
    counts = await export_tree(fleet, tmp_path / "out")

    def lines(what: str) -> list[Any]:
        found = [json.loads(line) for line in (tmp_path / "out" / f"{what}.jsonl").read_text().splitlines()]
        assert counts[what] == len(found)
        return found

    assert [each["incidentId"] for each in lines("incidents")] == told[::-1]
    (written,) = lines("votes")
    assert written["voteId"] == vote.vote_id
    assert not written["ballots"], "they are secret until it closes, in an export too"
    assert [each["handoffId"] for each in lines("handoffs")] == [offer.handoff_id]
    (team,) = lines("teams")
    assert team["teamId"] == run.team_id
    assert team["results"]
    stood = json.loads((tmp_path / "out/standing.json").read_bytes())
    assert stood["checkpoints"]["intel"]["summary"] == "all is well"
    assert stood["budgets"]["tasks"]["limit"] == 24
    assert len(stood["buddies"]) == 8


@rule("S4")
async def test_an_export_is_for_its_owner_alone(fleet: Store, tmp_path: Path) -> None:
    await export_tree(fleet, tmp_path / "out")
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@rule("S4")
async def test_an_export_never_overwrites(fleet: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/precious").write_text("precious")
    with pytest.raises(Conflict):
        await export_tree(fleet, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"precious"}
    (tmp_path / "empty").mkdir()
    await export_tree(fleet, tmp_path / "empty")
    assert "messages.jsonl" in files_below(tmp_path / "empty")


@rule("S4")
async def test_an_export_that_fails_leaves_nothing(fleet: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "in").mkdir()
    monkeypatch.setattr(exporting, "_put", full)
    with pytest.raises(Failed, match="No space left"):
        await export_tree(fleet, tmp_path / "in/out")
    assert files_below(tmp_path / "in") == set()


@rule("S4")
async def test_pages_of_one_are_the_same_export(
    fleet: Store, empty: Store, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await live_a_little(fleet, clock)
    await export_tree(fleet, tmp_path / "whole")

    def small(read: Any) -> Any:
        async def call(verb: Any, *args: Any, **kwargs: Any) -> Any:
            bounded = {"limit": 1} if verb in (carried_mail.page, carried_tasks.page, carried_entries.page, carried_tasks.runs) else {}
            return await read(verb, *args, **(kwargs | bounded))

        return call

    monkeypatch.setattr(fleet, "read", small(fleet.read))
    await export_tree(fleet, tmp_path / "paged")
    for name in ("messages.jsonl", "tasks.jsonl", "contexts.jsonl", "runs.jsonl"):
        assert (tmp_path / "paged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@rule("S4")
async def test_events_are_all_written(fleet: Store, clock: ManualClock, tmp_path: Path) -> None:
    await live_a_little(fleet, clock)
    page = await fleet.read(events.after, events.START, limit=100_000)
    await export_tree(fleet, tmp_path / "out")
    found = [json.loads(line) for line in (tmp_path / "out/events.jsonl").read_text().splitlines()]
    assert [each["kind"] for each in found][: len(page.events)] == [event.kind for event in page.events]
