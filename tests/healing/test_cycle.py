"""The controller's cycle: it touches only what is amiss, one leader at a time, each remedy once (H1, H1a, H2, H5, H7b, H8)."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, THE_SYSTEM
from covey.app.duties import step_clock
from covey.brains.model import Outcome
from covey.cli.archiving import REPAIRS
from covey.contexts import checkpoints, entries
from covey.contexts import reading as contexts
from covey.healing import overflowing
from covey.healing.cycle import LOOK_S, Deposed, fenced
from covey.nodes import records
from covey.planning.model import Planned
from covey.store import Store, Transaction, events
from covey.store.upkeep import new_epoch
from covey.tasks import adding, changing
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.healing.ward import CYCLE_S, LEAD, NODE, Ward, nothing
from tests.inline import Hand
from tests.rules import rule

HALF_HOUR = 1800.0


def something(tx: Transaction, agent: str) -> Planned:
    """A task for whoever asks."""
    task = adding.add(tx, TaskDraft(description="look around", agent=agent), THE_SYSTEM, origin="generated")
    return Planned(agent, (task.task_id,), "1 task planned")


@pytest.fixture
async def ward(fleet: Store, clock: ManualClock) -> Ward:
    """The default eight, alive, nothing to plan for any."""
    made = Ward(fleet, clock, nothing)
    await made.enter()
    return made


@rule("H8")
async def test_a_cycle_over_a_healthy_fleet_asks_all_and_changes_nothing(ward: Ward) -> None:
    await ward.round()
    before = await ward.store.read(events.last)
    done = await ward.round()
    assert (done.ill, done.planned, done.asked, done.missed) == ((), (), 8, ())
    assert await ward.store.read(events.last) == before


@rule("H4", "H2", "H7a")
async def test_a_silent_agent_is_started_again_once_and_is_live_again_as_soon_as_it_beats(ward: Ward) -> None:
    ward.alive.remove("coder")
    await ward.rounds(HALF_HOUR + 3 * CYCLE_S)
    kinds = await ward.kinds("coder")
    assert kinds.count("agent.restart_asked") == 1
    (story,) = await ward.incidents("heartbeat_stale")
    assert story.agent == "coder"
    assert story.ended_at is None
    ward.alive.append("coder")
    await ward.rounds(CYCLE_S)
    (story,) = await ward.incidents("heartbeat_stale")
    assert story.outcome == "back"
    assert [each.action for each in story.steps] == ["restart_asked", "back"]
    assert [each.kind for each in await ward.incidents()].count("needs_restart") == 1


@rule("H7b")
async def test_a_restart_that_nobody_does_within_two_cycles_calls_a_person_once(ward: Ward) -> None:
    ward.alive.remove("coder")
    await ward.rounds(HALF_HOUR + CYCLE_S)
    assert await ward.incidents("needs_restart") == []
    await ward.rounds(CYCLE_S)
    assert await ward.incidents("needs_restart") == []
    await ward.rounds(3 * CYCLE_S)
    (story,) = await ward.incidents("needs_restart")
    assert story.called_at is not None
    assert "its node here has not started it again" in story.cause
    await ward.arrive("coder")
    await ward.beat()
    ward.alive.append("coder")
    await ward.rounds(CYCLE_S)
    assert all(each.ended_at is not None for each in await ward.incidents())


@rule("H1", "T2")
async def test_a_wall_clock_that_jumps_a_day_makes_nobody_ill(ward: Ward) -> None:
    """Where store time follows it, what is measured by it moves along."""
    await ward.round()
    await ward.add("coder")
    await ward.begin("coder")
    ward.clock.ahead += 86_400.0
    if await ward.store.write(step_clock, ward.clock.wall()) == 0.0:
        return  # a server tells the time, and nobody's wall clock is asked
    done = await ward.round()
    assert {each.kind for each in await ward.incidents()} <= {"excessive_idle"}
    assert "coder" not in done.ill
    assert "agent.restart_asked" not in await ward.kinds("coder")
    assert await ward.store.read(records.unled_s) < CYCLE_S


@rule("H4", "H7a")
async def test_nobody_is_silent_while_there_was_no_node_to_start_it(ward: Ward) -> None:
    """The fleet was down overnight: its old heartbeats are nobody's fault."""
    await ward.store.write(records.leave, NODE)
    ward.clock.at += 10 * 3600.0
    ward.alive.clear()
    await ward.store.write(records.register, NODE, host="h", pid=1, start_ticks=1, boot_id="b", version="0")
    done = await ward.round()
    assert done.ill == ()
    assert await ward.incidents() == []


