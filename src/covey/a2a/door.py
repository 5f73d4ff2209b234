"""What the A2A door stands on: as every door, and whether a message's id names one message."""

from __future__ import annotations

from dataclasses import dataclass

from covey.doors.door import FleetDoor


@dataclass(kw_only=True)
class A2aDoor(FleetDoor):
    """The door for agents of other systems."""

    once: bool = True
    """Whether the id of a message names one message of its sender, so that the same one sent again begins nothing new (T3)."""
