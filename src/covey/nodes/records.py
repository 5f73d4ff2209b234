"""The verbs of a node: it registers, beats, and stands for leader by a lease with a fencing token (H8, N2)."""

from __future__ import annotations

from covey.base.errors import Conflict
from covey.base.processes import Identity, alive
from covey.store import Row, Transaction, relaxed, statement

REGISTER = statement(__package__, "register")
BEAT = statement(__package__, "node_beat", is_quiet=True)
STOP = statement(__package__, "node_stop")
NODES = statement(__package__, "nodes")
LEAD = statement(__package__, "lead", is_quiet=True)
RESIGN = statement(__package__, "resign")
LEADER = statement(__package__, "leader")
CYCLED = statement(__package__, "cycled")
STOP_ALL = statement(__package__, "stop_all")
RESIGN_ALL = statement(__package__, "resign_all")
SHIFT = statement(__package__, "shift_node_beats")
SHIFT_LEAD = statement(__package__, "shift_lead")

CONTROLLER = "controller"
LEAD_S = 15.0
"""A leader's lease; it is renewed each third of it."""
LOST_S = 20.0
"""A node silent for so long is lost (N2)."""


def register(tx: Transaction, node: str, *, host: str, pid: int, start_ticks: int, boot_id: str, version: str) -> None:
    """The node is there, with the process that it is.

    Raises:
        Conflict: Another live node has this name, so neither would know when it leads.
    """
    tx.lock("lead", "")
    me = Identity(pid, start_ticks, boot_id)
    other = next((row for row in tx.all(NODES) if row.id == node and row.stopped_at is None), None)
    if other is not None and other.heartbeat_at > tx.now - LOST_S and _lives_elsewhere(other, me):
        raise Conflict(
            f"a node of the name {node!r} is alive: process {other.pid} on {other.host}. Give this one another name by COVEY_NODE,"
            f" or, if that one is gone, start it {LOST_S:.0f} s later."
        )
    tx.run(REGISTER, id=node, host=host, pid=pid, start_ticks=start_ticks, boot_id=boot_id, version=version, now=tx.now)
    tx.happened("node.started", subject=node, host=host, pid=pid, version=version)


def _lives_elsewhere(row: Row, me: Identity) -> bool:
    """Whether the node of a row is another process than this one, and lives or can't be seen from here."""
    other = Identity(row.pid, row.start_ticks, row.boot_id)
    return other != me and (other.boot_id != me.boot_id or alive(other))


@relaxed
def beat(tx: Transaction, node: str, *, candidate: bool = True) -> int | None:
    """The node lives; if it is the leader, or becomes it, its fencing token is the answer, else None."""
    tx.run(BEAT, id=node, now=tx.now)
    if not candidate:
        return None
    tx.lock("lead", "")
    before = tx.one(LEADER, role=CONTROLLER)
    row = tx.one(LEAD, role=CONTROLLER, holder=node, now=tx.now, until=tx.now + LEAD_S)
    if row is None:
        return None
    if before is None or before.fence != row.fence:
        tx.happened("leader.elected", subject=node, fence=row.fence)
    fence: int = row.fence
    return fence


def leave(tx: Transaction, node: str) -> None:
    """The node ends in good order and leads no more."""
    tx.run(STOP, id=node, now=tx.now)
    tx.run(RESIGN, holder=node)
    tx.happened("node.ended", subject=node)
    tx.ring("node")


def leads(tx: Transaction, fence: int) -> bool:
    """Whether this fencing token is the current one and its lease stands."""
    row = tx.one(LEADER, role=CONTROLLER)
    return row is not None and row.fence == fence and row.until > tx.now


def leader(tx: Transaction) -> Row | None:
    """Who leads: a row of holder, fence, until, cycle, cycled_at; None if nobody ever did."""
    return tx.one(LEADER, role=CONTROLLER)


def cycled(tx: Transaction, fence: int) -> None:
    """The leader has gone through a controller cycle (H7b)."""
    tx.run(CYCLED, fence=fence, now=tx.now)


def cycle_age(tx: Transaction) -> float | None:
    """How long ago the last controller cycle was done; None if there never was one."""
    led = tx.one(LEADER, role=CONTROLLER)
    return max(0.0, tx.now - led.cycled_at) if led is not None and led.cycled_at is not None else None


def unled_s(tx: Transaction) -> float:
    """For how long no controller cycle has been done though a node was there to do it (H7b); 0 where there never was one."""
    led = tx.one(LEADER, role=CONTROLLER)
    began = min((each.started_at for each in tx.all(NODES) if each.stopped_at is None), default=None)
    since = [at for at in (began, led.cycled_at if led is not None else None) if at is not None]
    return max(0.0, tx.now - max(since, default=tx.now))


def nodes(tx: Transaction) -> list[Row]:
    """All nodes: rows of id, host, pid, start_ticks, boot_id, started_at, heartbeat_at, version, stopped_at."""
    return tx.all(NODES)


def any_lives(tx: Transaction) -> bool:
    """Whether any node has neither ended nor been silent for so long that it is lost (N2)."""
    return any(row.stopped_at is None and row.heartbeat_at > tx.now - LOST_S for row in tx.all(NODES))


def shift_beats(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: the nodes' heartbeats and the leader's lease move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)
    tx.run(SHIFT_LEAD, seconds=seconds)


def end_all(tx: Transaction) -> None:
    """No node runs and none leads, in a restored store that says so of times long gone; the next leader's fence is above them all."""
    tx.run(STOP_ALL, now=tx.now)
    tx.run(RESIGN_ALL)
