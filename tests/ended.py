"""What is left of a run, and its end, for tests without a loop."""

from __future__ import annotations

import asyncio

from covey.base.clock import SystemClock
from covey.base.ending import end, look
from covey.base.processes import Identity


def left_of_run(run_id: str, pgid: int = 0, leader: Identity | None = None) -> list[Identity]:
    """What still runs of it."""
    return look(run_id, pgid, leader).left


def run_is_gone(run_id: str, pgid: int = 0, leader: Identity | None = None) -> bool:
    """Whether nothing is left of it, by two looks: a fork can slip past one."""
    return all(not found.left and found.sure for found in (look(run_id, pgid, leader), look(run_id, pgid, leader)))


def end_now(leader: Identity | None, *, run_id: str = "", grace_s: float) -> list[Identity]:
    """Whoever of it could not be ended."""
    return asyncio.run(end(leader, run_id=run_id, grace_s=grace_s, clock=SystemClock()))
