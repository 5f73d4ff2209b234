"""What a node does again and again: hears the news, keeps the time, ends who is stuck with the lock, tidies (T2, H8a, H7a)."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living, restarting, roster
from covey.agents.model import THE_OPERATOR
from covey.app.duties import CLOSED, Keeping, LockWatch, News, Timekeeper, duties, step_clock
from covey.app.groups import groups_of
from covey.app.opening import store_path
from covey.base.clock import SystemClock
from covey.base.config.changes import diff
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.handling import acknowledge
from covey.messages.model import draft
from covey.nodes import records
from covey.runner.orphans import suspects
from covey.runner.taking import take
from covey.store import Store, Transaction, upkeep
from covey.store.turns import TurnLock
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, Database, ManualClock
from tests.inline import Hand
from tests.rules import rule
from tests.runner.desk import LIMITS


class NotingNode:
    """What the news tell a node."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def restart(self, agent: str) -> bool:
        self.told.append(("restart", agent))
        return True

    def prod(self, agent: str) -> None:
        self.told.append(("prod", agent))

    def end_holder(self, pid: int, why: str) -> bool:
        self.told.append((why, str(pid)))
        return pid == os.getpid()


@pytest.fixture
def node() -> NotingNode:
    return NotingNode()


@rule("H7a", "H7", "A2")
async def test_the_node_hears_of_restarts_resumes_and_new_settings_in_order(fleet: Store, node: NotingNode) -> None:
    news = News(fleet, lambda: node.told.append(("arrange", "")))
    news.node = node  # type: ignore[assignment]
    await fleet.write(restarting.ask, "sales", THE_OPERATOR)
    await news.one_round()
    assert node.told == [], "what was before its start is no news"
    await fleet.write(restarting.ask, "coder", THE_OPERATOR)
    await fleet.write(living.resume, "ops", THE_OPERATOR)
    fewer = msgspec.structs.replace(EIGHT, agents=EIGHT.agents[:-1], deputy="")
    await fleet.write(configuring.configure, fewer)
    await fleet.write(configuring.configure, fewer)
    await news.one_round()
    assert node.told == [("restart", "coder"), ("prod", "ops"), ("arrange", "")]
    await news.one_round()
    assert len(node.told) == 3


