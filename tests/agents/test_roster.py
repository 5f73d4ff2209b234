"""Who is in the fleet, and what is said to a wrong name."""

from __future__ import annotations

import pytest

from covey.agents import configuring, roster
from covey.agents.model import as_agent
from covey.base.defaults import AGENTS
from covey.base.errors import Gone, Unknown
from covey.base.settings import AgentSettings, Settings
from covey.store import Store
from tests.conftest import EIGHT
from tests.rules import rule


@rule("A1")
async def test_the_eight_in_their_order_with_their_ports_and_buddies(fleet: Store) -> None:
    found = await fleet.read(roster.everyone)
    assert [agent.id for agent in found] == ["chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops"]
    assert [agent.port for agent in found] == list(range(8001, 8009))
    assert {agent.id: agent.buddy for agent in found} == {agent.id: agent.buddy for agent in AGENTS}
    assert await fleet.read(roster.all_names) == [agent.id for agent in found]
    assert await fleet.read(roster.find, "coder") == found[1]


@rule("M4c")
async def test_a_name_that_nobody_bears_is_answered_with_the_nearest(fleet: Store) -> None:
    with pytest.raises(Unknown, match=r"there is no agent 'codr'; nothing was stored\. Did you mean coder") as refused:
        await fleet.read(roster.find, "codr", field="to")
    assert refused.value.field == "to"
    assert refused.value.details["nearest"][0] == "coder"
    with pytest.raises(Unknown, match="The fleet has: chief, coder"):
        await fleet.read(roster.find, "xyzzy")


async def test_an_agent_that_was_removed_is_gone_and_not_unknown(fleet: Store) -> None:
    await fleet.write(configuring.configure, Settings(agents=AGENTS[:7], lead="chief", deputy="coder"))
    with pytest.raises(Gone, match="ops was removed"):
        await fleet.read(roster.find, "ops")
    seen = await fleet.read(roster.seek, "ops")
    assert seen is not None
    assert not seen.takes_work
    assert await fleet.read(roster.seek, "nobody") is None
    assert "ops" not in await fleet.read(roster.all_names)


@rule("A1a")
async def test_capabilities_are_those_that_somebody_has(fleet: Store) -> None:
    assert await fleet.read(roster.capabilities) == sorted({each for agent in AGENTS for each in agent.capabilities})
    assert [agent.id for agent in await fleet.read(roster.with_capability, "review")] == ["chief", "coder"]
    assert len(await fleet.read(roster.with_capability, "general")) == 8
    assert await fleet.read(roster.with_capability, "telepathy") == []
    await fleet.write(configuring.configure, Settings(agents=(AgentSettings(id="alone", port=8001, capabilities=("chess",)),)))
    assert await fleet.read(roster.capabilities) == ["chess"], "those of removed agents are not"
    assert [agent.id for agent in await fleet.read(roster.with_capability, "general")] == []


@rule("A2a")
async def test_lead_and_deputy_are_the_operator_where_nobody_is_there_to_play_them(store: Store) -> None:
    assert await store.read(roster.lead) == ("operator", "operator")
    await store.write(configuring.configure, EIGHT)
    assert await store.read(roster.lead) == ("chief", "ops")
    await store.write(configuring.configure, Settings(agents=AGENTS[:1]))
    assert await store.read(roster.lead) == ("operator", "operator")


async def test_vitals_are_there_from_the_first_day(fleet: Store) -> None:
    vitals = await fleet.read(roster.all_vitals)
    assert set(vitals) == {agent.id for agent in AGENTS}
    assert vitals["coder"] == await fleet.read(roster.vitals, "coder")
    assert (vitals["coder"].pid, vitals["coder"].heartbeat_at, vitals["coder"].average_task_s) == (None, None, 0.0)
    with pytest.raises(Unknown):
        await fleet.read(roster.vitals, "nobody")


def test_a_caller_is_who_its_token_says() -> None:
    assert as_agent("coder").name == "coder"
    assert not as_agent("coder").commands
