"""Two processes at once: one mail, one id, one answer, one end; whatever is first, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import collections
from functools import partial
from pathlib import Path
from typing import Any

from covey.agents.model import Caller, as_agent
from covey.base.errors import CoveyError, Cycle, IdTaken
from covey.messages import handling, reading, sending, sweeping
from covey.messages.handling import Claimed
from covey.messages.model import Draft, Receipt, draft
from covey.store import Store
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.conftest import Database, ManualClock, opened
from tests.pairs import at_once
from tests.rules import rule

Pair = tuple[Store, Store]
ROUNDS = 12


def send(store: Store, sender: str, to: str | None, body: str = "hello", **words: Any) -> partial[Any]:
    """A call that sends."""
    return partial(store.write, sending.send, draft(to, body, **words), as_agent(sender))


async def claim(store: Store, agent: str) -> Claimed | None:
    """What the agent gets next."""
    return await store.write(handling.claim, agent, "run", lease_s=60.0, digest_s=0.0)


@rule("M3")
async def test_sixteen_senders_at_once_lose_nothing_and_double_nothing(pair: Pair) -> None:
    """claude-code#53896: two senders at once rewrite one inbox, one message vanishes. ruflo#1614: eight writers lose 87 %."""
    each = 100

    async def one(number: int) -> list[Receipt]:
        store, sender = pair[number % 2], ("chief", "ops", "sales", "intel")[number % 4]
        return [
            await store.write(sending.send, draft("coder", f"{number}.{count}", type="task"), as_agent(sender)) for count in range(each)
        ]

    sent = [receipt.message_id for receipts in await asyncio.gather(*map(one, range(16))) for receipt in receipts]
    assert len(set(sent)) == 16 * each
    assert await pair[0].read(reading.unread_count, "coder") == 16 * each

    async def drain(store: Store) -> list[str]:
        found = []
        while (claimed := await claim(store, "coder")) is not None:
            found += [message.body for message in [claimed.main, *claimed.riders] if message is not None]
            await store.write(handling.close, "coder", claimed.token)
        return found

    bodies = [body for found in await asyncio.gather(drain(pair[0]), drain(pair[1]), drain(pair[0])) for body in found]
    assert collections.Counter(bodies) == collections.Counter(f"{number}.{count}" for number in range(16) for count in range(each))


@rule("M7")
async def test_of_two_waits_that_would_close_a_circle_at_once_one_is_refused(pair: Pair) -> None:
    for number in range(ROUNDS):
        found = await at_once(
            send(pair[0], "chief", "coder", requires_response=True, message_id=f"a{number}", thread_id=f"t{number}"),
            send(pair[1], "coder", "chief", requires_response=True, message_id=f"b{number}", thread_id=f"t{number}"),
        )
        refused = [each for each in found if isinstance(each, CoveyError)]
        assert [type(each) for each in refused] == [Cycle]
        first = next(each for each in found if isinstance(each, Receipt))
        answerer = next(iter(first.outcomes))
        await send(pair[0], answerer, None, in_reply_to=first.message_id)()


