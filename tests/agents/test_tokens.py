"""Who a bearer token's hash belongs to; buddy checks and external agents, as they are recorded."""

from __future__ import annotations

import pytest

from covey.agents import carrying, checking, configuring, external, roster, tokens
from covey.agents.carrying import CarriedMetrics
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.defaults import AGENTS
from covey.base.errors import Forbidden, Invalid, Unknown
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.store import Store, events
from tests.conftest import ManualClock
from tests.rules import rule

HASHES = {name: tokens.hash_of(f"secret of {name}") for name in ("operator", "coder", "ops")}


async def test_a_hash_is_its_holders_and_nobody_elses(fleet: Store) -> None:
    assert not await fleet.read(tokens.any_there)
    await fleet.write(tokens.put_all, HASHES)
    assert await fleet.read(tokens.any_there)
    assert await fleet.read(tokens.who, HASHES["operator"]) == (THE_OPERATOR, False)
    assert await fleet.read(tokens.who, HASHES["coder"]) == (as_agent("coder"), False)
    assert await fleet.read(tokens.who, tokens.hash_of("guess")) is None
    assert await fleet.read(tokens.who, "secret of coder") is None, "the token itself is not what is stored"


async def test_a_changed_token_opens_nothing_any_more_and_is_told_of_once(fleet: Store) -> None:
    await fleet.write(tokens.put, "coder", HASHES["coder"])
    await fleet.write(tokens.put, "coder", HASHES["coder"])
    await fleet.write(tokens.put, "coder", tokens.hash_of("new"))
    assert await fleet.read(tokens.who, HASHES["coder"]) is None
    assert await fleet.read(tokens.who, tokens.hash_of("new")) == (as_agent("coder"), False)
    told = await fleet.read(events.of_agent, "coder")
    assert [event.kind for event in told].count("token.changed") == 2
    assert HASHES["coder"] not in str(told)


async def test_the_token_of_an_agent_that_was_removed_opens_nothing(fleet: Store) -> None:
    await fleet.write(tokens.put_all, HASHES)
    await fleet.write(configuring.configure, Settings(agents=AGENTS[:7], lead="chief", deputy="coder"))
    assert await fleet.read(tokens.who, HASHES["ops"]) is None
    assert await fleet.read(tokens.who, HASHES["coder"]) is not None


@rule("A5b", "A8")
async def test_the_calls_of_an_external_agent_are_its_heartbeat(fleet: Store, clock: ManualClock) -> None:
    guest = AgentSettings(id="guest", port=8009, brain=BrainSettings(kind="external"))
    await fleet.write(configuring.configure, Settings(agents=(*AGENTS, guest), lead="chief", deputy="ops"))
    await fleet.write(tokens.put, "guest", tokens.hash_of("x"))
    assert await fleet.read(tokens.who, tokens.hash_of("x")) == (as_agent("guest"), True)
    await fleet.write(external.seen, "guest")
    assert (await fleet.read(roster.vitals, "guest")).seen_at == clock.wall()


@rule("B2", "M11")
async def test_a_buddy_check_counts_for_the_one_who_watches(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(checking.checked, "ops", as_agent("chief"))
    assert (await fleet.read(roster.vitals, "chief")).last_buddy_check == clock.wall()
    await fleet.write(checking.checked, "sales", as_agent("coder"))
    assert (await fleet.read(roster.vitals, "coder")).last_buddy_check is None, "somebody else than its buddy"
    await fleet.write(checking.checked, "sales", THE_OPERATOR, "operator")
    with pytest.raises(Forbidden, match="from is 'ops'") as refused:
        await fleet.write(checking.checked, "coder", as_agent("sales"), "ops")
    assert refused.value.field == "from"


@rule("S4")
async def test_counts_are_carried_over_once(fleet: Store, clock: ManualClock) -> None:
    carried = CarriedMetrics(
        tasks_completed=4, average_task_time=2.5, tasks_failed=1, messages_handled=9, last_active_time=clock.wall() + 100
    )
    assert await fleet.write(carrying.put_metrics, "coder", carried)
    found = await fleet.read(roster.vitals, "coder")
    assert (found.tasks_completed, found.average_task_s, found.tasks_failed, found.messages_handled) == (4, 2.5, 1, 9)
    assert found.last_active_at == clock.wall(), "not a time that is still to come"
    assert not await fleet.write(carrying.put_metrics, "coder", CarriedMetrics(tasks_completed=100))
    assert not await fleet.write(carrying.put_metrics, "ops", CarriedMetrics())
    with pytest.raises(Invalid) as refused:
        await fleet.write(carrying.put_metrics, "ops", CarriedMetrics(tasks_completed=-1))
    assert refused.value.field == "tasksCompleted"
    with pytest.raises(Unknown):
        await fleet.write(carrying.put_metrics, "nobody", carried)
