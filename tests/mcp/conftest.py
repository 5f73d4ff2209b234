"""Fixtures of the tests of the MCP door."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from covey.store import Store
from tests.conftest import ManualClock
from tests.mcp.world import World, world_of


@pytest.fixture
async def world(store: Store, clock: ManualClock) -> AsyncIterator[World]:
    """The gateway on a real port, on both databases in turn."""
    async with world_of(store, clock) as found:
        yield found