@rule("H7a")
async def test_news_are_not_missed_in_a_busy_fleet(fleet: Store, node: NotingNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.app.duties.PAGE", 5)
    news = News(fleet, lambda: None)
    news.node = node  # type: ignore[assignment]
    await news.one_round()
    for number in range(23):
        await fleet.write(sending.send, draft("coder", f"{number}"), THE_OPERATOR)
    await fleet.write(restarting.ask, "coder", THE_OPERATOR)
    await news.one_round()
    assert node.told == [("restart", "coder")]


@rule("H7a")
async def test_news_are_read_only_if_somebody_has_written(fleet: Store, node: NotingNode, monkeypatch: pytest.MonkeyPatch) -> None:
    if fleet.stamp() is None:
        pytest.skip("a server keeps no stamp")
    news = News(fleet, lambda: None)
    news.node = node  # type: ignore[assignment]
    await news.one_round()
    with monkeypatch.context() as patch:
        patch.setattr(fleet, "read", None)
        await news.one_round()
    await fleet.write(restarting.ask, "coder", THE_OPERATOR)
    await news.one_round()
    assert node.told == [("restart", "coder")]


@rule("T2")
def test_a_step_of_store_time_takes_leases_heartbeats_and_the_leader_along(hand: Hand) -> None:
    hand(living.arrive, "coder", node="here", pid=7, start_ticks=1, boot_id="b", port=8002)
    hand(records.register, "here", host="h", pid=os.getpid(), start_ticks=1, boot_id="b", version="0")
    fence = hand(records.beat, "here")
    assert fence is not None
    hand(adding.add, TaskDraft(description="x", agent="coder"), THE_OPERATOR)
    hand(sending.send, draft("coder", "y"), THE_OPERATOR)
    for lane in ("task", "mail"):
        assert hand(take, "coder", lane, "here", 7, LIMITS) is not None
    before = hand.now
    stepped = hand(step_clock, before + 3600.0)
    if hand.database.kind == "postgres":
        assert stepped == 0.0, "the server's clock alone counts there"
        return
    assert stepped == pytest.approx(3600.0, abs=0.01)
    assert hand.now - before == pytest.approx(3600.0, abs=0.01)
    assert hand(suspects) == []
    assert hand(records.leads, fence)
    assert hand.now - hand(lambda tx: roster.vitals(tx, "coder").heartbeat_at or 0.0) == pytest.approx(0.0, abs=0.01)
    hand.clock.at += 61
    assert len(hand(suspects)) == 2


@rule("T2")
async def test_store_time_follows_a_wall_clock_that_is_ahead_and_stays_when_it_is_behind(
    fleet: Store, clock: ManualClock, database: Database
) -> None:
    """On PostgreSQL the server's clock alone counts."""
    timekeeper = Timekeeper(fleet, clock)
    await timekeeper.raise_floor()
    before = await fleet.read(_now)
    await timekeeper.step()
    assert await fleet.read(_now) == before
    clock.ahead -= 5000.0
    await timekeeper.step()
    assert await fleet.read(_now) == before
    clock.ahead += 5100.0
    await timekeeper.step()
    steps = 100.0 if database.kind == "sqlite" else 0.0
    assert await fleet.read(_now) == pytest.approx(before + steps, abs=0.01)


def _now(tx: Transaction) -> float:
    return tx.now


@rule("H7a")
async def test_a_process_of_ours_that_is_stuck_with_the_write_lock_is_ended(tmp_path: Path, node: NotingNode) -> None:
    settings = msgspec.structs.replace(EIGHT, data_dir=str(tmp_path))
    clock = ManualClock()
    path = store_path(settings).with_name("store.db.lock")
    lock = TurnLock(path, clock)
    watch = LockWatch(settings, clock)
    watch.node = node  # type: ignore[assignment]
    await watch.one_round()
    lock.take()
    clock.at += 10
    await watch.one_round()
    assert node.told == []
    clock.at += 0.1
    await watch.one_round()
    assert node.told == [("it has held the store's write lock for more than 10 s", str(os.getpid()))]
    lock.give()
    lock.close()


@rule("H7a")
async def test_a_stranger_that_is_stuck_with_the_write_lock_is_named_once(
    tmp_path: Path, node: NotingNode, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.app.duties.turn_holder", lambda _: (4711, 5.0))
    watch = LockWatch(msgspec.structs.replace(EIGHT, data_dir=str(tmp_path)), ManualClock())
    watch.node = node  # type: ignore[assignment]
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            await watch.one_round()
    assert caplog.text.count("process 4711") == 1


@rule("M4a")
async def test_what_is_past_its_retention_goes_by_a_duty_of_the_leader(fleet: Store, clock: ManualClock) -> None:
    ident = (await fleet.write(sending.send, draft("coder", "old"), THE_OPERATOR)).message_id
    await fleet.write(acknowledge, "coder", ident)
    named = {duty.name: duty for duty in duties(_keeping(fleet, clock, EIGHT), News(fleet, lambda: None), LockWatch(EIGHT, clock))}
    assert named["retention"].leading
    await named["retention"].one_round(1)
    assert await fleet.read(mail.show, ident)
    clock.at += (EIGHT.retention.closed_days + 1) * upkeep.DAY_S
    await named["retention"].one_round(1)
    assert (await fleet.read(mail.inbox, "coder")).items == []


def test_each_kind_of_thing_that_ends_has_a_retention() -> None:
    assert set(CLOSED) == {
        *("messages", "tasks", "runs", "incidents", "lent tasks", "handoffs", "teams", "votes", "figures"),
        *("exchanges", "abroad"),
    }


@rule("T2")
def test_a_store_of_ones_own_has_its_time_stepped_and_a_servers_has_a_floor(fleet_settings: Settings) -> None:
    def names(settings: Settings) -> set[str]:
        store: Any = None
        clock = SystemClock()
        return {duty.name for duty in duties(_keeping(store, clock, settings), News(store, lambda: None), LockWatch(settings, clock))}

    own, served = names(fleet_settings), names(msgspec.structs.replace(fleet_settings, store="postgresql://x"))
    assert own - served == {"store time", "write lock"}
    assert served - own == {"store time's floor"}


@pytest.fixture
def fleet_settings() -> Settings:
    return EIGHT


def _keeping(store: Store, clock: Any, settings: Settings) -> Keeping:
    return Keeping(store, clock, "here", lambda: settings)


# Which agents share a process


@rule("A2")
def test_agents_have_a_process_each_up_to_64_then_one_for_each_64(fleet_settings: Settings) -> None:
    def sizes(count: int, **more: Any) -> list[int]:
        agents = tuple(msgspec.structs.replace(EIGHT.agents[0], id=f"a{number}", port=9000 + number) for number in range(count))
        return [len(group.agents) for group in groups_of(msgspec.structs.replace(EIGHT, agents=agents, **more)) if group.agents]

    assert sizes(64) == [1] * 64
    assert sizes(65) == [33, 32]
    assert sizes(200) == [50] * 4
    assert sizes(8, processes=1) == [8]
    assert sizes(8, processes=3) == [3, 3, 2]
    assert sizes(2, processes=5) == [1, 1]
    assert sizes(8, only=("a1", "a5")) == [1, 1]


@rule("A2")
def test_only_what_a_process_is_started_with_makes_another_edition(fleet_settings: Settings) -> None:
    def editions(settings: Settings) -> dict[str, str]:
        return {group.name: group.edition for group in groups_of(settings)}

    before = editions(EIGHT)
    told_live = msgspec.structs.replace(EIGHT.agents[1], role="writes", buddy="ops", capabilities=("code",), owner="me", plan=True)
    assert editions(_with(told_live)) == before
    after = editions(_with(msgspec.structs.replace(EIGHT.agents[1], max_context=999)))
    assert {name for name in after if after[name] != before[name]} == {"coder"}
    assert set(editions(msgspec.structs.replace(EIGHT, lease_s=99.0)).values()).isdisjoint(before.values())
    retention = msgspec.structs.replace(EIGHT.retention, closed_days=8.0)
    assert editions(msgspec.structs.replace(EIGHT, retention=retention)) == before


@rule("A2")
@pytest.mark.parametrize("field", [field for field in AgentSettings.__struct_fields__ if field != "id"])
def test_what_a_difference_says_must_start_anew_is_what_does(field: str) -> None:
    another: Any = BrainSettings(kind="command", target="true") if field == "brain" else f"another {field}"
    changed = _with(msgspec.structs.replace(EIGHT.agents[1], **{field: another}))
    (told,) = diff(EIGHT, changed)
    coder = {group.name: group.edition for group in groups_of(EIGHT)}["coder"]
    assert (told.restart == "agent") is (coder not in {group.edition for group in groups_of(changed)})


def _with(agent: Any) -> Settings:
    return msgspec.structs.replace(EIGHT, agents=tuple(agent if each.id == agent.id else each for each in EIGHT.agents))