@rule("H4", "H7a")
async def test_after_a_restore_old_heartbeats_are_nobodys_fault_either(ward: Ward) -> None:
    """A restored store says of no process whose it is, nor on which node it ran."""
    await ward.store.write(new_epoch, REPAIRS)
    ward.clock.at += 10 * HALF_HOUR
    ward.alive.clear()
    await ward.store.write(records.register, NODE, host="127.0.0.1", pid=77, start_ticks=1, boot_id="a-boot", version="0")
    await ward.round()
    assert await ward.incidents("heartbeat_stale") == []
    await ward.rounds(HALF_HOUR + CYCLE_S)
    assert len(await ward.incidents("heartbeat_stale")) == 8, "nobody has started them since"


@rule("H3", "H1")
async def test_a_task_that_runs_too_long_has_an_incident_until_it_runs_no_more_and_restarts_nobody(ward: Ward) -> None:
    ident = await ward.add("coder", estimated_seconds=600.0)
    work = await ward.begin("coder")
    await ward.rounds(1200.0)
    assert await ward.incidents() == []
    await ward.rounds(2 * CYCLE_S)
    (story,) = await ward.incidents()
    assert (story.agent, story.kind, story.subject, story.ended_at) == ("coder", "task_timeout", ident, None)
    await ward.settle(work, Outcome(summary="done at last"))
    await ward.round()
    (story,) = await ward.incidents()
    assert story.outcome == "done"
    assert "agent.restart_asked" not in await ward.kinds("coder")


@rule("H1a", "H5")
async def test_an_idle_stall_with_nothing_to_plan_ends_at_once_and_comes_again_only_after_work(ward: Ward) -> None:
    await ward.rounds(3 * HALF_HOUR)
    found = await ward.incidents()
    assert len(found) == 8
    assert {(each.kind, each.outcome, each.cured_in_s) for each in found} == {("excessive_idle", "nothing_to_plan", 0.0)}
    assert "a short while ago" in found[0].steps[-1].sentence
    await ward.add("coder")
    await ward.settle(await ward.begin("coder"), Outcome(summary="worked"))
    await ward.rounds(HALF_HOUR)
    assert len(await ward.incidents()) == 8
    await ward.rounds(HALF_HOUR)
    assert [each.agent for each in (await ward.incidents())[8:]] == ["coder"]


@rule("H5", "P2")
async def test_idle_agents_are_planned_for_in_each_cycle_and_those_with_work_are_not(fleet: Store, clock: ManualClock) -> None:
    ward = Ward(fleet, clock, something)
    await ward.enter()
    await ward.add("coder")
    done = await ward.round()
    assert "coder" not in done.planned
    assert len(done.planned) == 7
    assert (await ward.round()).planned == ()
    assert await ward.incidents() == []


@rule("H1", "H4", "H7a")
async def test_a_half_hour_tool_call_and_two_idle_hours_restart_nobody(ward: Ward) -> None:
    await ward.add("coder", estimated_seconds=900.0)
    work = await ward.begin("coder")
    await ward.rounds(2 * 3600.0)
    await ward.settle(work, Outcome(summary="it took its time"))
    await ward.round()
    for agent in ("coder", "sales", "chief"):
        kinds = await ward.kinds(agent)
        assert "agent.restart_asked" not in kinds
        assert "agent.hung" not in kinds
    assert {each.kind for each in await ward.incidents()} == {"task_timeout", "excessive_idle"}
    assert all(each.ended_at is not None for each in await ward.incidents())


