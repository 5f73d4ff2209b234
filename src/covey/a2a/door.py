"""What the A2A door stands on: the store, who is admitted, by which names it may be called, and who wakes those who wait."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from covey.agents.model import Caller
from covey.base.clock import Clock, SystemClock
from covey.base.settings import Settings
from covey.store import Store
from covey.store.events import Bookmark


class Admits(Protocol):
    """Knows who calls by a bearer token."""

    async def caller(self, authorization: bytes | None) -> Caller | None:
        """Who calls by this Authorization header; None without one."""
        ...


class Checks(Protocol):
    """Knows the names under which this server may be asked for."""

    def check(self, scope: Mapping[str, object], headers: Mapping[bytes, bytes]) -> None:
        """Raise ForeignOrigin if Host or Origin is not ours."""
        ...


class Wakes(Protocol):
    """Knows when something happened in the fleet."""

    async def beyond(self, bookmark: Bookmark) -> None:
        """Return once there is an event after this bookmark."""
        ...


@dataclass(kw_only=True)
class A2aDoor:
    """One fleet's door. `settings` may be replaced while it serves."""

    store: Store
    settings: Settings
    admission: Admits
    hosts: Checks
    news: Wakes
    clock: Clock = field(default_factory=SystemClock)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the door is to close: whoever waits or streams ends then."""
    once: bool = True
    """Whether the id of a message names one message of its sender, so that the same one sent again begins nothing new (T3)."""
