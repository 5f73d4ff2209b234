"""The verbs of a node: it registers, beats, and stands for leader by a lease with a fencing token (H8, N2)."""

from __future__ import annotations

from covey.store import Row, Transaction, relaxed, statement

REGISTER = statement(__package__, "register")
BEAT = statement(__package__, "node_beat")
STOP = statement(__package__, "node_stop")
NODES = statement(__package__, "nodes")
LEAD = statement(__package__, "lead")
RESIGN = statement(__package__, "resign")
LEADER = statement(__package__, "leader")
CYCLED = statement(__package__, "cycled")
SHIFT = statement(__package__, "shift_node_beats")
SHIFT_LEAD = statement(__package__, "shift_lead")

CONTROLLER = "controller"
LEAD_S = 15.0
"""A leader's lease; it is renewed each third of it."""
LOST_S = 20.0
"""A node silent for so long is lost (N2)."""


def register(tx: Transaction, node: str, *, host: str, pid: int, start_ticks: int, boot_id: str, version: str) -> None:
    """The node is there, with the process that it is."""
    tx.run(REGISTER, id=node, host=host, pid=pid, start_ticks=start_ticks, boot_id=boot_id, version=version, now=tx.now)
    tx.happened("node.started", subject=node, host=host, pid=pid, version=version)


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


def nodes(tx: Transaction) -> list[Row]:
    """All nodes: rows of id, host, pid, start_ticks, boot_id, started_at, heartbeat_at, version, stopped_at."""
    return tx.all(NODES)


def shift_beats(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: the nodes' heartbeats and the leader's lease move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)
    tx.run(SHIFT_LEAD, seconds=seconds)
