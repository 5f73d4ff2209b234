"""`why` of a message: where each copy stands, what it waits behind, what became of it."""

from __future__ import annotations

import msgspec

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.base.settings import AgentSettings, Settings
from covey.messages import handling, sending, waiting
from covey.messages.model import Content, Draft
from covey.reports.model import Why
from covey.reports.why import why
from covey.store import Store
from tests.conftest import ManualClock
from tests.reports.acting import awake, claim_mail, send
from tests.rules import rule


async def asked(store: Store, ident: str, digest_s: float = 900.0) -> Why:
    found = await store.read(why, ident, digest_s=digest_s)
    assert found.kind == "message"
    assert msgspec.json.decode(msgspec.json.encode(found))["id"] == ident
    return found


@rule("K8", "M4")
async def test_mail_that_wakes_says_what_is_before_it(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    first = await send(fleet, "operator", "coder", "first")
    clock.at += 5
    second = await send(fleet, "operator", "coder", "second")
    found = await asked(fleet, second)
    assert "It has been in coder's mailbox since 0" in found.sentence
    assert "In line, 1 message is before it." in found.sentence
    assert found.facts["copies"][0]["before"] == 1
    assert "In line, it is the next to be handled." in (await asked(fleet, first)).sentence
    await claim_mail(fleet, "coder")
    assert "In line, it is the next to be handled; coder's brain is at other mail." in (await asked(fleet, second)).sentence
    assert "coder's brain has it, first seen" in (await asked(fleet, first)).sentence


@rule("K8", "M4b")
async def test_quiet_mail_says_when_the_digest_comes(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    quiet = await send(fleet, "sales", "coder", "for your information")
    clock.at += 300
    await awake(fleet, "coder")
    found = await asked(fleet, quiet)
    assert "rides along with coder's next turn, or with a digest in 10 min" in found.sentence
    clock.at += 600
    await awake(fleet, "coder")
    assert "or with a digest that is due now" in (await asked(fleet, quiet)).sentence


@rule("K8", "M5")
async def test_mail_of_one_who_takes_nothing_says_so(fleet: Store) -> None:
    ident = await send(fleet, "operator", "coder", "hello")
    assert "It waits there, since coder is down: it has no process that beats." in (await asked(fleet, ident)).sentence
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    found = await asked(fleet, ident)
    assert "It is held there, since coder is paused: lunch." in found.sentence
    assert found.facts["copies"][0]["state"] == "held"


@rule("K8", "M4a", "M7")
async def test_handled_mail_has_its_times_and_its_answer(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "coder", "How far?", requires_response=True)
    assert "sales waits for coder's answer and gives up in 1 h" in (await asked(fleet, ident)).sentence
    claimed = await claim_mail(fleet, "coder")
    clock.at += 4
    reply = await send(fleet, "coder", "sales", "half", in_reply_to=ident)
    await fleet.write(handling.close, "coder", claimed.token)
    clock.at += 60
    found = await asked(fleet, ident)
    assert "and handled 1 min ago" in found.sentence
    assert f"coder answered with {reply} 1 min ago" in found.sentence
    copy = found.facts["copies"][0]
    assert copy["deliveredAt"] <= copy["seenAt"] <= copy["handledAt"]
    assert f"It answers {ident}." in (await asked(fleet, reply)).sentence


@rule("K8", "M7")
async def test_a_wait_that_was_given_up_and_a_late_answer_say_so(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "coder", "How far?", requires_response=True)
    clock.at += 3601
    await fleet.write(waiting.give_up_due)
    assert "sales waited for coder's answer in vain and gave up" in (await asked(fleet, ident)).sentence
    late = await send(fleet, "coder", "sales", "half", in_reply_to=ident)
    assert "too late: the wait had been given up" in (await asked(fleet, late)).sentence


@rule("K8", "M8")
async def test_a_failed_message_says_when_it_is_tried_again_and_a_dead_one_what_to_do(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await send(fleet, "operator", "coder", "too hard")
    for attempt in range(5):
        claimed = await claim_mail(fleet, "coder")
        await fleet.write(handling.failed, "coder", claimed.token, "no idea")
        if attempt == 0:
            assert "Attempt 1 of 5 failed: no idea; it is tried again in 2 s" in (await asked(fleet, ident)).sentence
        clock.at += 61
        await awake(fleet, "coder")
    found = await asked(fleet, ident)
    assert "coder failed on it 5 times and it became a dead letter 1 min 1 s ago" in found.sentence
    assert f"`covey dead requeue {ident}`" in found.sentence
    await fleet.write(handling.drop, ident)
    assert "coder's copy was closed unhandled 0 s ago" in (await asked(fleet, ident)).sentence


@rule("K8", "M9")
async def test_expired_mail_says_so(fleet: Store, clock: ManualClock) -> None:
    now = await fleet.read(lambda tx: tx.now)
    words = Draft(to="coder", content=Content(body="soon"), expires_at=now + 10)
    ident = (await fleet.write(sending.send, words, THE_OPERATOR)).message_id
    assert "It expires in 10 s" in (await asked(fleet, ident)).sentence
    clock.at += 11
    await fleet.write(handling.expire_due)
    assert "coder did not handle it before it expired" in (await asked(fleet, ident)).sentence


@rule("K8", "M6")
async def test_of_many_copies_the_first_are_told_and_all_are_counted(fleet: Store) -> None:
    await awake(fleet)
    ident = await send(fleet, "operator", "*", "all of you")
    found = await asked(fleet, ident)
    assert len(found.facts["copies"]) == 5
    assert found.facts["states"] == {"delivered": 8}
    assert "Over all its copies: 8 delivered." in found.sentence


@rule("K8")
async def test_the_operators_mail_waits_for_the_operator(fleet: Store) -> None:
    ident = await send(fleet, "chief", "operator", "a word")
    assert "The operator has not acknowledged it." in (await asked(fleet, ident)).sentence


@rule("K8")
async def test_mail_to_one_who_left_says_so(store: Store) -> None:
    two = (AgentSettings(id="a", port=8001), AgentSettings(id="b", port=8002))
    await store.write(configuring.configure, Settings(agents=two))
    ident = await send(store, "operator", "b", "hello")
    await store.write(configuring.configure, Settings(agents=two[:1]))
    assert "b was removed from the fleet." in (await asked(store, ident)).sentence
