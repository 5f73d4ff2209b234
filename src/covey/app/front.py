"""The fleet's port: the API for programs and the console for people, side by side on one address. Neither knows of the other."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from covey.api import fleet_port
from covey.app import outer
from covey.base.settings import Settings
from covey.console import app as console
from covey.doors.door import FleetDoor
from covey.files.logs import tail


class Front:
    """Gives each request to the one that it is for."""

    def __init__(self, door: FleetDoor) -> None:
        self.door = door
        self.api = fleet_port.make_app(door)
        self.console = console.make_app(door, printed, outer.origins)
        self._of_the_api = frozenset(each.path for each in self.api.operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope.get("path", "")
        whose = self.api if path.startswith("/api/") or path in self._of_the_api or scope["type"] != "http" else self.console
        await whose(scope, receive, send)


def printed(settings: Settings, agent: str, lines: int) -> list[str]:
    """The last lines that an agent's process has printed."""
    return tail(settings, agent, lines, output=True)


def make_app(door: FleetDoor) -> Front:
    """The application of the fleet's port."""
    return Front(door)
