"""One agent's page, and what a person does with an agent: asked before, told truly after."""

from __future__ import annotations

import pytest

from covey.agents import living, roster
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import Settings
from covey.contexts import entries
from covey.messages import sending
from covey.messages.model import draft
from covey.nodes import records
from covey.store import events
from covey.tasks import adding, working
from covey.tasks.model import TaskDraft
from tests.console.person import HTMX, Person, notice_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
PARTS = ["now", "work", "context", "contacts", "story", "printed"]


async def test_the_page_shows_state_work_memory_contacts_and_story(person: Person) -> None:
    store = person.store
    await store.write(living.arrive, "coder", node="here", pid=77, start_ticks=1, boot_id="b", port=8002)
    await store.write(adding.add, TaskDraft(description="First thing", agent="coder"), THE_OPERATOR)
    await store.write(working.claim, "coder", "run_1", lease_s=60.0)
    await store.write(adding.add, TaskDraft(description="Second thing", agent="coder", priority="high"), THE_OPERATOR)
    await store.write(sending.send, draft("ops", "hello"), as_agent("coder"), wait_s=60)
    await store.write(entries.remember, "coder", "decision", "We use tabs")
    page = await person.look("/agents/coder")
    for words in ("busy", "First thing", "Second thing", "77 on here", "We use tabs", "1 entry", "agent.started", "task.claimed", "devops"):
        assert words in page.text, words
    assert {"/agents/devops", "/agents/ops"} <= page.hrefs()
    for part in PARTS:
        assert (await person.part(f"/agents/coder/{part}")).source.strip() in page.source or part == "printed"


@ONLY_SQLITE
async def test_what_its_process_printed_is_shown_where_it_is_in_reach(person: Person) -> None:
    assert "another machine" in (await person.part("/agents/coder/printed")).text

    def printed(_: Settings, agent: str, lines: int) -> list[str]:
        return [f"{agent} says <b>{n}</b>" for n in range(lines)]

    person.console.printed = printed
    person.console.shared.forget()
    page = await person.part("/agents/coder/printed")
    assert "coder says <b>39</b>" in page.text
    assert not page.all("b")


@ONLY_SQLITE
@pytest.mark.parametrize(
    "path", ["/agents/nobody", "/agents/nobody/now", "/agents/nobody/printed", "/agents/nobody/stop", "/agents/..%2fx", "/agents/%00"]
)
async def test_nobody_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)


# stop, pause, resume, restart


async def test_an_agent_is_stopped_and_resumed_and_what_is_said_is_true(person: Person) -> None:
    dialog = await person.part("/agents/coder/stop")
    assert "Stop coder?" in dialog.text
    assert "coder is stopped" in await person.answer("/agents/coder/stop", reason="smoke")
    found = await person.store.read(roster.find, "coder")
    assert (found.stopped_at is not None, found.flag_reason) == (True, "smoke")
    assert "stopped" in (await person.look("/agents/coder")).text
    assert await person.answer("/agents/coder/resume") == "coder takes mail and work again."
    assert (await person.store.read(roster.find, "coder")).takes_work


@pytest.mark.parametrize(
    ("before", "deed", "said"),
    [
        (["stop"], "stop", "stopped already"),
        (["stop"], "pause", "stopped already"),
        (["pause"], "pause", "paused already"),
        ([], "resume", "neither stopped nor paused"),
        ([], "restart", "the fleet is down"),
    ],
)
async def test_what_does_not_apply_is_refused_and_changes_nothing(person: Person, before: list[str], deed: str, said: str) -> None:
    for each in before:
        await person.answer(f"/agents/coder/{each}")
    flags = await person.store.read(roster.find, "coder")
    answer = await person.send(f"/agents/coder/{deed}", reason="")
    assert answer.status_code in (409, 503)
    assert said in notice_of(answer)
    assert await person.store.read(roster.find, "coder") == flags


async def test_a_restart_is_asked_of_the_node_and_not_said_to_be_done(person: Person) -> None:
    await person.store.write(records.register, "here", host="here", pid=1, start_ticks=1, boot_id="b", version="1")
    await person.store.write(living.arrive, "coder", node="here", pid=1, start_ticks=1, boot_id="b", port=8002)
    said = await person.answer("/agents/coder/restart", reason="new brain")
    assert said == "The node here was asked to start coder anew; the story shows when it has."
    (event, *_) = await person.store.read(events.of_agent, "coder")
    assert (event.kind, event.data["by"], event.data["reason"]) == ("agent.restart_asked", "operator", "new brain")


@ONLY_SQLITE
async def test_buttons_are_there_for_what_applies(person: Person) -> None:
    def asked(source: str) -> set[str]:
        return {deed for deed in ("stop", "pause", "resume", "restart") if f"/agents/coder/{deed}" in source}

    assert asked((await person.part("/agents/coder/now")).source) == {"stop", "pause", "restart"}
    await person.answer("/agents/coder/pause")
    assert asked((await person.part("/agents/coder/now")).source) == {"stop", "resume", "restart"}
    await person.answer("/agents/coder/stop")
    assert asked((await person.part("/agents/coder/now")).source) == {"resume", "restart"}


@ONLY_SQLITE
async def test_without_a_script_a_form_answers_with_a_page(person: Person) -> None:
    word = person.console.visits.word(person.cookies)
    answer = await person.http.post(
        "/agents/coder/pause", data={"csrf": word}, headers={"Accept": "text/html", "Origin": "http://127.0.0.1:8000"}
    )
    assert answer.status_code == 200
    assert "coder is paused" in answer.text
