"""What care costs: a controller cycle over a fleet where nothing is wrong, of 8, 1,000 and 10,000 agents, and over one where much is."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
from pathlib import Path

from benchmarks.measuring import Figure, folder, ms, store_in
from covey.agents import configuring
from covey.base.processes import Identity
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.healing.cycle import Cycle, Done, Lead
from covey.nodes import records
from covey.planning.model import Planned
from covey.store import Statement, Store, Transaction

ROUNDS = 7
TROUBLE = 25
"""So many agents of each of four kinds: silent, down with tasks that wait, too long at a task, idle for too long."""
PYTHON = BrainSettings(kind="python", target="brain:think")
LIVE = Statement(
    "bench:live",
    """UPDATE vitals SET node = 'here', pid = 1, start_ticks = 1, boot_id = 'b', started_at = :now - 9000, heartbeat_at = :now - 1,
              seen_at = :now - 1, last_active_at = :now - 100""",
)
OLD_NODE = Statement("bench:old_node", "UPDATE nodes SET started_at = :now - 9000")
QUIET = Statement(
    "bench:quiet", "INSERT INTO plannings (agent, at, next_at, why, made) SELECT id, :now, :now + 86400, 'measured', 0 FROM agents"
)
SILENT = Statement("bench:silent", "UPDATE vitals SET heartbeat_at = :now - 3600 WHERE agent IN (SELECT id FROM agents WHERE place < :n)")
IDLE = Statement(
    "bench:idle",
    "UPDATE vitals SET last_active_at = :now - 7200 WHERE agent IN (SELECT id FROM agents WHERE place >= 100 AND place < 100 + :n)",
)
WORK = Statement(
    "bench:work",
    """INSERT INTO tasks (id, description, data, state, queue, agent, priority, not_urgent, sort_key, not_before, blockers, anyway, origin,
              created_by, created_at, estimated_s, attempts, max_attempts, holder, token, lease_ends, claimed_at, started_at, visited,
              digest)
       SELECT :state || a.id || '-' || n.place, 'work', '{}', :state, a.id, a.id, 'medium', 1, :now, 0, 0, 0, 'operator', 'operator', :now,
              600, 1, 3, CASE WHEN :state = 'running' THEN a.id END, CASE WHEN :state = 'running' THEN a.id END, :now + 60, :now - 4000,
              :now - 4000, '[]', ''
         FROM agents a JOIN agents n ON n.place < :each AND n.removed_at IS NULL
        WHERE a.removed_at IS NULL AND a.place >= :low AND a.place < :high""",
)
DOWN = Statement(
    "bench:down",
    """INSERT INTO incidents (id, agent, kind, subject, cause, data, opened_at)
       SELECT 'inc' || id, id, 'process_died', '', 'measured', '{}', :now - 100 FROM agents
        WHERE removed_at IS NULL AND place >= :low AND place < :high""",
)


async def _well(_host: str, _port: int) -> bool:
    return True


def _nothing(_tx: Transaction, agent: str) -> Planned:
    return Planned(agent, (), "measured")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _fleet(store: Store, count: int) -> Cycle:
    """The cycle over so many live agents with nothing to do and nothing to plan."""
    agents = tuple(AgentSettings(id=f"agent-{number:05d}", port=10_000 + number, brain=PYTHON) for number in range(count))
    settings = Settings(agents=agents, links="none")
    await store.write(configuring.configure, settings)
    me = Identity.of(os.getpid())
    assert me is not None
    await store.write(records.register, "here", host="h", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, version="0")
    await store.write(_all_live)
    lead = Lead(records.leads, records.cycled, records.cycle_age, records.unled_s)
    return Cycle(store, node="here", settings=lambda: settings, lead=lead, answers=_well, planner=_nothing)


def _all_live(tx: Transaction) -> None:
    tx.run(LIVE, now=tx.now)
    tx.run(QUIET, now=tx.now)
    tx.run(OLD_NODE, now=tx.now)


def _make_trouble(tx: Transaction) -> None:
    n = TROUBLE
    tx.run(SILENT, now=tx.now, n=n)
    tx.run(WORK, state="queued", now=tx.now, each=10, low=n, high=2 * n)
    tx.run(DOWN, now=tx.now, low=n, high=2 * n)
    tx.run(SILENT_TOO, now=tx.now, low=n, high=2 * n)
    tx.run(WORK, state="running", now=tx.now, each=1, low=2 * n, high=3 * n)
    tx.run(IDLE, now=tx.now, n=n)


SILENT_TOO = Statement(
    "bench:silent_too",
    "UPDATE vitals SET pid = NULL, heartbeat_at = :now - 120 WHERE agent IN (SELECT id FROM agents WHERE place >= :low AND place < :high)",
)


async def _round(store: Store, cycle: Cycle) -> tuple[float, Done, int]:
    """Processor seconds of a cycle and of what it has others do, what it did, how many tasks were given away."""
    fence = await store.write(records.beat, "here")
    assert fence is not None
    began = _cpu()
    done = await cycle.one_round(fence)
    given = await cycle.lend(fence)
    return _cpu() - began, done, given


async def _calm(path: Path, count: int) -> float:
    """The median processor time of a cycle in which nothing is wrong."""
    async with store_in(path, full=False) as store:
        cycle = await _fleet(store, count)
        found = []
        for _ in range(ROUNDS):
            used, done, given = await _round(store, cycle)
            assert not done.ill
            assert not given
            found.append(used)
        return statistics.median(found)


async def _troubled(path: Path, count: int) -> float:
    """The processor time of a cycle over agents of whom 100 are in trouble."""
    async with store_in(path, full=False) as store:
        cycle = await _fleet(store, count)
        await _round(store, cycle)
        await store.write(_make_trouble)
        used, done, given = await _round(store, cycle)
        assert len(done.ill) == 3 * TROUBLE, len(done.ill)
        assert given == 10 * TROUBLE, given
        return used


def measure() -> list[Figure]:
    """All figures of care."""
    with folder() as path:
        calm = {count: asyncio.run(_calm(path / f"calm{count}", count)) for count in (8, 1_000, 10_000)}
        troubled = asyncio.run(_troubled(path / "troubled", 10_000))
    near = calm[1_000] - calm[8] < 0.01
    return [
        Figure("a cycle over 10,000 agents, 100 in trouble, CPU", ms(troubled), f"{ms(calm[10_000])} with none", "< 1 s", troubled < 1),
        Figure("a calm cycle over 8 agents, CPU", ms(calm[8]), "", "", True),
        Figure("a calm cycle over 1,000 agents, CPU", ms(calm[1_000]), f"{ms(calm[8])} over 8", "< 10 ms more", near),
    ]
