"""Leases that have lapsed: suspect, not free. They are freed once their processes are known to be gone (K4, M3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from covey.agents import roster
from covey.base.clock import Clock
from covey.base.ending import end
from covey.base.processes import Identity, alive
from covey.messages import handling
from covey.runner import turns
from covey.store import Row, Store, Transaction
from covey.tasks import runs, working

WHY = "its lease ended and its process is gone"


class Suspect(NamedTuple):
    """A lapsed lease: who held it, in which run, and the processes it is known by."""

    agent: str
    token: str
    run_id: str
    brain: Identity | None
    pgid: int
    host: Identity | None
    """The process of the agent that held it."""
    external: bool


def suspects(tx: Transaction) -> list[Suspect]:
    """All lapsed leases, 100 of each kind at most, each once."""
    found: dict[str, Suspect] = {}
    for row in working.lapsed(tx):
        found[row.token] = _suspect(tx, row.holder, row.token, row.run_id)
    for row in handling.lapsed(tx):
        if row.token not in found:
            found[row.token] = _suspect(tx, row.receiver, row.token, row.run_id)
    return list(found.values())


def _suspect(tx: Transaction, agent: str, token: str, run_id: str | None) -> Suspect:
    run = runs.find(tx, run_id) if run_id else None
    me = roster.seek(tx, agent)
    vitals = roster.vitals(tx, agent) if me is not None else None
    host = Identity(vitals.pid, vitals.start_ticks or 0, vitals.boot_id or "") if vitals is not None and vitals.pid is not None else None
    return Suspect(agent, token, run_id or "", _brain(run), run.pgid or 0 if run else 0, host, me is None or me.brain == "external")


def _brain(run: Row | None) -> Identity | None:
    return Identity(run.pid, run.start_ticks or 0, run.boot_id or "") if run is not None and run.pid else None


def free(tx: Transaction, agent: str, token: str, run_id: str) -> None:
    """A lapsed lease is free again; the try counts."""
    working.lose(tx, token, WHY)
    if handling.is_leased(tx, token):
        for dead in handling.failed(tx, agent, token, WHY):
            turns.bury(tx, agent, dead, WHY)
    runs.close(tx, run_id, "lost")


async def free_the_gone(store: Store, clock: Clock, grace_s: float, forgotten: Callable[[Suspect], bool] = lambda suspect: False) -> int:
    """End what is left of lapsed runs whose agent's process has gone, and free them; how many.

    `forgotten` says of a suspect whose process lives whether that process, the caller's own, knows nothing of it.
    """
    freed = 0
    for suspect in await store.read(suspects):
        lives = suspect.host is not None and alive(suspect.host) and not suspect.external
        if lives and not forgotten(suspect):
            continue
        if (
            suspect.run_id
            and not suspect.external
            and await end(suspect.brain, run_id=suspect.run_id, pgid=suspect.pgid, grace_s=grace_s, clock=clock)
        ):
            continue
        await store.write(free, suspect.agent, suspect.token, suspect.run_id)
        freed += 1
    return freed
