"""The figures of an agent and of the fleet, as JSON and as Prometheus text."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.messages import handling
from covey.nodes import records
from covey.reports import metrics
from covey.store import Store
from covey.tasks import runs, working
from tests.conftest import ManualClock
from tests.reports.acting import PID, add, awake, claim_mail, send, take
from tests.rules import rule


async def done(store: Store, clock: ManualClock, agent: str, seconds: float) -> None:
    await add(store, "Count", agent)
    _, token = await take(store, agent)
    clock.at += seconds
    await store.write(working.finish, agent, token, "7")


async def handled(store: Store, clock: ManualClock, agent: str, seconds: float) -> None:
    await send(store, "operator", agent, "look")
    clock.at += seconds
    claimed = await claim_mail(store, agent)
    await store.write(handling.close, agent, claimed.token)


@rule("A6")
async def test_an_agents_figures_are_counted_and_timed(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    for seconds in (1.0, 2.0, 30.0):
        await handled(fleet, clock, "coder", seconds)
    await done(fleet, clock, "coder", 5.0)
    await add(fleet, "Break", "coder", max_attempts=1)
    _, token = await take(fleet, "coder")
    await fleet.write(working.fail, "coder", token, "it broke")
    await send(fleet, "operator", "coder", "waits")
    await add(fleet, "waits too", "coder")
    clock.at += 7
    await fleet.write(living.beat, "coder", pid=PID + 1)
    clock.at += 3
    found = await fleet.read(metrics.of_agent, "coder")

    assert found["heartbeatAge"] == pytest.approx(3, abs=0.01)
    tasks, messages = found["tasks"], found["messages"]
    assert (tasks["completed"], tasks["attemptsFailed"], tasks["completionRate"], tasks["waiting"]) == (1, 1, 0.5, 1)
    assert tasks["time"] == {"n": 1, "p50": pytest.approx(5, abs=0.01), "p95": pytest.approx(5, abs=0.01)}
    assert tasks["oldestWaiting"] == pytest.approx(10, abs=0.01)
    assert (messages["handled"], messages["unread"], messages["dead"]) == (0, 1, 0)
    assert messages["responseTime"] == {"n": 3, "p50": pytest.approx(2, abs=0.01), "p95": pytest.approx(30, abs=0.01)}
    assert messages["oldestWaiting"] == pytest.approx(10, abs=0.01)


@rule("A6")
async def test_what_was_never_measured_is_null(fleet: Store) -> None:
    found = await fleet.read(metrics.of_agent, "coder")
    assert found["heartbeatAge"] is None
    assert found["tasks"]["completionRate"] is None
    assert found["messages"]["responseTime"] == {"n": 0, "p50": None, "p95": None}
    assert found["buddy"]["lastCheckAge"] is None


async def test_the_fleets_figures_are_the_sum_of_its_agents(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await handled(fleet, clock, "coder", 2.0)
    await handled(fleet, clock, "ops", 4.0)
    await done(fleet, clock, "ops", 6.0)
    await add(fleet, "for anybody", capability="review")
    await add(fleet, "now", capability="review", priority="urgent")
    await add(fleet, "own", "sales")
    await send(fleet, "chief", "operator", "a word")
    await fleet.write(runs.open_run, "run_9", item="task_9", kind="task", agent="ops", node="n1", attempt=1)
    await fleet.write(runs.close, "run_9", "done", cost_usd=0.25, tokens=900)
    found = await fleet.read(metrics.of_fleet)
    assert found["tasks"]["done"] == 1
    assert found["queues"] == {"own": 1, "global": 1, "urgent": 1}
    assert found["messages"]["responseTime"] == {"n": 2, "p50": pytest.approx(2, abs=0.01), "p95": pytest.approx(4, abs=0.01)}
    assert found["messages"]["operatorUnread"] == 1
    assert found["cost"] == {"usd24h": 0.25, "tokens24h": 900, "runs24h": 1}
    by_name = {each["agentId"]: each for each in found["agents"]}
    assert by_name["ops"]["messages"]["responseTime"]["n"] == 1
    own = await fleet.read(metrics.of_agent, "ops")
    assert {"at": found["at"], **by_name["ops"]} == own | {"at": found["at"]}
    assert msgspec.json.decode(msgspec.json.encode(found)) == found


@rule("H7b")
async def test_a_late_controller_cycle_shows(fleet: Store, clock: ManualClock) -> None:
    assert (await fleet.read(metrics.of_fleet))["leader"] == {"holder": None, "leads": False, "cycle": 0, "cycleAge": None}
    await fleet.write(records.register, "n1", host="h", pid=1, start_ticks=1, boot_id="a-boot", version="0")
    fence = await fleet.write(records.beat, "n1")
    assert fence is not None
    await fleet.write(records.cycled, fence)
    clock.at += 10
    found = (await fleet.read(metrics.of_fleet))["leader"]
    assert (found["holder"], found["leads"], found["cycle"], found["cycleAge"]) == ("n1", True, 1, pytest.approx(10, abs=0.01))
    clock.at += 10
    assert not (await fleet.read(metrics.of_fleet))["leader"]["leads"]


def parsed(text: str) -> dict[str, list[tuple[dict[str, str], Any]]]:
    """The samples by name, by the parser of the format's own authors."""
    found: dict[str, list[tuple[dict[str, str], Any]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


@rule("A6")
async def test_prometheus_text_says_the_same_figures(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await handled(fleet, clock, "coder", 2.0)
    await done(fleet, clock, "coder", 6.0)
    one = parsed(metrics.prometheus(await fleet.read(metrics.of_agent, "coder")))
    assert one["covey_agent_tasks_completed_total"] == [({"agent": "coder"}, 1.0)]
    assert one["covey_agent_response_seconds"] == [
        ({"agent": "coder", "quantile": each}, pytest.approx(2, abs=0.01)) for each in ("0.5", "0.95")
    ]
    assert ({"agent": "coder", "status": "active"}, 1.0) in one["covey_agent_status"]
    assert "covey_agent_buddy_check_age_seconds" not in one
    text = metrics.prometheus(await fleet.read(metrics.of_fleet))
    whole = parsed(text)
    assert len(whole["covey_agent_messages_unread"]) == 8
    assert whole["covey_tasks_queued"] == [({}, 0.0)]
    assert whole["covey_queue_tasks"] == [({"queue": each}, 0.0) for each in ("own", "global", "urgent")]
    assert whole["covey_leader"] == [({}, 0.0)]
    names = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    assert all(name.startswith("covey_") for name in names)


async def test_dead_letters_are_counted_for_whose_brain_failed(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await send(fleet, "operator", "coder", "too hard")
    for _ in range(5):
        claimed = await claim_mail(fleet, "coder")
        await fleet.write(handling.failed, "coder", claimed.token, "no idea")
        clock.at += 61
    assert (await fleet.read(metrics.of_agent, "coder"))["messages"]["dead"] == 1
    assert (await fleet.read(metrics.of_fleet))["messages"]["dead"] == 1
    assert (await fleet.read(metrics.of_agent, "ops"))["messages"]["dead"] == 0


async def test_an_agent_that_takes_no_work_is_not_able(fleet: Store) -> None:
    await awake(fleet)
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    able = {each["agentId"]: each["ableNow"] for each in (await fleet.read(metrics.of_fleet))["agents"]}
    assert not able.pop("coder")
    assert all(able.values())


@given(st.lists(st.floats(min_value=0, max_value=1e6), max_size=200))
def test_a_percentile_is_one_of_the_values_and_so_many_are_not_above_it(values: list[float]) -> None:
    found: dict[str, Any] = metrics.spread(values)
    assert found["n"] == len(values)
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        if not values:
            assert found[name] is None
            continue
        assert any(abs(found[name] - value) < 1e-4 for value in values)
        assert sum(value <= found[name] + 1e-4 for value in values) >= share * len(values)
    assert not values or found["p50"] <= found["p95"] + 1e-4
