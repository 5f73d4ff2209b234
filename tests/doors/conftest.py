"""Fixtures of the tests of what all doors stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from covey.store import Store
from tests.api.world import World, world_of
from tests.conftest import ManualClock


@pytest.fixture
async def world(fleet: Store, clock: ManualClock) -> AsyncIterator[World]:
    """The default eight with tokens and ports, on both databases in turn."""
    async with world_of(fleet, clock) as found:
        yield found
