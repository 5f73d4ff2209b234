"""The overview: who is how, what needs a person, buddies and links drawn, response times; and how long it takes."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from covey.agents import configuring, living, tokens
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import AgentSettings, Settings
from covey.console import ring
from covey.figures import recording
from covey.healing import incidents
from covey.messages import handling, sending
from covey.messages.model import MAX_ATTEMPTS, draft
from covey.store import Store
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.api.world import token_of
from tests.conftest import EIGHT, Database, ManualClock, opened
from tests.console.person import BROWSER, Page, Person, person_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
LIMITED = msgspec.structs.replace(EIGHT, limits="on")


async def test_each_agent_is_shown_with_its_state_and_leads_to_its_page(person: Person) -> None:
    await person.store.write(living.arrive, "coder", node="here", pid=1, start_ticks=1, boot_id="b", port=8002)
    await person.store.write(living.pause, "sales", THE_OPERATOR)
    page = await person.look("/")
    assert {f"/agents/{agent.id}" for agent in EIGHT.agents} <= page.hrefs()
    assert "1 idle" in page.text
    assert "7 stalled" in page.text
    assert "1 paused" in page.text
    assert {"/?state=idle", "/?state=paused"} <= page.hrefs()


async def test_nothing_to_do_is_said_so(person: Person) -> None:
    assert "Nothing waits for you." in (await person.part("/needs")).text


async def test_what_needs_a_person_is_named_and_leads_to_where_it_is_done(person: Person, clock: ManualClock) -> None:
    store = person.store
    task = await store.write(adding.add, TaskDraft(description="Delete the backups", agent="coder", approval=True), THE_OPERATOR)
    question = await store.write(sending.send, draft("operator", "May I?", requires_response=True), as_agent("coder"), wait_s=60)
    await store.write(sending.send, draft("operator", "Fire!", type="alert"), as_agent("devops"), wait_s=60)
    await store.write(sending.send, draft("operator", "By the way"), as_agent("ops"), wait_s=60)
    letter = await store.write(sending.send, draft("sales", "poison"), as_agent("comms"), wait_s=60)
    for _ in range(MAX_ATTEMPTS):
        clock.at += 120
        claimed = await store.write(handling.claim, "sales", "run_1", lease_s=60.0, digest_s=0.0)
        assert claimed is not None
        await store.write(handling.failed, "sales", claimed.token, "it choked")
    found = await store.write(incidents.open_incident, "intel", "hung", "its port is silent")
    await store.write(incidents.call_person, found)
    page = await person.part("/needs")
    assert {
        f"/tasks/{task.task_id}",
        f"/threads/{question.thread_id.replace(':', '%3A')}",
        f"/incidents/{found}",
        "/dead-letters",
    } <= page.hrefs()
    assert all(words in page.text for words in ("Delete the backups", "May I?", "Fire!", "its port is silent", "it choked"))
    assert "By the way" not in page.text
    assert letter.message_id


async def test_a_link_that_is_used_is_drawn_by_its_quota(store: Store, clock: ManualClock) -> None:
    await store.write(configuring.configure, LIMITED)
    async with person_of(store, clock, LIMITED) as person:
        await person.sign_in()
        for n in range(30):
            clock.at += 6
            await store.write(sending.send, draft("coder", f"message {n}"), as_agent("ops"), wait_s=60)
            if n == 0:
                assert person_paths(await person.part("/ring")) == [{}]
            clock.at += 1
            if n == 24:
                assert person_paths(await person.part("/ring")) == [{"data-quota": "high"}]
        assert person_paths(await person.part("/ring")) == [{"data-quota": "out"}]


def person_paths(page: Page) -> list[dict[str, str]]:
    """The links that are drawn, without the three of the legend."""
    return [{key: value for key, value in found.items() if key == "data-quota"} for found in page.all("path", **{"class": "link"})[:-3]]


def test_a_ring_has_every_agent_once_and_every_pair_of_buddies() -> None:
    agents = [
        {"agentId": f"a{n}", "buddyId": f"a{n ^ 1}", "status": "idle", "flags": {"stopped": n == 3, "paused": False, "away": False}}
        for n in range(8)
    ]
    drawn = ring.ring(agents, [])
    assert [node.name for node in drawn.nodes] == [f"a{n}" for n in range(8)]
    assert [node.flag for node in drawn.nodes if node.flag] == ["stopped"]
    assert len(drawn.buddies) == 4
    assert all(0 < node.x < ring.WIDTH and 0 < node.y < ring.HEIGHT for node in drawn.nodes)
    assert ring.ring([], []).nodes == []
    assert ring.ring([agents[0] | {"buddyId": None}], []).buddies == []


async def test_response_times_are_drawn_and_stand_in_a_table(person: Person, clock: ManualClock) -> None:
    assert "No mail was handled" in (await person.part("/response-times")).text
    await person.store.write(sending.send, draft("coder", "x"), as_agent("ops"), wait_s=60)
    clock.at += 3
    claimed = await person.store.write(handling.claim, "coder", "run_1", lease_s=60.0, digest_s=0.0)
    assert claimed is not None
    await person.store.write(handling.handled, "coder", claimed.token)
    pages, tallies = await person.store.read(recording.read_on)
    await person.store.write(recording.record, pages.start, pages.bookmark, tallies)
    page = await person.part("/response-times")
    points = msgspec.json.decode(page.one("div", **{"data-chart": "times-chart"})["data-points"])
    assert len(points) == 3
    assert [value for value in points[1] if value is not None] == pytest.approx([3.0], abs=0.5)
    assert "3.0" in page.text


# how long it takes


async def fastest(person: Person, path: str, tries: int = 5) -> float:
    """The server's time for a page that nobody has made before."""
    times = []
    for _ in range(tries):
        person.console.shared.forget()
        began = time.perf_counter()
        answer = await person.http.get(path, headers=BROWSER)
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200
    return min(times)


@ONLY_SQLITE
async def test_the_overview_of_eight_takes_less_than_50_ms(person: Person) -> None:
    await person.look("/")
    assert await fastest(person, "/") < 0.05


@pytest.mark.slow
async def test_the_overview_of_a_thousand_takes_less_than_300_ms(database: Database, tmp_path: Path, clock: ManualClock) -> None:
    agents = tuple(AgentSettings(id=f"a{n}", port=10_000 + n, buddy=f"a{n ^ 1}", role=f"role {n}") for n in range(1000))
    settings = Settings(agents=agents, limits="off")
    async with opened(database, tmp_path, clock) as store:
        await store.write(configuring.configure, settings)
        await store.write(tokens.put, "operator", tokens.hash_of(token_of("operator")))
        async with person_of(store, clock, settings) as person:
            await person.sign_in()
            page = await person.look("/")
            assert "1,000 rows" in page.text
            assert len(page.source) < 200_000
            assert await fastest(person, "/") < 0.3
