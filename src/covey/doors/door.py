"""What a door stands on: the store, the settings, who it admits, whom it wakes."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass, field

from covey.base.clock import Clock, SystemClock
from covey.base.settings import Settings
from covey.doors.admission import Admission
from covey.doors.news import News
from covey.store import Store
from covey.store.bell import NEWS


@dataclass(kw_only=True)
class FleetDoor:
    """What a door of the whole fleet stands on. `settings` may be replaced while it serves."""

    store: Store
    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the door is to close: whoever waits or streams ends then."""
    bell: str | None = NEWS
    """The bell by which it hears of news, which one process of a machine has; None: it looks each second."""

    def __post_init__(self) -> None:
        self.admission = Admission(self.store, self.clock)
        self.news = News(self.store, self.bell)

    @property
    def on_loopback(self) -> bool:
        """Whether it is bound where only this machine reaches it."""
        return is_loopback(self.settings.host)


def is_loopback(host: str) -> bool:
    """Whether a bound address is reached from this machine only. Pure."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
