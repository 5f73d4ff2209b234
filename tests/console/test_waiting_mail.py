"""Deferred mail and dead letters: what waits and why; one by one or all that match, and nothing else; told truly."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.links.model import LinkChange
from covey.messages import handling, reading, relinking, sending
from covey.messages.model import MAX_ATTEMPTS, draft
from covey.store import Store
from tests.conftest import EIGHT, ManualClock
from tests.console.person import Page, Person, notice_of, person_of
from tests.rules import rule

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
LIMITED = msgspec.structs.replace(EIGHT, limits="on")
HOSTILE = "<script>alert(1)</script> \u202eevil " + "x" * 50_000


@pytest.fixture
async def person(fleet: Store, clock: ManualClock) -> AsyncIterator[Person]:
    """The operator, signed in, before the eight with their limits on."""
    await fleet.write(configuring.configure, LIMITED)
    async with person_of(fleet, clock, LIMITED) as found:
        await found.sign_in()
        yield found


WINDOW = 3
"""So much goes at once, and as much may wait for the next window."""


async def defer(person: Person, sender: str, to: list[str], *bodies: str) -> list[str]:
    """The ids of messages that wait for credit at each receiver, since others before them have used it up."""
    for other in to:
        wanted = LinkChange(messages_per_window=WINDOW, debounce_s=0.0)
        await person.store.write(relinking.change, sender, other, wanted, THE_OPERATOR)
        for n in range(WINDOW):
            await person.store.write(sending.send, draft(other, f"fact {n} for {other}"), as_agent(sender), wait_s=60.0)
    return [(await person.store.write(sending.send, draft(to, body), as_agent(sender), wait_s=60.0)).message_id for body in bodies]


async def die(person: Person, clock: ManualClock, agent: str, body: str, reason: str) -> str:
    """The id of a message from the operator that the agent's brain failed on until it was given up."""
    receipt = await person.store.write(sending.send, draft(agent, body), THE_OPERATOR, wait_s=60.0)
    for _ in range(MAX_ATTEMPTS):
        claimed = await person.store.write(handling.claim, agent, "run_1", lease_s=60.0, digest_s=0.0)
        assert claimed is not None
        await person.store.write(handling.failed, agent, claimed.token, reason)
        clock.at += 61.0
    return receipt.message_id


async def state_of(person: Person, ident: str, receiver: str) -> str | None:
    return (await person.store.read(reading.copy, ident, receiver)).state


def rows_in(page: Page) -> int:
    return sum("data-open" in found for found in page.all("a"))


# deferred


@rule("L6")
async def test_deferred_mail_is_shown_with_where_and_until_when_it_waits(person: Person) -> None:
    assert "No mail waits for credit" in (await person.look("/deferred")).text
    await defer(person, "chief", ["coder"], "the build is red")
    page = await person.look("/deferred")
    assert rows_in(page) == 1
    assert all(words in page.text for words in ("the build is red", "chief", "coder", "Deliver", "Cancel"))
    assert "/threads/dm%3Achief%3Acoder" in page.hrefs()
    (row,) = (await person.http.get("/deferred/~rows.json")).json()["items"]
    assert row["deliverAt"] > row["sentAt"]


async def test_deferred_mail_is_filtered_by_sender_receiver_and_words(person: Person) -> None:
    await defer(person, "chief", ["coder"], "red", "green")
    await defer(person, "sales", ["ops"], "red too")
    assert [
        rows_in(await person.part(f"/deferred/~rows?{query}")) for query in ("", "sender=chief", "receiver=ops", "q=RED", "q=red%20too")
    ] == [
        *(3, 2, 1, 2, 1),
    ]
    assert "No row matches" in (await person.part("/deferred/~rows?sender=ops")).text


@rule("L6")
async def test_one_copy_is_delivered_or_taken_back_and_the_others_of_its_message_go_on_waiting(person: Person) -> None:
    (ident,) = await defer(person, "chief", ["coder", "sales", "ops"], "to three")
    assert await person.answer(f"/deferred/{ident}/coder/release") == "The message to coder is delivered at once."
    assert await person.answer(f"/deferred/{ident}/sales/cancel") == "The message to sales is taken back."
    states = [await state_of(person, ident, name) for name in ("coder", "sales", "ops")]
    assert states == ["delivered", "expired", "deferred"]


async def test_what_waits_no_more_is_not_asked_about_and_not_done(person: Person) -> None:
    (ident,) = await defer(person, "chief", ["coder"], "once")
    question = await person.part(f"/deferred/{ident}/coder/cancel")
    await person.answer(f"/deferred/{ident}/coder/release")
    assert "is delivered by now" in (await person.part(f"/deferred/{ident}/coder/cancel")).text
    answer = await person.send(question.one("form")["action"], None, **question.fields)
    assert answer.status_code == 404
    assert "no deferred message to coder" in notice_of(answer)
    assert await state_of(person, ident, "coder") == "delivered"


