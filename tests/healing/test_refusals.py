"""Work that one agent's brain can't do is for the others who have the capability, until all have said so (A1a)."""

from __future__ import annotations

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.reports.why import why
from covey.store import Store, events
from covey.tasks import changing, reading, refusing, working
from tests.healing.test_breakers import add, take
from tests.reports.acting import awake
from tests.rules import rule


async def refuse(store: Store, agent: str) -> str:
    found = await take(store, agent)
    assert found is not None
    return (await store.write(working.fail, agent, found[1], f"{agent} does not do that", permanent=True)).state


@rule("A1a")
async def test_a_shared_task_is_passed_on_until_all_who_have_the_capability_have_refused_it(fleet: Store) -> None:
    await awake(fleet)
    task = await add(fleet, None, capability="review", max_attempts=1)
    assert await refuse(fleet, "chief") == "queued"
    assert await take(fleet, "chief") is None, "nobody is given a second time what it has refused"
    assert (await fleet.read(reading.show, task.task_id)).attempts == 0
    assert await fleet.read(refusing.refused_by, task.task_id) == ["chief"]
    assert await refuse(fleet, "coder") == "failed"
    assert (await fleet.read(reading.show, task.task_id)).error == "coder does not do that"
    kinds = [each.kind for each in await fleet.read(events.of_subject, task.task_id)][::-1]
    assert kinds == ["task.added", "task.claimed", "task.refused_by", "task.claimed", "task.failed"]
    await fleet.write(changing.retry, task.task_id, THE_OPERATOR)
    assert await take(fleet, "chief") is not None, "a retry asks everybody anew"


@rule("A1a", "K8")
async def test_it_waits_for_one_who_is_not_able_now_and_why_says_who_has_refused(fleet: Store) -> None:
    await awake(fleet)
    task = await add(fleet, None, capability="review")
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    assert await refuse(fleet, "chief") == "queued"
    told = (await fleet.read(why, task.task_id)).sentence
    assert "Nobody is able to take it now: chief has said that its brain can't do it and coder is paused." in told


@rule("A1a")
async def test_what_is_meant_for_one_agent_fails_with_its_refusal(fleet: Store) -> None:
    await add(fleet)
    assert await refuse(fleet, "coder") == "failed"
