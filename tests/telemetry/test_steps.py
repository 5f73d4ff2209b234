"""What a send, a task and a turn come to in a trace, on both databases, recorded or not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base import tracing
from covey.base.errors import CoveyError
from covey.base.tracing import Trace, parse
from covey.brains.model import Cost, Hands, Outcome, Turn
from covey.links import verbs as links
from covey.links.model import LinkChange
from covey.messages import handling, sending
from covey.messages.model import Draft, Message, draft
from covey.store import Store, events
from covey.tasks import adding, working
from covey.tasks.model import TaskDraft
from covey.teams.runs import driving, starting
from covey.teams.runs.model import Part, TeamDraft
from tests.api.world import World, bearer, give_tokens
from tests.conftest import EIGHT, Database, ManualClock, opened
from tests.rules import rule
from tests.runner.office import OwnBrain, office
from tests.telemetry.collector import Kept

HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ABOVE = parse(HEADER)


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
async def recorded(database: Database, clock: ManualClock, tmp_path: Path, kept: Kept) -> AsyncIterator[Store]:
    """The default eight, in a store whose process records spans."""
    async with opened(database, tmp_path, clock) as found:
        found.spans = kept
        await found.write(configuring.configure, EIGHT)
        yield found


def worded(to: str, text: str, *, traceparent: str | None = None, **more: Any) -> Draft:
    """A draft that names a step."""
    found = draft(to, text, **more)
    found.traceparent = traceparent
    return found


async def stored(store: Store, to: str, text: str, by: str = "operator", **more: Any) -> Message:
    """A message that was sent, as it is stored."""
    caller = THE_OPERATOR if by == "operator" else as_agent(by)
    receipt = await store.write(sending.send, worded(to, text, **more), caller)
    claimed = await store.write(handling.claim, to, "run_1", lease_s=60.0, digest_s=0.0)
    assert claimed is not None
    found = claimed.main or claimed.riders[0]
    assert found.message_id == receipt.message_id
    await store.write(handling.close, to, claimed.token)
    return found


async def names_so_far(store: Store, kept: Kept) -> set[str]:
    """What was recorded up to now: spans come in order, so those of a message sent after it are waited for, and left out."""
    await store.write(sending.send, draft("finance", "after"), THE_OPERATOR)
    last = await kept.named("send finance")
    return {span.name for span in kept.spans if span.trace.trace_id != last.trace.trace_id}


@rule("M1")
async def test_a_message_goes_on_from_the_step_of_who_sends_it(recorded: Store, kept: Kept) -> None:
    with tracing.entered(ABOVE):
        found = await stored(recorded, "coder", "look", "chief")
    span = await kept.named("send coder")
    assert found.traceparent == span.trace.header
    assert (span.parent, span.kind) == (ABOVE, "producer")
    assert span.attributes["messaging.message.id"] == found.message_id
    assert "look" not in str(kept.spans)
    commit = await kept.named("commit send")
    assert (commit.parent, commit.attributes["db.operation.name"]) == (ABOVE, "send")


async def test_a_message_that_names_a_step_goes_on_from_that(recorded: Store, kept: Kept) -> None:
    found = await stored(recorded, "coder", "look", "chief", traceparent=HEADER)
    span = await kept.named("send coder")
    assert (span.parent, found.traceparent) == (ABOVE, span.trace.header)


async def test_a_message_of_no_trace_begins_one_and_the_reply_goes_on_with_it(recorded: Store, kept: Kept) -> None:
    asked = await stored(recorded, "coder", "how is it?", requires_response=True)
    first = await kept.named("send coder")
    assert first.parent is None
    await recorded.write(sending.send, draft(None, "well", in_reply_to=asked.message_id), as_agent("coder"))
    assert (await kept.named("send operator")).parent == first.trace


async def test_mail_of_the_protocol_begins_no_trace(recorded: Store, kept: Kept) -> None:
    await recorded.write(sending.notify, "coder", "a word", "from the system")
    assert await names_so_far(recorded, kept) == set()


async def test_a_task_has_a_step_of_its_own(recorded: Store, kept: Kept) -> None:
    with tracing.entered(ABOVE):
        task = await recorded.write(adding.add, TaskDraft(description="count", agent="coder"), THE_OPERATOR)
    span = await kept.named("create_task coder")
    assert (span.parent, task.traceparent) == (ABOVE, span.trace.header)
    assert span.attributes["covey.task.id"] == task.task_id


async def test_a_task_that_names_a_step_goes_on_from_that(recorded: Store, kept: Kept) -> None:
    task = await recorded.write(adding.add, TaskDraft(description="count", agent="coder", traceparent=HEADER), THE_OPERATOR)
    span = await kept.named("create_task coder")
    assert (span.parent, task.traceparent) == (ABOVE, span.trace.header)


async def test_the_steps_of_a_team_run_are_below_it_whoever_gives_them_out(recorded: Store, kept: Kept, clock: ManualClock) -> None:
    await recorded.write(living.arrive, "coder", node="n1", pid=7, start_ticks=7, boot_id="b", port=8002)
    draft = TeamDraft(goal="count", workers=["coder"], strict=False, parts=[Part(description="one"), Part(description="two", needs=[1])])
    with tracing.entered(ABOVE):
        await recorded.write(starting.start, draft, THE_OPERATOR)
    begun = await kept.named("team start")
    first = await kept.named("create_task coder")
    assert (begun.parent, first.parent) == (ABOVE, begun.trace)
    claimed = await recorded.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert claimed is not None
    await recorded.write(working.finish, "coder", claimed[1], "1")
    kept.spans.clear()
    clock.at += 1
    await recorded.write(driving.advance_due)
    assert (await kept.named("create_task coder")).parent == begun.trace


async def test_what_a_failed_verb_said_is_recorded_nowhere(recorded: Store, kept: Kept) -> None:
    with tracing.entered(ABOVE), pytest.raises(CoveyError):
        await recorded.write(sending.send, draft("nobody", "look"), THE_OPERATOR)
    assert await names_so_far(recorded, kept) == set()


async def test_a_throttled_and_a_deferred_message_are_steps(database: Database, clock: ManualClock, tmp_path: Path, kept: Kept) -> None:
    async with opened(database, tmp_path, clock) as store:
        store.spans = kept
        await store.write(configuring.configure, msgspec.structs.replace(EIGHT, limits="on"))
        with tracing.entered(ABOVE):
            await store.write(sending.send, draft("coder", "one"), as_agent("chief"))
            await store.write(sending.send, draft("coder", "two"), as_agent("chief"))
        await store.write(links.change, "chief", "coder", LinkChange(messages_per_window=1), THE_OPERATOR)
        clock.at += 10
        with tracing.entered(ABOVE):
            await store.write(sending.send, draft("coder", "three"), as_agent("chief"))
            clock.at += 10
            await store.write(sending.send, draft("coder", "four"), as_agent("chief"))
    assert (await kept.named("throttle")).attributes["covey.status"] == "debounced"
    assert (await kept.named("throttle")).parent == ABOVE
    assert "covey.deliverAt" in (await kept.named("defer")).attributes


@rule("M1")
async def test_an_agents_turn_is_two_steps_and_what_it_sends_goes_on_from_them(recorded: Store, kept: Kept) -> None:
    seen: list[Trace | None] = []

    async def think(turn: Turn, hands: Hands) -> Outcome:
        seen.append(tracing.current())
        return Outcome(summary="well", messages=[draft("ops", "a word")], cost=Cost(usd=0.5, tokens_in=70, tokens_out=7))

    receipt = await recorded.write(sending.send, draft("coder", "how is it?", requires_response=True), THE_OPERATOR)
    async with office(recorded, OwnBrain(think)) as at:
        await at.handled(receipt.message_id)
    process, brain = await kept.named("process coder"), await kept.named("invoke_agent coder")
    assert process.parent == (await kept.named("send coder")).trace
    assert (brain.parent, seen) == (process.trace, [brain.trace])
    assert (await kept.named("send ops")).parent == (await kept.named("send operator")).parent == process.trace
    assert brain.attributes["gen_ai.usage.input_tokens"] == 70
    assert process.kind == "consumer"
    assert not process.error


async def test_a_failed_turn_is_a_step_with_an_error(recorded: Store, kept: Kept) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        raise ValueError("the secret is out")

    task = await recorded.write(adding.add, TaskDraft(description="count", agent="coder", max_attempts=1), THE_OPERATOR)
    async with office(recorded, OwnBrain(think)) as at:
        await at.in_state(task.task_id, "failed")
    assert ((await kept.named("process coder")).error, (await kept.named("invoke_agent coder")).error) == ("failed", "failed")
    assert "secret" not in str(kept.spans)


@rule("M1")
async def test_a_trace_is_handed_on_where_nothing_is_recorded(fleet: Store) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        return Outcome(summary="well", tasks=[TaskDraft(description="count", agent="ops")])

    receipt = await fleet.write(sending.send, worded("coder", "go", requires_response=True, traceparent=HEADER), THE_OPERATOR)
    async with office(fleet, OwnBrain(think)) as at:
        await at.handled(receipt.message_id)
    told = await fleet.read(events.after, events.START)
    made = next(event for event in told.events if event.kind == "task.added")
    assert made.data["trace"] == HEADER
    assert "above" not in made.data


async def test_a_trace_comes_in_by_http(recorded: Store, kept: Kept, clock: ManualClock) -> None:
    await give_tokens(recorded)
    world = World(recorded, clock)
    try:
        headers = bearer("chief") | {"traceparent": HEADER}
        answer = await world.fleet.post("/api/v1/messages", json={"to": "coder", "content": {"body": "look"}}, headers=headers)
        assert answer.status_code == 201, answer.text
        bad = bearer("chief") | {"traceparent": "00-nonsense"}
        answer = await world.fleet.post("/api/v1/messages", json={"to": "ops", "content": {"body": "look"}}, headers=bad)
        assert answer.status_code == 201, answer.text
    finally:
        await world.close()
    assert (await kept.named("send coder")).parent == ABOVE
    assert (await kept.named("send ops")).parent is None


def test_nothing_of_opentelemetry_is_imported_where_no_traces_are_sent(tmp_path: Path) -> None:
    code = (
        "import sys, covey, asyncio, covey.app.hosting\n"
        f"async def go():\n    async with covey.Fleet.open({str(tmp_path)!r}, environ={{}}) as fleet:\n        await fleet.send('coder', 'x')\n"
        "asyncio.run(go())\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
