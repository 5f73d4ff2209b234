"""Which doors the gateway has: each needs an extra, and is absent without it. Nothing of them is imported before it is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

from starlette.routing import BaseRoute

from covey.base.settings import Settings
from covey.doors.door import FleetDoor


class GatewayDoor(NamedTuple):
    """A door of the gateway. Its module has `opened(door)`, an async context manager that gives the routes to serve meanwhile."""

    name: str
    what: str
    extra: str
    """What is to be installed, as in `covey[mcp]`."""
    packages: tuple[str, ...]
    """What the extra brings: some of it may be there for another program's sake, without the rest."""
    module: str


DOORS = (
    GatewayDoor("MCP", "for clients of the Model Context Protocol", "mcp", ("mcp",), "covey.mcp.mounting"),
    GatewayDoor("A2A", "for agents of other systems", "a2a", ("a2a-sdk", "grpcio", "sse-starlette"), "covey.a2a.mounting"),
)


def is_there(door: GatewayDoor) -> bool:
    """Whether all that it needs is installed."""
    return all(map(has, door.packages))


def has(package: str) -> bool:
    """Whether a package is installed; it is not imported."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def there() -> list[GatewayDoor]:
    """The doors whose extras are installed."""
    return [door for door in DOORS if is_there(door)]


def is_wanted(settings: Settings) -> bool:
    """Whether a gateway is to run: it is not switched off, and has something to serve."""
    return settings.gateway == "auto" and bool(there())


@asynccontextmanager
async def opened(door: FleetDoor, doors: Iterable[GatewayDoor]) -> AsyncIterator[Sequence[BaseRoute]]:
    """All routes of these doors, which are open meanwhile."""
    async with AsyncExitStack() as stack:
        routes: list[BaseRoute] = []
        for each in doors:
            routes += await stack.enter_async_context(import_module(each.module).opened(door))
        yield routes
