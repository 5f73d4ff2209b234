"""The seeds' agent state, live, and the same for the whole fleet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents import configuring, external, living
from covey.agents.model import THE_OPERATOR, THE_SYSTEM
from covey.base.errors import Unknown
from covey.base.settings import AgentSettings, BrainSettings, ProjectSettings, Settings
from covey.contexts import entries
from covey.messages import handling
from covey.reports import pulse, status
from covey.store import Store, Transaction
from covey.tasks import working
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.reports.acting import PID, add, awake, claim_mail, send, take
from tests.rules import rule

SEED = {
    "": {"agentId", "status", "lastHeartbeat", "currentTask", "taskQueue", "buddyId", "lastBuddyCheck", "context", "metrics"},
    "context": {"activeProjects", "recentDecisions", "contextSize", "maxContextSize"},
    "metrics": {"tasksCompleted", "averageTaskTime", "lastActiveTime", "stallCount"},
    "currentTask": {"taskId", "description", "startTime", "estimatedCompletion", "priority", "assignedBy"},
}
QUEUED = {"taskId", "description", "priority", "dependencies", "createdBy", "createdAt"}


async def state(store: Store, name: str) -> dict[str, Any]:
    return await store.read(status.agent_state, name)


@rule("A4", "A1b")
async def test_the_state_has_every_field_of_the_seed_and_its_values_are_live(store: Store, clock: ManualClock) -> None:
    await store.write(
        configuring.configure,
        Settings(
            agents=EIGHT.agents, lead="chief", deputy="ops", projects=(ProjectSettings(name="site", path="/srv/site", agents=("coder",)),)
        ),
    )
    await awake(store)
    first = await add(store, "Review weekly priorities", "coder", priority="high", estimated_seconds=3600.0)
    await add(store, "Schedule team sync", "coder", dependencies=[first.task_id], project_id="site")
    await take(store, "coder")
    await store.write(entries.remember, "coder", "decision", "Tests come first")
    started = await store.read(lambda tx: tx.now)
    found = await state(store, "coder")

    assert SEED[""] <= found.keys()
    assert all(SEED[part] <= found[part].keys() for part in ("context", "metrics", "currentTask"))
    assert found["taskQueue"][0].keys() >= QUEUED
    assert (found["agentId"], found["status"], found["buddyId"], found["lastBuddyCheck"]) == ("coder", "busy", "devops", None)
    task = found["currentTask"]
    assert (task["taskId"], task["description"], task["priority"], task["assignedBy"]) == (
        first.task_id,
        "Review weekly priorities",
        "high",
        "operator",
    )
    assert task["startTime"] == pytest.approx(started)
    assert task["estimatedCompletion"] - task["startTime"] == 3600.0
    assert [(each["description"], each["dependencies"]) for each in found["taskQueue"]] == [("Schedule team sync", [first.task_id])]
    assert found["context"]["activeProjects"] == ["site"]
    assert [each["text"] for each in found["context"]["recentDecisions"]] == ["Tests come first"]
    assert found["context"]["contextSize"] == entries.tokens_of("Tests come first")
    assert found["context"]["maxContextSize"] == 8192
    assert (found["pid"], found["node"], found["url"], found["queueLength"]) == (PID + 1, "n1", "http://127.0.0.1:8002", 1)


@rule("A4")
async def test_finished_work_shows_in_the_metrics(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, "Count", "coder")
    _, token = await take(fleet, "coder")
    clock.at += 40
    await fleet.write(living.beat, "coder", pid=PID + 1)
    done_at = (await fleet.write(working.finish, "coder", token, "7")).finished_at
    found = await state(fleet, "coder")
    assert found["currentTask"] is None
    assert found["taskQueue"] == []
    assert found["metrics"]["tasksCompleted"] == 1
    assert found["metrics"]["averageTaskTime"] == pytest.approx(40, abs=0.1)
    assert found["metrics"]["lastActiveTime"] == pytest.approx(done_at)


@rule("A3")
async def test_the_status_is_the_first_fact_that_holds(fleet: Store, clock: ManualClock) -> None:
    assert (await state(fleet, "coder"))["status"] == "stalled"
    await awake(fleet)
    assert (await state(fleet, "coder"))["status"] == "idle"
    await add(fleet, "Count", "coder")
    assert (await state(fleet, "coder"))["status"] == "active"
    await take(fleet, "coder")
    assert (await state(fleet, "coder"))["status"] == "busy"
    clock.at += 61
    assert (await state(fleet, "coder"))["status"] == "stalled"
    await fleet.write(living.give_up, "coder", "five restarts in ten minutes")
    assert (await state(fleet, "coder"))["status"] == "error"


@rule("A3", "K2")
async def test_work_in_a_shared_queue_makes_those_active_that_may_take_it(fleet: Store) -> None:
    await awake(fleet)
    await add(fleet, "Write tests", capability="test")
    found = {row["agentId"]: row["status"] for row in await fleet.read(status.fleet)}
    assert found.pop("coder") == "active"
    assert set(found.values()) == {"idle"}


@rule("A3", "M4b")
async def test_mail_that_wakes_makes_an_agent_active_and_mail_with_its_brain_busy(fleet: Store) -> None:
    await awake(fleet)
    await send(fleet, "sales", "coder", "for your information")
    assert (await state(fleet, "coder"))["status"] == "idle"
    await send(fleet, "operator", "coder", "look here")
    found = await state(fleet, "coder")
    assert (found["status"], found["unread"]) == ("active", 2)
    claimed = await claim_mail(fleet, "coder")
    assert (await state(fleet, "coder"))["status"] == "busy"
    await fleet.write(handling.close, "coder", claimed.token)
    assert (await state(fleet, "coder"))["unread"] == 0


@rule("A3", "A7")
async def test_flags_stand_beside_the_status(fleet: Store) -> None:
    await awake(fleet)
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    await fleet.write(living.stop, "devops", THE_OPERATOR, "fire")
    found = {row["agentId"]: row["flags"] for row in await fleet.read(status.fleet)}
    assert found["coder"] == {"stopped": False, "paused": True, "away": False, "reason": "lunch"}
    assert found["devops"] == {"stopped": True, "paused": False, "away": False, "reason": "fire"}
    assert found["ops"] == {"stopped": False, "paused": False, "away": False, "reason": None}


@rule("A5b")
async def test_an_external_agent_is_away_once_it_was_not_seen_for_its_cadence(store: Store, clock: ManualClock) -> None:
    outside = AgentSettings(id="claude", port=8001, brain=BrainSettings(kind="external"), cadence_s=100.0)
    await store.write(configuring.configure, Settings(agents=(outside,)))
    assert (await state(store, "claude"))["flags"]["away"]
    await store.write(external.seen, "claude")
    clock.at += 90
    found = await state(store, "claude")
    assert (found["flags"]["away"], found["status"]) == (False, "idle")
    clock.at += 20
    found = await state(store, "claude")
    assert (found["flags"]["away"], found["status"]) == (True, "idle")


@rule("A5b", "A3")
async def test_an_agent_that_becomes_external_is_away_at_once_whatever_its_process_did(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await fleet.write(living.acted, "coder", messages=1)
    await add(fleet, "Count", "coder")
    assert (await state(fleet, "coder"))["status"] == "active"
    agents = tuple(
        msgspec.structs.replace(each, brain=BrainSettings(kind="external")) if each.id == "coder" else each for each in EIGHT.agents
    )
    await fleet.write(configuring.configure, msgspec.structs.replace(EIGHT, agents=agents))
    found = await state(fleet, "coder")
    assert (found["flags"]["away"], found["status"], found["lastHeartbeat"]) == (True, "idle", None)
    await fleet.write(living.beat, "coder", pid=PID + 1)
    assert (await state(fleet, "coder"))["flags"]["away"], "the last beats of its process are no calls of its own"
    await fleet.write(external.seen, "coder")
    found = await state(fleet, "coder")
    assert (found["flags"]["away"], found["status"]) == (False, "active")


async def test_the_fleet_says_of_each_agent_what_its_own_state_says(fleet: Store) -> None:
    await awake(fleet)
    await add(fleet, "Count", "coder")
    await take(fleet, "coder")
    await add(fleet, "Count again", "coder")
    await send(fleet, "operator", "ops", "look")
    rows = await fleet.read(status.fleet)
    assert [row["agentId"] for row in rows] == [agent.id for agent in EIGHT.agents]
    for row in rows:
        own = await state(fleet, row["agentId"])
        del own["taskQueue"], own["context"]["recentDecisions"]
        assert row == own


async def test_a_fleet_of_any_size_is_read_with_the_same_few_statements(store: Store) -> None:
    counted = []
    for size in (2, 40):
        await store.write(configuring.configure, Settings(agents=tuple(AgentSettings(id=f"a{n}", port=8001 + n) for n in range(size))))
        await awake(store, *(f"a{n}" for n in range(size)))

        def counting(tx: Transaction) -> int:
            statements: list[str] = []
            plain = tx._connection.rows

            class Counting:
                def rows(self, statement: Any, params: dict[str, Any]) -> list[Any]:
                    statements.append(statement.name)
                    return plain(statement, params)

            tx._connection = Counting()  # type: ignore[assignment]
            pulse.of_all(tx)
            return len(statements)

        counted.append(await store.read(counting))
    assert counted[0] == counted[1] <= 16


async def test_a_long_queue_is_cut_and_its_length_told(fleet: Store) -> None:
    def fill(tx: Transaction) -> None:
        from covey.tasks import adding

        for number in range(130):
            adding.add(tx, TaskDraft(description=f"step {number}", agent="coder", approval=number >= 90), THE_SYSTEM)

    await fleet.write(fill)
    found = await state(fleet, "coder")
    assert found["queueLength"] == 130
    assert [each["state"] for each in found["taskQueue"]] == ["queued"] * 90 + ["blocked"] * 10
    assert [each["description"] for each in found["taskQueue"][:2]] == ["step 0", "step 1"]


@rule("M4c")
async def test_a_stranger_has_no_state(fleet: Store) -> None:
    with pytest.raises(Unknown, match="Did you mean coder"):
        await state(fleet, "codr")
