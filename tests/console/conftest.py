"""Fixtures of the console's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from covey.store import Store
from tests.conftest import ManualClock
from tests.console.person import Person, person_of


@pytest.fixture
async def person(fleet: Store, clock: ManualClock) -> AsyncIterator[Person]:
    """The operator, signed in, before the default eight; on both databases in turn."""
    async with person_of(fleet, clock) as found:
        await found.sign_in()
        yield found


@pytest.fixture
async def stranger(fleet: Store, clock: ManualClock) -> AsyncIterator[Person]:
    """Somebody who is not signed in."""
    async with person_of(fleet, clock) as found:
        yield found
