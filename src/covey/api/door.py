"""What a port stands on: the store, the settings, who it admits, whom it wakes. An agent's port has its agent and its process too."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from covey.agents.model import Caller
from covey.api.admission import Admission
from covey.api.news import News
from covey.base.clock import Clock, SystemClock
from covey.base.settings import Settings
from covey.store import Store

Health = Literal["healthy", "degraded", "paused"]


class Local(Protocol):
    """What a port asks of the agent's own process, from memory alone; the runner is one."""

    def health(self) -> Health:
        """How it is."""
        ...

    def ready(self) -> bool:
        """Whether it takes work."""
        ...

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        """Nothing new is taken, the brains end within the grace, their leases go back (A7)."""
        ...


@dataclass(kw_only=True)
class FleetDoor:
    """What the fleet's port stands on. `settings` may be replaced while it serves."""

    store: Store
    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the port is to close: whoever waits or streams ends then."""

    def __post_init__(self) -> None:
        self.admission = Admission(self.store, self.clock)
        self.news = News(self.store)

    @property
    def on_loopback(self) -> bool:
        """Whether it is bound where only this machine reaches it."""
        return is_loopback(self.settings.host)


@dataclass(kw_only=True)
class Door(FleetDoor):
    """What an agent's port stands on."""

    agent: str
    local: Local


def is_loopback(host: str) -> bool:
    """Whether a bound address is reached from this machine only. Pure."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