async def test_all_that_match_are_taken_back_and_no_other_copy(person: Person) -> None:
    first, second = await defer(person, "chief", ["coder", "sales"], "one", "two")
    question = await person.part("/deferred/~rows/cancel?receiver=sales")
    assert "Cancel 2 messages?" in question.text
    assert "to “sales”" in question.text
    assert await person.answer("/deferred/~rows/cancel?receiver=sales") == "2 messages taken back."
    states = [await state_of(person, ident, name) for ident in (first, second) for name in ("coder", "sales")]
    assert states == ["deferred", "expired", "deferred", "expired"]
    assert await person.answer("/deferred/~rows/release") == "2 messages delivered at once."


async def test_nothing_is_taken_back_if_more_wait_than_was_said(person: Person) -> None:
    await defer(person, "chief", ["coder"], "one")
    question = await person.part("/deferred/~rows/cancel")
    await person.store.write(sending.send, draft("coder", "two"), as_agent("chief"), wait_s=60.0)
    answer = await person.send(question.one("form")["action"], None, **question.fields)
    assert (answer.status_code, "2 messages match now, not 1" in notice_of(answer)) == (412, True)
    assert rows_in(await person.part("/deferred/~rows")) == 2


# dead letters


@rule("M8")
async def test_a_dead_letter_shows_its_text_reason_and_attempts_and_hostile_words_are_inert(person: Person, clock: ManualClock) -> None:
    assert "No mail was given up" in (await person.look("/dead-letters")).text
    await die(person, clock, "coder", HOSTILE, HOSTILE)
    page = await person.look("/dead-letters")
    assert rows_in(page) == 1
    assert page.text.count("<script>alert(1)</script>") == 2
    assert "<script>alert" not in page.source
    assert "\u202e" not in page.source
    assert len(page.source) < 20_000
    (row,) = (await person.http.get("/dead-letters/~rows.json")).json()["items"]
    assert (row["attempts"], row["from"], row["to"]) == (MAX_ATTEMPTS, "operator", "coder")


@rule("M8")
async def test_a_dead_letter_is_tried_again_or_dropped(person: Person, clock: ManualClock) -> None:
    first = await die(person, clock, "coder", "first", "exit code 1")
    second = await die(person, clock, "coder", "second", "exit code 2")
    assert await person.answer(f"/dead-letters/{first}/coder/requeue") == "The message to coder is in the mailbox again."
    assert await person.answer(f"/dead-letters/{second}/coder/drop") == "The message to coder is dropped."
    assert await state_of(person, first, "coder") == "delivered"
    assert (await person.store.read(reading.copy, second, "coder")).reason == "dropped by the operator: exit code 2"
    assert "is expired by now" in (await person.part(f"/dead-letters/{second}/coder/requeue")).text


async def test_one_dead_copy_is_dropped_and_anothers_stays(person: Person, clock: ManualClock) -> None:
    receipt = await person.store.write(sending.send, draft(["coder", "ops"], "both"), THE_OPERATOR, wait_s=60.0)
    for _ in range(MAX_ATTEMPTS):
        for agent in ("coder", "ops"):
            claimed = await person.store.write(handling.claim, agent, "run_1", lease_s=60.0, digest_s=0.0)
            assert claimed is not None
            await person.store.write(handling.failed, agent, claimed.token, "no")
        clock.at += 61.0
    await person.answer(f"/dead-letters/{receipt.message_id}/ops/drop")
    states = [await state_of(person, receipt.message_id, name) for name in ("coder", "ops")]
    assert states == ["dead", "expired"]
    await person.answer(f"/dead-letters/{receipt.message_id}/coder/requeue")
    states = [await state_of(person, receipt.message_id, name) for name in ("coder", "ops")]
    assert states == ["delivered", "expired"]


async def test_dead_letters_are_found_by_their_reason_and_all_that_match_are_dropped(person: Person, clock: ManualClock) -> None:
    first = await die(person, clock, "coder", "first", "rate limit")
    second = await die(person, clock, "ops", "second", "exit code 2")
    assert rows_in(await person.part("/dead-letters/~rows?q=Rate")) == 1
    assert rows_in(await person.part("/dead-letters/~rows?receiver=ops")) == 1
    assert await person.answer("/dead-letters/~rows/drop?q=rate") == "1 message dropped."
    assert [await state_of(person, first, "coder"), await state_of(person, second, "ops")] == ["expired", "dead"]
    assert await person.answer("/dead-letters/~rows/requeue") == "1 message in the mailbox again."


@ONLY_SQLITE
@pytest.mark.parametrize("path", ["/deferred/msg_x/coder/cancel", "/dead-letters/msg_x/coder/drop"])
async def test_a_message_that_is_not_there_is_told(person: Person, path: str) -> None:
    answer = await person.http.get(path, headers={"HX-Request": "true"})
    assert answer.status_code == 404
    assert "there is no message" in notice_of(answer)
    assert (await person.send(path)).status_code == 404