@rule("H8", "H1")
async def test_a_port_that_is_silent_twice_though_its_heart_beats_has_its_agent_started_again_once(ward: Ward) -> None:
    ward.deaf = {8002}
    await ward.rounds(CYCLE_S)
    assert await ward.incidents() == []
    await ward.rounds(4 * CYCLE_S)
    assert (await ward.kinds("coder")).count("agent.restart_asked") == 1
    (story,) = await ward.incidents("hung")
    assert "did not answer /health in 2 cycles in a row" in story.cause


@rule("H8")
async def test_a_port_that_only_the_leader_cannot_reach_is_no_reason_to_restart_its_agent(ward: Ward) -> None:
    """An agent of another node whose heart beats may be behind a broken line."""
    ward.deaf = {8002}
    ward.cycle = ward.cycle_of("another node")
    await ward.rounds(5 * CYCLE_S)
    assert await ward.incidents() == []


@rule("H8")
async def test_one_slow_agent_delays_no_other(ward: Ward) -> None:
    asked: set[int] = set()
    all_asked = asyncio.Event()

    async def answers(_host: str, port: int) -> bool:
        asked.add(port)
        if len(asked) == 8:
            all_asked.set()
        await all_asked.wait()
        return True

    ward.cycle._answers = answers
    async with asyncio.timeout(20):
        assert (await ward.round()).asked == 8


@rule("H8", "C3")
async def test_a_context_above_its_warning_line_is_cleaned_up_once(ward: Ward) -> None:
    for number in range(40):
        text = f"{number} " + "what was said and done at length, " * 40
        await ward.store.write(entries.remember, "coder", "note", text, source=f"msg_{number}", max_tokens=100_000)
    await ward.store.write(checkpoints.save, "coder", item="msg_39", outcome="done", summary="", max_tokens=100_000)
    before = await ward.store.read(contexts.size_of, "coder")
    assert before > 8192
    await ward.round()
    assert await ward.store.read(contexts.size_of, "coder") <= 0.5 * 8192
    after = await ward.store.read(events.last)
    await ward.round()
    assert await ward.store.read(events.last) == after


@rule("C3", "A3")
async def test_a_context_that_had_to_keep_too_much_is_well_again_when_that_is_cancelled_though_its_agent_does_nothing(ward: Ward) -> None:
    added = [
        await ward.store.write(
            adding.add, TaskDraft(description=f"{number} " + "and more " * 110, agent="coder", priority="urgent"), THE_OPERATOR
        )
        for number in range(6)
    ]
    for number in range(6):
        text = f"{number} " + "what was said and done at length, " * 20
        await ward.store.write(entries.remember, "coder", "note", text, source=added[0].task_id, max_tokens=600)
    await ward.store.write(overflowing.follow, "coder")
    bound = msgspec.structs.replace(EIGHT.agents[1], max_context=600)
    agents = tuple(bound if each.id == "coder" else each for each in EIGHT.agents)
    await ward.store.write(configuring.configure, msgspec.structs.replace(EIGHT, agents=agents))
    assert await ward.store.read(overflowing.overflowing) == ["coder"]
    await ward.round()
    assert await ward.store.read(overflowing.overflowing) == ["coder"], "nothing has changed"
    for task in added:
        await ward.store.write(changing.cancel, task.task_id, THE_OPERATOR)
    await ward.round()
    assert await ward.store.read(overflowing.overflowing) == []


@rule("H8")
async def test_a_new_leader_goes_on_where_the_old_one_was(ward: Ward) -> None:
    fence = await ward.store.write(records.beat, NODE)
    assert fence is not None
    assert await ward.cycle.when_due(fence) is not None
    ward.clock.at += CYCLE_S - LOOK_S / 2 - 1
    other, fence = ward.cycle_of("another"), await ward.store.write(records.beat, "another")
    assert fence is not None
    assert await other.when_due(fence) is None
    ward.clock.at += 1
    assert await other.when_due(fence) is not None, "it is nearer to this look than to the next one, which would make it late"


