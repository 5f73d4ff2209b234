"""The shared files as duties of the leading node: the JSON view, the logs, the drop folder (S1, S2, S3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.files.drop import Drop
from covey.files.logs import Logs
from covey.files.view import View
from covey.nodes.node import Duty
from covey.store import Store

FILES_S = 0.5


def file_duties(store: Store, settings: Settings, clock: Clock) -> list[Duty]:
    """One round each half second; each costs one look when nothing happened."""
    parts = {
        "view": View(store, settings, clock).round,
        "logs": Logs(store, settings, clock).round,
        "drop folder": Drop(store, settings, clock).round,
    }
    return [Duty(name, FILES_S, True, _leading(one_round)) for name, one_round in parts.items()]


def _leading(one_round: Callable[[], Awaitable[object]]) -> Callable[[int], Awaitable[object]]:
    async def with_fence(_: int) -> object:
        return await one_round()

    return with_fence
