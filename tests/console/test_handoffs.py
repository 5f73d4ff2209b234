"""Handoffs: the list, one offer with what goes with it, and the operator's answer."""

from __future__ import annotations

from typing import Any

import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.brains.model import Passed
from covey.store import Store
from covey.tasks import adding
from covey.tasks import reading as tasks
from covey.tasks.model import TaskDraft
from covey.teams.handoffs import answering, lapsing, offering, reading
from covey.teams.handoffs.model import HandoffDraft
from tests.conftest import ManualClock
from tests.console.person import HTMX, Page, Person, notice_of
from tests.rules import rule
from tests.teams.handing_over import thinking

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def offered(store: Store, task: str = "figures", to: str = "sales", giver: str = "coder", **more: Any) -> str:
    """The id of the offer of a task, which is added unless it is there."""
    await store.write(configuring.configure, thinking())
    if await store.read(tasks.seek, task) is None:
        await store.write(adding.add, TaskDraft(task_id=task, description=f"Do {task}", agent=giver), THE_OPERATOR)
    made = await store.write(offering.offer, HandoffDraft(task_id=task, to=to, **more), as_agent(giver))
    return made.handoff_id


def ids_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/handoffs/") for found in page.all("a") if "data-open" in found]


async def test_handoffs_are_listed_newest_first_by_state_agent_and_task(person: Person) -> None:
    one = await offered(person.store, "one")
    two = await offered(person.store, "two", to="intel")
    await person.store.write(answering.decline, two, as_agent("intel"), "too much to do")
    page = await person.look("/handoffs")
    assert ids_in(page) == [two, one]
    assert "coder → intel" in page.text
    assert "too much to do" in page.text
    assert ids_in(await person.part("/handoffs/~rows?state=offered")) == [one]
    assert ids_in(await person.part("/handoffs/~rows?agent=intel")) == [two]
    assert ids_in(await person.part("/handoffs/~rows?task=one")) == [one]


async def test_without_handoffs_the_page_says_how_one_is_made(person: Person) -> None:
    assert "covey handoff offer" in (await person.look("/handoffs")).text


@rule("Q3")
async def test_an_offer_shows_its_way_its_parcel_and_until_when_it_is_to_be_answered(person: Person) -> None:
    ident = await offered(
        person.store, reason="they are yours", progress=0.4, task_state={"left": 3}, context=[Passed(text="mind the dog")]
    )
    page = await person.look(f"/handoffs/{ident}")
    for words in ("they are yours", "40 %", '"left": 3', "mind the dog", "Do figures", "To be answered"):
        assert words in page.text, words
    assert {"/agents/coder", "/agents/sales", "/tasks/figures"} <= page.hrefs()
    assert [found["data-state"] for found in page.all("li") if "data-state" in found] == ["passed", "offered"]


@rule("Q3")
async def test_the_way_has_every_hop_of_the_task(person: Person) -> None:
    first = await offered(person.store)
    await person.store.write(answering.accept, first, as_agent("sales"))
    second = await offered(person.store, to="intel", giver="sales")
    page = await person.look(f"/handoffs/{second}")
    way = page.source[page.source.index('class="path"') :]
    assert way.index(">coder<") < way.index(">sales<") < way.index(">intel<")
    assert f"/handoffs/{first}" in page.hrefs()


@rule("Q3")
async def test_the_operator_accepts_for_the_receiver_and_the_task_is_that_ones(person: Person) -> None:
    ident = await offered(person.store)
    assert await person.answer(f"/handoffs/{ident}/accept") == "Accepted: the task figures is sales's."
    assert (await person.store.read(tasks.show, "figures")).agent == "sales"
    assert (await person.store.read(reading.show, ident)).ended_by == "operator"
    assert notice_of(await person.send(f"/handoffs/{ident}/accept")) == "It was accepted before; nothing was changed."
    assert (await person.part(f"/handoffs/{ident}/now")).all("button") == []


@rule("Q3")
async def test_the_operator_declines_and_the_task_stays_with_its_giver(person: Person) -> None:
    ident = await offered(person.store)
    assert await person.answer(f"/handoffs/{ident}/decline", reason="not now") == "Declined: the task figures goes on with coder."
    found = await person.store.read(reading.show, ident)
    assert (found.state, found.why) == ("declined", "not now")
    assert (await person.store.read(tasks.show, "figures")).agent == "coder"
    assert notice_of(await person.send(f"/handoffs/{ident}/decline")) == "It was declined before; nothing was changed."
    answer = await person.send(f"/handoffs/{ident}/accept")
    assert (answer.status_code, "declined already: not now" in notice_of(answer)) == (409, True)
    assert "Nothing to answer" in (await person.part(f"/handoffs/{ident}/accept")).text


@rule("Q3")
async def test_an_offer_whose_time_is_over_is_refused_before_and_after_it_lapsed(person: Person, clock: ManualClock) -> None:
    ident = await offered(person.store)
    clock.at += 601
    answer = await person.send(f"/handoffs/{ident}/accept")
    assert (answer.status_code, "is over" in notice_of(answer)) == (409, True)
    assert await person.store.write(lapsing.expire_due) == [ident]
    answer = await person.send(f"/handoffs/{ident}/decline")
    assert (answer.status_code, "expired already" in notice_of(answer)) == (409, True)
    assert "offer is expired already" in (await person.part(f"/handoffs/{ident}/decline")).text


@rule("Q3")
async def test_what_was_the_receivers_before_comes_back_only_with_consent(person: Person) -> None:
    first = await offered(person.store)
    await person.store.write(answering.accept, first, as_agent("sales"))
    back = await offered(person.store, to="coder", giver="sales")
    assert "only with consent" in (await person.look(f"/handoffs/{back}")).text
    answer = await person.send(f"/handoffs/{back}/accept", consent="no")
    assert (answer.status_code, "was coder's before" in notice_of(answer)) == (409, True)
    assert await person.answer(f"/handoffs/{back}/accept", consent="yes") == "Accepted: the task figures is coder's."


async def test_hostile_words_of_a_parcel_are_inert(person: Person) -> None:
    words = "<script>alert(1)</script><img src=x>\u202e"
    ident = await offered(person.store, reason=words * 20, task_state={words: words}, context=[Passed(text=words)])
    for page in (await person.look(f"/handoffs/{ident}"), await person.look("/handoffs")):
        assert page.all("img") == []
        assert "\u202e" not in page.source
        assert all("src" in found for found in page.all("script"))


@ONLY_SQLITE
@pytest.mark.parametrize("path", ["/handoffs/none", "/handoffs/none/accept", "/handoffs/%00", "/handoffs/~rows?state=odd"])
async def test_no_handoff_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)
