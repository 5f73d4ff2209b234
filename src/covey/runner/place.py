"""Where an agent works. Data, no I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from covey.base.clock import Clock
from covey.base.settings import AgentSettings, Settings
from covey.brains.model import Brain
from covey.store import Store


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an agent works: one process of one node. `leave` is called with a reason and an exit code when the process must end."""

    store: Store
    agent: AgentSettings
    settings: Settings
    brain: Brain
    clock: Clock
    node: str
    pid: int
    leave: Callable[[str, int], None]
