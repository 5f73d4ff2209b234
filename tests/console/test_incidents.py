"""Incidents: the list with the open ones first, one incident's story, closing one by hand."""

from __future__ import annotations

from typing import Any

import pytest

from covey.base.errors import Invalid
from covey.console.pages.incident import after
from covey.console.pages.incidents import IncidentsQuery, read_incidents
from covey.healing import incidents, reading
from covey.store import Store
from tests.conftest import ManualClock
from tests.console.person import HTMX, Page, Person, notice_of
from tests.rules import rule

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def begin(store: Store, agent: str, kind: str = "crash_loop", cause: str = "it fell", **more: Any) -> str:
    return await store.write(incidents.open_incident, agent, kind, cause, **more)


async def end(store: Store, ident: str, outcome: str = "back") -> None:
    await store.write(incidents.end_incident, ident, outcome, "it is well.")


def ids_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/incidents/") for found in page.all("a") if "data-open" in found]


@rule("H2")
async def test_the_open_ones_come_first_then_the_ended_each_newest_first(person: Person) -> None:
    one, two, three, four = [await begin(person.store, name) for name in ("coder", "sales", "intel", "ops")]
    await end(person.store, two)
    await end(person.store, four)
    page = await person.look("/incidents")
    assert ids_in(page) == [three, one, four, two]
    assert len([found for found in page.all("tr") if found.get("data-mark") == "bad"]) == 2
    assert ids_in(await person.part("/incidents/~rows?state=open")) == [three, one]
    assert ids_in(await person.part("/incidents/~rows?state=ended")) == [four, two]
    assert ids_in(await person.part("/incidents/~rows?agent=ops")) == [four]
    assert ids_in(await person.part("/incidents/~rows?agent=sales&state=open")) == []
    other = await begin(person.store, "ops", "hung")
    assert ids_in(await person.part("/incidents/~rows?kind=hung")) == [other]
    assert ids_in(await person.part("/incidents/~rows?agent=ops")) == [other, four]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 20])
async def test_pages_go_from_the_open_to_the_ended_without_a_gap(person: Person, limit: int) -> None:
    names = ("coder", "sales", "intel", "ops", "chief", "devops", "comms")
    found = [await begin(person.store, name) for name in names]
    for ident in found[::2]:
        await end(person.store, ident)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await person.store.read(read_incidents, IncidentsQuery(cursor=cursor), person.door.settings, limit)
        assert len(page.items) <= limit
        seen += [each.incident_id for each in page.items]
        cursor = page.cursor
        assert len(seen) <= len(names)
    assert seen == [*found[1::2][::-1], *found[::2][::-1]]


async def test_without_incidents_the_page_says_that_nothing_has_gone_wrong(person: Person) -> None:
    assert "nothing has gone wrong" in (await person.look("/incidents")).text


@rule("H2")
async def test_a_story_has_its_cause_each_step_with_its_seconds_the_end_and_how_long_it_took(person: Person, clock: ManualClock) -> None:
    ident = await begin(person.store, "coder", "task_timeout", "The task figures takes too long.", subject="figures", data={"attempt": 1})
    clock.at += 2.5
    await person.store.write(incidents.step, ident, "buddy_woken", "intel looks at it.")
    page = await person.look(f"/incidents/{ident}")
    assert "It is still open" in page.text
    clock.at += 72.5
    await end(person.store, ident, "reassigned")
    page = await person.look(f"/incidents/{ident}")
    steps = (await person.part(f"/incidents/{ident}/steps")).text
    assert [steps.index(words) for words in ("+0 s", "The task figures", "+2.5 s", "buddy woken", "+1:15 min", "reassigned")] == sorted(
        steps.index(words) for words in ("+0 s", "The task figures", "+2.5 s", "buddy woken", "+1:15 min", "reassigned")
    )
    assert "Took1 min 15 s" in page.text
    assert "attempt 1" in page.text
    assert [found["data-step"] for found in page.all("li") if "data-step" in found] == ["cause", "step", "end"]


async def test_an_open_incident_says_what_a_person_can_do_with_commands_as_code(person: Person) -> None:
    ident = await begin(person.store, "coder")
    now = await person.part(f"/incidents/{ident}/now")
    assert "<code>covey logs coder</code>" in now.source
    await end(person.store, ident)
    assert "<code>" not in (await person.part(f"/incidents/{ident}/now")).source


@rule("H2")
async def test_an_incident_is_closed_by_hand_with_its_reason_and_nothing_else_changes(person: Person) -> None:
    ident = await begin(person.store, "coder")
    assert "The incident is closed" in await person.answer(f"/incidents/{ident}/close", reason=" I restarted the disk ")
    found = await person.store.read(reading.show, ident)
    assert (found.outcome, found.steps[-1].sentence) == ("closed", "closed by operator: I restarted the disk.")
    assert (await person.part(f"/incidents/{ident}/now")).all("button") == []
    assert "It has ended" in (await person.part(f"/incidents/{ident}/close")).text
    answer = await person.send(f"/incidents/{ident}/close")
    assert (answer.status_code, "ended already: closed" in notice_of(answer)) == (409, True)


async def test_hostile_words_are_inert_in_a_story(person: Person) -> None:
    words = "`<script>alert(1)</script>`\u202e" * 100
    ident = await begin(person.store, "coder", "no_brain", words, subject="<b>x</b>", data={"<i>": words})
    await person.store.write(incidents.step, ident, "tried", words)
    for page in (await person.look(f"/incidents/{ident}"), await person.look("/incidents")):
        assert "\u202e" not in page.source
        assert page.all("b") == page.all("i") == []
        assert all("src" in found for found in page.all("script"))


@ONLY_SQLITE
@pytest.mark.parametrize(
    "path", ["/incidents/none", "/incidents/none/steps", "/incidents/none/close", "/incidents/%00", "/incidents/~rows?kind=odd"]
)
async def test_no_incident_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)


@ONLY_SQLITE
@pytest.mark.parametrize("query", [{"state": "odd"}, {"cursor": "x"}, {"cursor": "open-"}, {"cursor": "open-x"}], ids=str)
async def test_a_query_that_can_not_be_names_its_field(person: Person, query: dict[str, str]) -> None:
    if query == {"cursor": "open-"}:
        assert (await person.http.get("/incidents/~rows", params=query, headers=HTMX)).status_code == 200
        return
    with pytest.raises(Invalid) as caught:
        await person.store.read(read_incidents, IncidentsQuery(**query), person.door.settings, 5)
    assert caught.value.field == next(iter(query))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "+0.0 s"), (59.94, "+59.9 s"), (60, "+1:00 min"), (3599, "+59:59 min"), (7205, "+2:00:05 h")]
)
def test_seconds_after_the_beginning_are_said_in_their_units(seconds: float, text: str) -> None:
    assert after(seconds) == text
