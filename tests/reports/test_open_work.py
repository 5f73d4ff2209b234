"""The open tasks: what goes first, what is in whose way, how long the longest chain takes. Pure rules and the verbs over them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents import configuring, living
from covey.agents.configuring import Project
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import AgentSettings, ProjectSettings, Settings
from covey.messages.model import TASK_LEVEL_S, order_of
from covey.reports import conflicts, open_work, timelines, work
from covey.reports.open_work import OpenTask
from covey.store import Store
from covey.tasks import adding, changing, working
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.reports.acting import add, awake, take
from tests.rules import rule

NOW = 1_800_000_000.0


def task(ident: str, *needs: str, **given: Any) -> OpenTask:
    """An open task, queued or blocked by what it needs, unless told."""
    priority = given.get("priority", "medium")
    created = given.setdefault("created_at", NOW - 100)
    not_urgent, sort_key = order_of(priority, created, TASK_LEVEL_S)
    plain: dict[str, Any] = {
        "description": f"do {ident}",
        "state": "blocked" if needs else "queued",
        "queue": "coder",
        "agent": "coder",
        "holder": None,
        "capability": None,
        "priority": priority,
        "not_urgent": not_urgent,
        "sort_key": sort_key,
        "seq": sum(ident.encode()),
        "not_before": created,
        "project_id": None,
        "origin": "operator",
        "created_by": "operator",
        "deadline": None,
        "claimed_at": None,
        "started_at": None,
        "estimated_s": 60.0,
        "attempts": 0,
        "approval": None,
        "waiting_for": None,
        "parent_id": None,
    }
    return OpenTask(id=ident, needs=needs, **plain | given)


def running(ident: str, holder: str, **given: Any) -> OpenTask:
    return task(ident, state="running", holder=holder, agent=holder, queue=holder, claimed_at=NOW - 30, started_at=NOW - 30, **given)


def order(tasks: list[OpenTask]) -> list[str]:
    return [each.task.id for each in open_work.ranked(tasks, NOW)]


def test_urgent_goes_first_then_what_is_short_of_time_then_the_queues_own_order() -> None:
    low, high = task("low", priority="low"), task("high", priority="high")
    short = task("short", deadline=NOW + 30)
    urgent = task("urgent", priority="urgent")
    assert order([low, high, short, urgent]) == ["urgent", "short", "high", "low"]


def test_a_task_counts_as_pressing_as_what_waits_for_it() -> None:
    base, middle = task("base", priority="low"), task("middle", "base", priority="low")
    top, other = task("top", "middle", priority="urgent"), task("other", priority="high")
    assert order([other, top, middle, base]) == ["base", "middle", "top", "other"]
    lent = {each.task.id: each for each in open_work.ranked([other, base, middle, top], NOW)}
    assert lent["base"].lent_by == top
    assert lent["base"].waiters == 2
    assert list(open_work.raises([other, base, middle, top])) == [(base, "urgent"), (middle, "urgent")]


def test_running_tasks_are_not_ranked() -> None:
    assert order([running("a", "coder"), task("b")]) == ["b"]


def found(tasks: list[OpenTask], projects: tuple[Project, ...] = ()) -> list[tuple[str, list[str]]]:
    return [(each["kind"], sorted(each["tasks"])) for each in conflicts.find_conflicts(tasks, [], projects, NOW)]


def test_two_agents_in_one_project_or_in_one_path_are_a_conflict() -> None:
    tasks = [running("a", "coder", project_id="site"), running("b", "devops", project_id="site")]
    assert found(tasks) == [("same place", ["a", "b"])]
    nested = [running("a", "coder", project_id="site"), running("b", "devops", project_id="docs")]
    assert found(nested) == []
    assert found(nested, (Project("site", "/srv/site", ()), Project("docs", "/srv/site/docs", ()))) == [("same place", ["a", "b"])]
    assert found([running("a", "coder", project_id="site"), running("b", "devops", project_id="site2")]) == []
    one = [running("a", "coder", project_id="site"), running("b", "coder", project_id="site")]
    assert found(one) == [("several at once", ["a", "b"])]


def test_late_work_is_a_conflict() -> None:
    over = running("over", "coder", estimated_s=20.0)
    assert found([over]) == [("over its estimate", ["over"])]
    assert found([running("fine", "coder", estimated_s=40.0)]) == []
    assert ("short of time", ["due"]) in found([task("due", deadline=NOW + 30)])


@rule("A1a")
async def test_uneven_queues_and_queues_that_nobody_can_serve_are_conflicts(fleet: Store) -> None:
    await awake(fleet)
    for number in range(6):
        await add(fleet, f"step {number}", "coder")
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    kinds = {each["kind"]: each for each in await fleet.read(conflicts.conflicts)}
    assert kinds["uneven queues"]["agents"] == ["coder"]
    assert "6 tasks wait for coder; the median of the other agents is 0." in kinds["uneven queues"]["what"]
    assert "coder is paused" in kinds["nobody able"]["what"]
    assert len(kinds["nobody able"]["tasks"]) == 6


def path(tasks: list[OpenTask], project: str = "site") -> list[str]:
    return [each["taskId"] for each in timelines.timeline(project, tasks, NOW)["criticalPath"]]


def test_the_critical_path_is_the_longest_chain_by_what_is_left() -> None:
    tasks = [
        task("a", project_id="site", estimated_s=100.0),
        task("b", "a", project_id="site", estimated_s=10.0),
        task("c", project_id="other", estimated_s=500.0),
        task("d", "b", "c", project_id="site", estimated_s=5.0),
    ]
    assert path(tasks) == ["c", "d"]
    whole = timelines.timeline("site", tasks, NOW)
    assert (whole["open"], whole["secondsLeft"], whole["pathSeconds"], whole["earliestEnd"]) == (3, 115.0, 505.0, NOW + 505.0)
    assert path([running("r", "coder", project_id="site", estimated_s=100.0)]) == ["r"]
    assert timelines.timeline("site", [running("r", "coder", project_id="site", estimated_s=100.0)], NOW)["pathSeconds"] == 70.0
    assert timelines.timeline("site", [], NOW)["earliestEnd"] is None


@given(st.data())
def test_what_is_needed_is_ranked_before_what_needs_it(data: st.DataObject) -> None:
    tasks = [
        task(
            f"t{index}",
            *[f"t{need}" for need in data.draw(st.sets(st.integers(0, index - 1)) if index else st.just(set()))],
            priority=data.draw(st.sampled_from(open_work.LEVELS)),
            created_at=NOW - data.draw(st.integers(0, 90_000)),
            deadline=data.draw(st.none() | st.just(NOW + 10)),
        )
        for index in range(data.draw(st.integers(1, 9)))
    ]
    places = {ident: place for place, ident in enumerate(order(tasks))}
    assert all(places[need] < places[each.id] for each in tasks for need in each.needs)


@given(st.data())
def test_a_critical_path_is_a_chain_and_no_chain_is_longer(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 9))
    tasks: list[OpenTask] = []
    for index in range(number):
        needs = data.draw(st.sets(st.integers(0, index - 1)) if index else st.just(set()))
        tasks.append(
            task(f"t{index}", *[f"t{need}" for need in sorted(needs)], project_id="site", estimated_s=float(data.draw(st.integers(1, 50))))
        )
    chain = timelines.critical_path(tasks, tasks, NOW)
    assert all(before.id in after.needs for before, after in pairwise(chain))
    by_id = {each.id: each for each in tasks}

    def longest(ident: str) -> float:
        return by_id[ident].estimated_s + max((longest(need) for need in by_id[ident].needs), default=0.0)

    assert sum(each.estimated_s for each in chain) == max(longest(each.id) for each in tasks)


@given(st.lists(st.tuples(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=4)), max_size=8))
def test_even_a_circle_has_an_end(edges: list[tuple[int, set[int]]]) -> None:
    tasks = [task(f"t{index}", *[f"t{need}" for need in needs], project_id="site") for index, (_, needs) in enumerate(edges)]
    timelines.critical_path(tasks, tasks, NOW)
    assert len(open_work.ranked(tasks, NOW)) == len(tasks)


async def test_open_work_is_read_with_what_it_still_needs(fleet: Store) -> None:
    await awake(fleet)
    done, left = await add(fleet, "Done", "coder"), await add(fleet, "Left", "coder")
    _, token = await take(fleet, "coder")
    last = await add(fleet, "Last", dependencies=[done.task_id, left.task_id], capability="review")
    await fleet.write(working.finish, "coder", token, "ok")
    tasks, more = await fleet.read(open_work.read)
    assert [(each.id, each.needs, each.place) for each in tasks] == [
        (left.task_id, (), "coder"),
        (last.task_id, (left.task_id,), "@review"),
    ]
    assert not more


async def test_the_workload_counts_each_agents_tasks_and_hours(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, "Now", "coder", estimated_seconds=100.0)
    await take(fleet, "coder")
    clock.at += 40
    await add(fleet, "Next", "coder", estimated_seconds=200.0)
    await add(fleet, "For anybody", capability="review", estimated_seconds=140.0)
    load = await fleet.read(work.workload)
    coder = next(each for each in load["agents"] if each["agentId"] == "coder")
    assert (coder["running"], coder["queued"], coder["blocked"]) == (1, 1, 0)
    assert coder["secondsLeft"] == pytest.approx(260, abs=0.1)
    assert coder["share"] == pytest.approx(260 / 400, abs=0.01)
    assert load["shared"] == {"@review": 1}
    assert (load["open"], load["more"]) == (3, False)


async def test_pending_tasks_are_listed_with_the_reason_for_their_place(fleet: Store) -> None:
    await awake(fleet)
    await add(fleet, "Old", "coder", priority="low", task_id="old")
    await add(fleet, "New", "ops", priority="urgent", task_id="new", dependencies=["old"])
    listed = await fleet.read(work.pending)
    assert [(each["taskId"], each["because"]) for each in listed["tasks"]] == [("old", "new (urgent) waits for it"), ("new", "urgent")]
    assert (await fleet.read(work.pending, "ops"))["waiting"] == 1


async def test_what_is_lying_or_stands_there_twice_is_found(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, "Old", "coder", task_id="old")
    await add(fleet, "Old", "coder", task_id="older")
    await add(fleet, "Pay", "finance", task_id="pay", approval=True)
    clock.at += 90_000
    await add(fleet, "New", "coder", task_id="new")
    lying = await fleet.read(work.lying)
    assert [each["taskId"] for each in lying["old"]] == ["old", "older", "pay"]
    assert [each["taskId"] for each in lying["wantApproval"]] == ["pay"]
    assert [each["tasks"] for each in lying["twice"]] == [["old", "older"]]
    assert (await fleet.read(work.lying, "finance"))["open"] == 1


@rule("A1b")
async def test_timelines_cover_projects_that_have_no_open_task(store: Store) -> None:
    projects = (ProjectSettings(name="docs", path="/srv/docs"), ProjectSettings(name="site", path="/srv/site", agents=("coder",)))
    await store.write(configuring.configure, Settings(agents=EIGHT.agents, lead="chief", deputy="ops", projects=projects))
    await awake(store)
    await add(store, "Build", "coder", project_id="site")
    await add(store, "Test", "coder", project_id="site")
    _, token = await take(store, "coder")
    await store.write(working.finish, "coder", token, "ok")
    both = {each["project"]: each for each in (await store.read(timelines.timelines))["projects"]}
    assert (both["docs"]["open"], both["docs"]["states"], both["docs"]["earliestEnd"]) == (0, {}, None)
    assert (both["site"]["open"], both["site"]["states"], both["site"]["agents"]) == (1, {"done": 1, "queued": 1}, ["coder"])


async def test_more_work_than_a_report_looks_at_is_said(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_work, "READ_BOUND", 3)
    for number in range(4):
        await add(fleet, f"step {number}", "coder")
    assert len((await fleet.read(open_work.read))[0]) == 3
    assert (await fleet.read(work.workload))["more"]


async def test_a_split_task_waits_for_its_parts_in_the_open_work(store: Store) -> None:
    await store.write(configuring.configure, Settings(agents=(AgentSettings(id="a", port=8001),)))
    whole = await store.write(adding.add, TaskDraft(description="All", agent="a"), as_agent("a"))
    parts = await store.write(changing.split, whole.task_id, [TaskDraft(description="One", agent="a")], THE_OPERATOR)
    tasks, _ = await store.read(open_work.read)
    assert {each.id: each.needs for each in tasks} == {whole.task_id: (parts[0].task_id,), parts[0].task_id: ()}
