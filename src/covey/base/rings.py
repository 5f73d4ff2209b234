"""Rings: what an agent is rung by, and waiting for one, which may be lost, until it comes or for so long at most."""

from __future__ import annotations

import asyncio

from covey.base.clock import Clock


def mail_of(agent: str) -> str:
    """Rung when there is mail for an agent; its own name when there may be anything."""
    return f"{agent}.mail"


def tasks_of(agent: str) -> str:
    """Rung when there is a task for an agent."""
    return f"{agent}.tasks"


async def rung_within(ring: asyncio.Event, seconds: float, clock: Clock) -> bool:
    """Whether it rang within so long; the ring is heard then, and the next one is another."""
    if not ring.is_set():
        waiting: set[asyncio.Future[object]] = {asyncio.ensure_future(ring.wait()), asyncio.ensure_future(clock.sleep(seconds))}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
    rang = ring.is_set()
    ring.clear()
    return rang
