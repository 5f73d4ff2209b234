"""Nodes as they are shown: which there are, whether each lives, who leads. Reads only."""

from __future__ import annotations

from typing import Literal

import msgspec

from covey.nodes import records
from covey.nodes.records import LOST_S
from covey.store import Row, Transaction

NodeState = Literal["live", "lost", "ended"]


class NodeShown(msgspec.Struct, rename="camel", kw_only=True):
    """One machine (or container) that runs agents, and its process. `lost`: it has been silent for 20 s and did not say that it ends."""

    node_id: str
    host: str
    pid: int
    version: str
    state: NodeState
    leads: bool
    """Whether it has the controller's lease now."""
    started_at: float
    last_heartbeat: float
    stopped_at: float | None


def listed(tx: Transaction) -> list[NodeShown]:
    """All nodes that the store knows, by name."""
    led = records.leader(tx)
    leader = led.holder if led is not None and led.until > tx.now else None
    return [_shown(row, tx.now, row.id == leader) for row in records.nodes(tx)]


def _shown(row: Row, now: float, leads: bool) -> NodeShown:
    return NodeShown(
        node_id=row.id,
        host=row.host,
        pid=row.pid,
        version=row.version,
        state=state_of(row.stopped_at, row.heartbeat_at, now),
        leads=leads,
        started_at=row.started_at,
        last_heartbeat=row.heartbeat_at,
        stopped_at=row.stopped_at,
    )


def state_of(stopped_at: float | None, heartbeat_at: float, now: float) -> NodeState:
    """Whether a node lives, by what it last said of itself (N2). Pure."""
    if stopped_at is not None:
        return "ended"
    return "live" if heartbeat_at > now - LOST_S else "lost"
