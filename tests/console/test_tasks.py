"""Tasks as a table, a board, one by one, with what they hang together with; and what a person does with them."""

from __future__ import annotations

from typing import Any

import pytest

from covey.agents.model import THE_OPERATOR
from covey.console import graph, looking
from covey.console.pages import tasks as tasks_page
from covey.reports.task_graph import Graph, Knot, Tie, around
from covey.store import Store
from covey.tasks import adding, changing, reading, runs, working
from covey.tasks.model import TaskDraft
from tests.console.person import HTMX, Page, Person, notice_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def add(store: Store, ident: str, **words: Any) -> None:
    words = {"description": f"Do {ident}", "agent": "coder"} | words
    await store.write(adding.add, TaskDraft(task_id=ident, **words), THE_OPERATOR)


def ids_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/tasks/") for found in page.all("a") if "data-open" in found]


async def test_tasks_are_listed_newest_first_by_state_agent_and_words(person: Person) -> None:
    await add(person.store, "one")
    await add(person.store, "two", agent="sales", description="Write to the Smiths")
    await add(person.store, "three", dependencies=["one"])
    assert ids_in(await person.look("/tasks")) == ["three", "two", "one"]
    assert ids_in(await person.part("/tasks/~rows?state=blocked")) == ["three"]
    assert ids_in(await person.part("/tasks/~rows?agent=sales")) == ["two"]
    assert ids_in(await person.part("/tasks/~rows?q=smiths%20write")) == ["two"]
    assert ids_in(await person.part("/tasks/~rows?q=thr")) == ["three"]
    assert ids_in(await person.part("/tasks/~rows?state=open")) == ["three", "two", "one"]


async def test_pages_of_tasks_go_on_without_a_gap_and_words_are_looked_for_beyond_one(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(12):
        await add(person.store, f"t{n}", description="needle" if n == 0 else "hay")
    read, query = tasks_page.read_tasks, tasks_page.TasksQuery
    first = await person.store.read(read, query(), person.door.settings, 5)
    second = await person.store.read(read, query(cursor=first.cursor or ""), person.door.settings, 5)
    third = await person.store.read(read, query(cursor=second.cursor or ""), person.door.settings, 5)
    assert [task.task_id for part in (first, second, third) for task in part.items] == [f"t{n}" for n in range(11, -1, -1)]
    assert third.cursor is None
    assert [task.task_id for task in (await person.store.read(read, query(q="needle"), person.door.settings, 5)).items] == ["t0"]
    monkeypatch.setattr(looking, "LOOKED_AT", 5)
    not_yet = await person.store.read(read, query(q="needle"), person.door.settings, 5)
    assert (not_yet.items, not_yet.cursor) == ([], first.cursor)


async def test_the_board_has_each_task_under_its_state(person: Person) -> None:
    await add(person.store, "one")
    await add(person.store, "two", approval=True)
    page = await person.look("/tasks/~board")
    assert {found["id"] for found in page.all("li") if found.get("id", "").startswith("card-")} == {"card-one", "card-two"}
    source = page.source
    assert (
        source.index('id="lane-blocked"') < source.index('id="card-two"') < source.index('id="lane-queued"') < source.index('id="card-one"')
    )


async def test_a_task_says_why_it_waits_and_what_it_hangs_together_with(person: Person) -> None:
    await add(person.store, "first")
    await add(person.store, "second", dependencies=["first"])
    await add(person.store, "third", dependencies=["second"])
    page = await person.look("/tasks/second")
    assert "blocked" in page.text
    assert "first" in page.text
    assert {"/tasks/first", "/tasks/third"} <= page.hrefs()
    assert len(page.all("rect")) == 3
    assert [found["data-kind"] for found in page.all("path") if "data-kind" in found] == ["open", "open"]


async def test_what_came_of_a_task_and_each_try_are_shown(person: Person) -> None:
    await add(person.store, "one")
    claimed = await person.store.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert claimed is not None
    await person.store.write(runs.open_run, "run_1", item="one", kind="task", agent="coder", node="here", attempt=1)
    page = await person.look("/tasks/one")
    assert "running" in page.text
    await person.store.write(changing.cancel, "one", THE_OPERATOR, "no need")
    story = (await person.part("/tasks/one/story")).text
    assert "task.cancelled" in story
    assert "no need" in story
    assert "still runs" in (await person.part("/tasks/one/tries")).text


async def test_a_failed_task_says_what_went_wrong_and_is_tried_again(person: Person) -> None:
    await add(person.store, "one", max_attempts=1)
    claimed = await person.store.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert claimed is not None
    await person.store.write(working.fail, "coder", claimed[1], "the disk is full")
    assert "the disk is full" in (await person.part("/tasks/one/outcome")).text
    assert "To be tried again: the task is queued" in await person.answer("/tasks/one/retry")


async def test_all_failed_tasks_are_tried_again(person: Person) -> None:
    for n in range(2):
        await add(person.store, f"t{n}", max_attempts=1)
        claimed = await person.store.write(working.claim, "coder", "run_1", lease_s=60.0)
        assert claimed is not None
        await person.store.write(working.fail, "coder", claimed[1], "it broke")
    assert await person.answer("/tasks/~rows/retry?state=failed") == "2 tasks queued again."
    assert {(await person.store.read(reading.show, f"t{n}")).state for n in range(2)} == {"queued"}


@ONLY_SQLITE
@pytest.mark.parametrize(
    "path", ["/tasks/none", "/tasks/none/now", "/tasks/none/cancel", "/tasks/%00", "/tasks/a%2fb", f"/tasks/{'x' * 200}"]
)
async def test_no_task_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)


