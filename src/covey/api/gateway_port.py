"""The gateway's port: its own health, and the routes of the doors that are mounted behind the same guards as the API's."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from covey.api import liveness
from covey.api.described import DescribedPort
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.doors.door import FleetDoor


def make_app(door: FleetDoor, mounted: Sequence[BaseRoute]) -> DescribedPort:
    """The application of the gateway's port."""
    return DescribedPort(door, "Covey's gateway", OPERATIONS, mounted)


OPERATIONS = (*liveness.OPERATIONS, *SELF_DESCRIPTION)
