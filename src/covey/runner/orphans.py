"""Leases that have lapsed: suspect, not free. They are freed once their processes are known to be gone (K4, M3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from covey.agents import roster
from covey.base.clock import Clock
from covey.base.ending import end
from covey.base.processes import Identity, alive
from covey.messages import handling
from covey.runner import holding
from covey.store import Row, Store, Transaction
from covey.tasks import runs, working

WHY = "its lease ended, and nobody is at work on it any more"
FAR_S = 10.0
"""What is leased on another node is free so long after its lease ended, if its agent has not been heard of meanwhile (N2)."""


class Suspect(NamedTuple):
    """A lapsed lease: who held it, in which run, and the processes it is known by."""

    agent: str
    token: str
    run_id: str
    brain: Identity | None
    pgid: int
    host: Identity | None
    """The process that is its agent now; None if there is none."""
    node: str | None
    """Where that process is, or was."""
    silent_s: float
    """How long the agent has not been heard of."""
    external: bool
    """Whether no process of ours is behind it."""


def suspects(tx: Transaction, agent: str | None = None) -> list[Suspect]:
    """Lapsed leases, of all agents or of one, 100 of each kind at most, each once."""
    found: dict[str, Suspect] = {}
    lapsed = [(row.holder, row) for row in working.lapsed(tx)] + [(row.receiver, row) for row in handling.lapsed(tx)]
    for holder, row in lapsed:
        if row.token not in found and agent in (None, holder):
            found[row.token] = _suspect(tx, holder, row.token, row.run_id)
    return list(found.values())


def _suspect(tx: Transaction, agent: str, token: str, run_id: str | None) -> Suspect:
    run = runs.find(tx, run_id) if run_id else None
    me = roster.seek(tx, agent)
    vitals = roster.vitals(tx, agent) if me is not None else None
    host = _identity(vitals)
    heard = vitals.heartbeat_at if vitals is not None else None
    return Suspect(
        agent,
        token,
        run_id or "",
        _identity(run),
        run.pgid or 0 if run is not None else 0,
        host,
        vitals.node if vitals is not None else None,
        tx.now - heard if heard is not None else float("inf"),
        me is None or me.brain == "external",
    )


def _identity(row: Row | None) -> Identity | None:
    return Identity(row.pid, row.start_ticks or 0, row.boot_id or "") if row is not None and row.pid else None


def verdict(suspect: Suspect, node: str, lease_s: float, *, lives: bool, forgotten: bool) -> Literal["leave", "end", "free"]:
    """What to do about a lapsed lease, seen from a node. Pure.

    `lives`: its agent's process does. `forgotten`: that process is the caller's own, and knows nothing of it. Processes of another
    node are never judged by pid.
    """
    if suspect.external:
        return "free"
    if suspect.node not in (None, node):
        return "end" if suspect.silent_s > lease_s + FAR_S else "leave"
    return "leave" if lives and not forgotten else "end"


async def free_the_gone(
    store: Store,
    clock: Clock,
    *,
    node: str,
    lease_s: float,
    grace_s: float,
    agent: str | None = None,
    forgotten: Callable[[Suspect], bool] = lambda _: False,
) -> int:
    """End what is left of lapsed runs whose agent's process has gone, and free them; how many. `agent`: only that one's."""
    freed = 0
    for suspect in await store.read(suspects, agent):
        lives = suspect.host is not None and alive(suspect.host)
        said = verdict(suspect, node, lease_s, lives=lives, forgotten=forgotten(suspect))
        if said == "leave" or (said == "end" and await _left(suspect, node, clock, grace_s)):
            continue
        await store.write(holding.free, suspect.agent, suspect.token, suspect.run_id, WHY)
        freed += 1
    return freed


async def _left(suspect: Suspect, node: str, clock: Clock, grace_s: float) -> list[Identity]:
    """Whoever of the run could not be ended. On another node's behalf nobody is known by pid, only by the run's own mark."""
    if not suspect.run_id:
        return []
    near = suspect.node in (None, node)
    return await end(suspect.brain if near else None, run_id=suspect.run_id, pgid=suspect.pgid if near else 0, grace_s=grace_s, clock=clock)
