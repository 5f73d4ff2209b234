"""Threads: what was said, each copy with its times; search; and the operator speaks, marked as such."""

from __future__ import annotations

import pytest

from covey.agents import living
from covey.agents.model import OPERATOR, THE_OPERATOR, as_agent
from covey.messages import handling, indexing, pausing, reading, sending
from covey.messages.model import Receipt, draft
from covey.store import Store
from tests.conftest import EIGHT
from tests.console.person import HTMX, Page, Person, notice_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def say(store: Store, sender: str, to: str, body: str, **words: object) -> Receipt:
    by = THE_OPERATOR if sender == OPERATOR else as_agent(sender)
    return await store.write(sending.send, draft(to, body, **words), by, wait_s=60)  # type: ignore[arg-type]


def threads_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/threads/").replace("%3A", ":") for found in page.all("a") if "data-open" in found]


async def test_threads_are_listed_the_latest_first_with_their_last_words(person: Person) -> None:
    await say(person.store, "coder", "ops", "one")
    await say(person.store, "sales", "comms", "two", subject="About")
    page = await person.look("/threads")
    assert threads_in(page) == ["dm:comms:sales", "dm:coder:ops"]
    assert "About: two" in page.text


async def test_messages_are_found_by_their_words(person: Person) -> None:
    await say(person.store, "coder", "ops", "the build is red")
    await say(person.store, "sales", "comms", "the build is green")
    while await person.store.write(indexing.index_new):
        pass
    assert threads_in(await person.part("/threads/~rows?q=build%20red")) == ["dm:coder:ops"]
    assert "No row matches" in (await person.part("/threads/~rows?q=blue")).text


async def test_a_thread_shows_each_copy_with_its_times_and_state(person: Person, clock: object) -> None:
    await say(person.store, "coder", "ops", "please look", requires_response=True)
    claimed = await person.store.write(handling.claim, "ops", "run_1", lease_s=60.0, digest_s=0.0)
    assert claimed is not None
    page = await person.look("/threads/dm:coder:ops")
    assert all(words in page.text for words in ("please look", "wants an answer", "seen", "delivered"))
    assert "handled" not in page.text
    await person.store.write(handling.handled, "ops", claimed.token)
    assert "handled" in (await person.part("/threads/dm:coder:ops/messages")).text


async def test_a_message_to_many_is_said_once_with_all_its_copies(person: Person) -> None:
    receipt = await say(person.store, OPERATOR, "*", "hello all")
    page = await person.part(f"/threads/{receipt.thread_id}/messages")
    assert page.source.count("hello all") == 1
    assert page.text.count("to ") >= 8
    assert "operator (you)" in page.text


async def test_a_long_thread_is_shown_from_its_end_and_read_back_without_a_gap(person: Person) -> None:
    for n in range(130):
        await say(person.store, OPERATOR, "coder", f"number {n}.")
    ident = "dm:coder:operator"
    page = await person.part(f"/threads/{ident}/messages")
    (back,) = [href for href in page.hrefs() if "before=" in href]
    before = await person.part(back.replace(f"{ident}?", f"{ident}/messages?"))
    shown = [int(text.partition(".")[0]) for text in (before.text + page.text).split("number ")[1:]]
    assert shown == list(range(130))


async def test_the_copies_of_one_message_are_read_back_page_by_page_without_a_gap(person: Person) -> None:
    receipt = await say(person.store, OPERATOR, "*", "hello all")
    first = await person.store.read(reading.thread_end, receipt.thread_id, limit=5)
    assert first.cursor is not None
    second = await person.store.read(reading.thread_end, receipt.thread_id, before=first.cursor, limit=5)
    found = [message.receiver for page in (first, second) for message in page.items]
    assert (sorted(filter(None, found)), second.cursor) == (sorted(agent.id for agent in EIGHT.agents), None)


async def test_a_held_message_says_so(person: Person) -> None:
    await person.store.write(living.pause, "ops", THE_OPERATOR)
    await say(person.store, "coder", "ops", "wait")
    assert "held" in (await person.part("/threads/dm:coder:ops/messages")).text


async def test_why_a_message_stands_where_it_stands(person: Person) -> None:
    receipt = await say(person.store, "coder", "ops", "wait")
    assert receipt.message_id in (await person.part(f"/messages/{receipt.message_id}/why")).text