@rule("H8")
async def test_a_deposed_leader_writes_nothing(ward: Ward) -> None:
    old = await ward.store.write(records.beat, NODE)
    assert old is not None
    ward.clock.at += records.LEAD_S + 1
    assert await ward.store.write(records.beat, "another") == old + 1
    ward.alive.clear()
    ward.clock.at += 2 * HALF_HOUR
    before = await ward.store.read(events.last)
    with pytest.raises(Deposed):
        await ward.cycle.one_round(old)
    assert await ward.store.read(events.last) == before
    assert await ward.incidents() == []


@rule("H7b")
async def test_a_cycle_that_was_late_is_told_once_it_is_done_again(ward: Ward) -> None:
    await ward.round()
    ward.clock.at += 2 * CYCLE_S - 1
    await ward.beat()
    await ward.round()
    assert await ward.incidents() == []
    ward.clock.at += 2 * CYCLE_S + 1
    assert await ward.store.read(records.unled_s) == 2 * CYCLE_S + 1
    await ward.beat()
    await ward.round()
    (story,) = [each for each in await ward.incidents() if each.kind == "cycle_late"]
    assert (story.agent, story.outcome) == ("", "cycled")
    assert story.called_at is not None
    assert await ward.store.read(records.unled_s) == 0.0


@rule("H8")
async def test_an_error_of_one_remedy_takes_no_other_along(ward: Ward, caplog: pytest.LogCaptureFixture) -> None:
    def broken(tx: Transaction, agent: str) -> Planned:
        if agent == "coder":
            raise ZeroDivisionError("no template")
        return something(tx, agent)

    ward.cycle._planner = broken
    done = await ward.round()
    assert len(done.planned) == 7
    assert "no template" in caplog.text


@rule("H8", "T2")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["beat", "write", "pause", "skew", "step"]), st.sampled_from(["one", "two"]), st.floats(-300.0, 300.0)),
        max_size=40,
    )
)
def test_no_two_leaders_write_whatever_their_clocks_say_and_however_long_they_pause(
    hand: Hand, steps: list[tuple[str, str, float]]
) -> None:
    """Two nodes whose wall clocks are up to five minutes off; each writes by the last token it was given, as after any pause."""
    walls = {"one": 0.0, "two": 0.0}
    held: dict[str, int] = {}
    wrote = newest = 0
    for kind, node, seconds in steps:
        if kind == "pause":
            hand.clock.at += abs(seconds)
        elif kind == "skew":
            walls[node] = seconds
        elif kind == "step":
            hand(step_clock, hand.clock.wall() + walls[node])
        elif kind == "beat":
            fence = hand(records.beat, node)
            if fence is not None:
                held[node] = fence
                newest = max(newest, fence)
        elif node in held:
            try:
                assert hand(fenced, LEAD, held[node], lambda tx: "written") == "written"
            except Deposed:
                continue
            assert held[node] == newest, "a token that another one has superseded writes no more"
            assert held[node] >= wrote
            wrote = held[node]
        assert sum(hand(records.leads, fence) for fence in set(held.values())) <= 1


@rule("H8", "T2")
async def test_what_is_fenced_takes_the_locks_of_its_verb_beforehand(ward: Ward) -> None:
    ident = await ward.add("coder")
    fence = await ward.store.write(records.beat, NODE)
    assert fence is not None
    task = await ward.store.write(fenced, LEAD, fence, changing.cancel, ident, THE_SYSTEM)
    assert task.state == "cancelled"
    assert fenced.locks(LEAD, 1, adding.add, TaskDraft(description="x", dedupe_key="k"), THE_SYSTEM) == [("lead", ""), ("dedupe", "")]  # type: ignore[attr-defined]
