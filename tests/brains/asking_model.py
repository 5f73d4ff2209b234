"""A model brain on a scripted endpoint, and a clock on which it waits for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from covey.brains.launching import Site
from covey.brains.making import make
from covey.brains.model import Outcome, Turn
from tests.brains.endpoint import Endpoint
from tests.brains.turns import Noted, a_turn, settings

TARGET = "openai-compatible:scripted"
COLLEAGUES = [
    {"id": "chief", "role": "Lead", "capabilities": ["plan"]},
    {"id": "devops", "role": "Deploys", "capabilities": ["deploy"]},
]


class Paused:
    """A clock on which nobody waits; it keeps how long they would have."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def wall(self) -> float:
        return 1_800_000_000.0

    def boot(self) -> float:
        return sum(self.pauses)

    def boot_id(self) -> str:
        return "a-boot"

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def thought(
    endpoint: Endpoint, turn: Turn | None = None, *, clock: Paused | None = None, hands: Noted | None = None, **options: Any
) -> Outcome:
    """What a brain on this endpoint makes of a turn."""
    brain = make(
        settings(Path.cwd(), kind="model", target=TARGET, options={"base_url": endpoint.url, **options}),
        Site(grace_s=2.0, clock=clock or Paused()),
    )
    try:
        return await brain.think(turn or a_turn(colleagues=COLLEAGUES), hands or Noted())
    finally:
        await brain.close()