# the operator speaks


async def test_the_operator_speaks_and_is_marked_as_such(person: Person) -> None:
    said = await person.answer("/threads/~new", to="coder", body="How <i>are</i> you?", subject="Well", answer="yes")
    assert said.startswith("coder: delivered.")
    (message,) = (await person.store.read(reading.inbox, "coder")).items
    assert (message.from_, message.body, message.content["subject"], message.requires_response) == (
        OPERATOR,
        "How <i>are</i> you?",
        "Well",
        True,
    )


async def test_the_operator_joins_a_thread_of_others(person: Person) -> None:
    receipt = await say(person.store, "coder", "ops", "one")
    dialog = await person.part(f"/threads/{receipt.thread_id}/speak")
    assert (dialog.fields["to"], dialog.fields["thread"]) == ("coder", receipt.thread_id)
    assert "coder: delivered." in await person.answer(f"/threads/{receipt.thread_id}/speak", body="stop that")
    assert [message.from_ for message in (await person.store.read(reading.thread, receipt.thread_id)).items] == ["coder", OPERATOR]


async def test_what_is_refused_is_said_to_be(person: Person) -> None:
    answer = await person.send("/threads", to="nobody", body="x")
    assert (answer.status_code, "nobody" in notice_of(answer)) == (404, True)
    assert await person.store.read(reading.latest) == []


@ONLY_SQLITE
@pytest.mark.parametrize(
    "form",
    [{"body": ""}, {"to": ""}, {"priority": "x"}, {"thread": "a b"}, {"body": "x" * 300_000}, {"subject": "x" * 501}],
    ids=lambda form: str(form)[:20],
)
async def test_a_message_that_can_not_be_is_refused_and_not_stored(person: Person, form: dict[str, str]) -> None:
    answer = await person.send("/threads", None, **{"to": "coder", "body": "x"} | form)
    assert answer.status_code >= 400, notice_of(answer)
    assert await person.store.read(reading.latest) == []


async def test_mail_to_the_operator_is_marked_as_read(person: Person) -> None:
    receipt = await say(person.store, "coder", OPERATOR, "done", requires_response=True)
    assert threads_in(await person.part("/threads/~rows?show=unread+mail+to+you")) == ["dm:coder:operator"]
    assert f"/messages/{receipt.message_id}/read" in (await person.part("/threads/dm:coder:operator/messages")).source
    assert await person.answer(f"/messages/{receipt.message_id}/read") == "Marked as read."
    assert threads_in(await person.part("/threads/~rows?show=unread+mail+to+you")) == []
    assert f"/messages/{receipt.message_id}/read" not in (await person.part("/threads/dm:coder:operator/messages")).source


async def test_all_unread_mail_is_marked_as_read_at_once(person: Person) -> None:
    for sender in ("coder", "ops", "sales"):
        await say(person.store, sender, OPERATOR, "done")
    assert await person.answer("/threads/~rows/read?show=unread+mail+to+you") == "3 messages marked as read."
    assert await person.store.read(reading.unread_count, OPERATOR) == 0


async def test_mail_of_others_is_not_the_operators_to_mark(person: Person) -> None:
    receipt = await say(person.store, "coder", "ops", "x")
    answer = await person.send(f"/messages/{receipt.message_id}/read")
    assert answer.status_code == 404
    assert (await person.store.read(reading.unread_count, "ops")) == 1


async def test_a_paused_thread_says_why_and_goes_on(person: Person) -> None:
    receipt = await say(person.store, "coder", "ops", "one")
    await person.store.write(pausing.pause, receipt.thread_id, ("coder", "ops"))
    assert "paused" in (await person.part(f"/threads/{receipt.thread_id}/messages")).text
    assert receipt.thread_id.replace(":", "%3A") in (await person.part("/needs")).source
    assert await person.answer(f"/threads/{receipt.thread_id}/resume") == "The thread goes on."
    assert "paused" not in (await person.part(f"/threads/{receipt.thread_id}/messages")).text


@ONLY_SQLITE
@pytest.mark.parametrize(
    "path", ["/threads/none", "/threads/none/messages", "/threads/none/speak", "/threads/dm:a:b?before=x", "/messages/none/why"]
)
async def test_no_thread_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)