@rule("M7")
async def test_of_three_waits_that_would_close_a_circle_at_once_one_is_refused(pair: Pair) -> None:
    ring = (("chief", "coder"), ("coder", "ops"), ("ops", "chief"))
    for turn in range(ROUNDS // 2):
        calls = [
            send(pair[number % 2], one, other, requires_response=True, thread_id=f"t{turn}.{number}")
            for number, (one, other) in enumerate(ring)
        ]
        found = await at_once(*calls)
        assert sum(isinstance(each, Cycle) for each in found) == 1
        for (_, answerer), each in zip(ring, found, strict=True):
            if isinstance(each, Receipt):
                await send(pair[0], answerer, None, in_reply_to=each.message_id)()


@rule("T3", "M3")
async def test_the_same_id_sent_twice_at_once_is_stored_once(pair: Pair) -> None:
    for number in range(ROUNDS):
        found = await at_once(*(send(store, "chief", "coder", message_id=f"m{number}") for store in (*pair, *pair)))
        assert sorted(each.known for each in found if isinstance(each, Receipt)) == [False, True, True, True]
    assert await pair[0].read(reading.unread_count, "coder") == ROUNDS


@rule("T3")
async def test_one_id_for_a_message_and_a_task_at_once_goes_to_one_of_them(pair: Pair) -> None:
    for number in range(ROUNDS):
        ident = f"one{number}"
        found = await at_once(
            send(pair[0], "chief", "coder", message_id=ident),
            partial(pair[1].write, adding.add, TaskDraft(description="x", task_id=ident), Caller("agent", "chief")),
        )
        assert sum(isinstance(each, IdTaken) for each in found) == 1


@rule("M4c")
async def test_of_two_replies_at_once_one_is_the_first(pair: Pair) -> None:
    for number in range(ROUNDS):
        asked = f"q{number}"
        await send(pair[0], "chief", "coder", requires_response=True, message_id=asked, thread_id=f"t{number}")()
        found = await at_once(*(send(store, "coder", None, in_reply_to=asked) for store in pair))
        assert sorted(str(each.note) for each in found if isinstance(each, Receipt)) == ["None", "second"]
        (copy,) = await pair[0].read(reading.show, asked)
        assert copy.answered_by in {each.message_id for each in found if isinstance(each, Receipt) and each.note is None}


@rule("M7")
async def test_a_reply_at_the_deadline_is_in_time_or_late_and_never_both(pair: Pair, clock: ManualClock) -> None:
    notes = set()
    for number in range(ROUNDS):
        asked, deadline = f"q{number}", clock.wall() + 1
        await send(pair[0], "chief", "coder", requires_response=True, message_id=asked, deadline=deadline, thread_id=f"t{number}")()
        clock.at += 1
        calls = [
            send(pair[0], "coder", None, in_reply_to=asked),
            partial(pair[1].write, sweeping.give_up_waits),
            partial(pair[0].write, sweeping.give_up_waits),
        ]
        found = await at_once(*(calls if number % 2 else calls[::-1]))
        (receipt,) = [each for each in found if isinstance(each, Receipt)]
        given_up = [wait for each in found if isinstance(each, list) for wait in each]
        assert [wait.message_id for wait in given_up] == ([asked] if receipt.note == "late" else [])
        notices = [
            each
            for each in (await pair[0].read(reading.inbox, "chief", limit=200)).items
            if each.from_ == "system" and each.in_reply_to == asked
        ]
        assert len(notices) == len(given_up)
        notes.add(receipt.note)
    assert notes <= {None, "late"}


@rule("M9")
async def test_mail_at_its_end_is_handled_or_expires_and_never_both(
    pair: Pair, database: Database, clock: ManualClock, tmp_path: Path
) -> None:
    later = ManualClock()
    later.at = clock.at + 1
    async with opened(database, tmp_path, later) as ahead:
        for number in range(ROUNDS):
            wanted = Draft(
                to="coder", content=draft("coder", "x").content, type="task", message_id=f"m{number}", expires_at=clock.wall() + 1
            )
            await pair[0].write(sending.send, wanted, as_agent("chief"))
            claims = (partial(claim, pair[number % 2], "coder"), partial(ahead.write, sweeping.expire_mail))
            found = await at_once(*(claims if number % 3 else claims[::-1]))
            expired = next(each for each in found if isinstance(each, int))
            claimed = next((each for each in found if isinstance(each, Claimed)), None)
            (copy,) = await pair[0].read(reading.show, f"m{number}")
            assert (copy.state, expired) == (("expired", 1) if claimed is None else ("seen", 0))
            if claimed is not None:
                await pair[0].write(handling.close, "coder", claimed.token)


@rule("M3", "K4")
async def test_a_finish_and_a_release_at_once_leave_one_end(pair: Pair) -> None:
    for number in range(ROUNDS):
        await send(pair[0], "chief", "coder", type="task", message_id=f"m{number}")()
        claimed = await claim(pair[0], "coder")
        assert claimed is not None
        found = await at_once(
            partial(pair[0].write, handling.close, "coder", claimed.token), partial(pair[1].write, handling.give_back, claimed.token)
        )
        (copy,) = await pair[0].read(reading.show, f"m{number}")
        if copy.state == "handled":
            assert found[1] == 0
        else:
            assert isinstance(found[0], CoveyError)
            assert (copy.state, copy.attempts) == ("delivered", 0)
            await pair[0].write(handling.acknowledge, "coder", f"m{number}")