# what a person does


async def test_a_task_is_added_as_the_operators(person: Person) -> None:
    await add(person.store, "before")
    said = await person.answer("/tasks/~new", description="Say <b>hello</b>", agent="sales", priority="high", needs="before")
    (task, _) = (await person.store.read(reading.listed)).items
    assert said == f"Added: the task is blocked, its priority high, for sales. Its id is {task.task_id}."
    assert (task.description, task.created_by, task.dependencies, task.agent) == ("Say <b>hello</b>", "operator", ["before"], "sales")


@ONLY_SQLITE
@pytest.mark.parametrize(
    "form",
    [{"description": ""}, {"agent": "nobody"}, {"priority": "soon"}, {"needs": "none"}, {"description": "x" * 300_000}],
    ids=lambda form: str(form)[:30],
)
async def test_a_task_that_can_not_be_is_refused_and_not_stored(person: Person, form: dict[str, str]) -> None:
    answer = await person.send("/tasks", None, **{"description": "x"} | form)
    assert answer.status_code >= 400
    assert notice_of(answer)
    assert (await person.store.read(reading.listed)).items == []


async def test_approval_is_given_and_refused(person: Person) -> None:
    for ident in ("one", "two"):
        await add(person.store, ident, approval=True)
    assert "Approved: the task is queued" in await person.answer("/tasks/one/approve")
    assert "Refused: the task is cancelled" in await person.answer("/tasks/two/refuse", said="too dear")
    assert (await person.store.read(reading.show, "two")).error == "approval refused by operator: too dear"
    answer = await person.send("/tasks/one/approve")
    assert (answer.status_code, "waits for no approval" in notice_of(answer)) == (409, True)


async def test_a_task_is_given_on_made_urgent_and_cancelled(person: Person) -> None:
    await add(person.store, "one")
    assert "for sales" in await person.answer("/tasks/one/reassign", said=" sales ")
    assert "its priority urgent" in await person.answer("/tasks/one/priority", said="urgent")
    assert "Cancelled: the task is cancelled" in await person.answer("/tasks/one/cancel", said="why not")
    answer = await person.send("/tasks/one/retry")
    assert (answer.status_code, "can't retry" in notice_of(answer)) == (409, True)


async def test_all_tasks_of_a_filter_are_cancelled(person: Person) -> None:
    for n in range(3):
        await add(person.store, f"t{n}")
    await add(person.store, "other", agent="sales")
    assert await person.answer("/tasks/~rows/cancel?agent=coder") == "3 tasks cancelled."
    assert (await person.store.read(reading.show, "other")).state == "queued"
    assert {(await person.store.read(reading.show, f"t{n}")).state for n in range(3)} == {"cancelled"}


@ONLY_SQLITE
async def test_buttons_are_there_for_what_applies_to_a_task(person: Person) -> None:
    await add(person.store, "one", approval=True)

    async def acts() -> set[str]:
        page = await person.part("/tasks/one/now")
        return {found["hx-get"].rpartition("/")[2] for found in page.all("button")}

    assert await acts() == {"approve", "refuse", "reassign", "priority", "cancel"}
    await person.answer("/tasks/one/cancel")
    assert await acts() == set()


# the graph


async def test_the_graph_goes_both_ways_with_parts_and_stops_at_its_bound(person: Person) -> None:
    await add(person.store, "whole")
    await person.store.write(changing.split, "whole", [TaskDraft(description="a part"), TaskDraft(description="another")], THE_OPERATOR)
    found = await person.store.read(around, "whole")
    assert len(found.knots) == 3
    assert {tie.is_part for tie in found.ties} == {True}
    for n in range(60):
        await add(person.store, f"n{n}", dependencies=["whole"] if n == 0 else [f"n{n - 1}"])
    found = await person.store.read(around, "n30")
    assert (len(found.knots), found.more, found.knots[0].id) == (40, True, "n30")


def test_what_comes_earlier_stands_on_the_left() -> None:
    ties = [Tie("a", "b", is_part=False, met=True), Tie("b", "c", is_part=False, met=False), Tie("a", "c", is_part=True, met=False)]
    drawn = graph.drawing(Graph([Knot(name, f"task {name}", "queued") for name in "cab"], ties, more=False), "b")
    x = {box.knot.id: box.x for box in drawn.boxes}
    assert x["a"] < x["b"] < x["c"]
    assert [box.knot.id for box in drawn.boxes if box.is_here] == ["b"]
    assert [arrow.kind for arrow in drawn.arrows] == ["met", "open", "part"]
    assert all(box.x + graph.BOX_WIDTH <= drawn.width and box.y + graph.BOX_HEIGHT <= drawn.height for box in drawn.boxes)


def test_a_circle_that_should_not_be_is_drawn_all_the_same() -> None:
    assert set(graph.ranks(["a", "b"], [Tie("a", "b", False, False), Tie("b", "a", False, False)])) == {"a", "b"}
