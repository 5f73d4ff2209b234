"""What the tests of the A2A door share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.brains.model import Brain
from tests.a2a.world import World, on_free_ports, world_of
from tests.conftest import Database, opened

MakeWorld = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def world(database: Database, tmp_path: Path) -> MakeWorld:
    """Opens the door on this database with the coder's brain; `offered` are settings of [a2a]."""

    @asynccontextmanager
    async def make(brain: Brain, *, open_to_all: bool = False, **offered: Any) -> AsyncIterator[World]:
        settings = on_free_ports(**offered)
        async with opened(database, tmp_path, SystemClock()) as store:
            await store.write(configuring.configure, settings)
            async with world_of(store, brain, settings, open_to_all=open_to_all) as found:
                yield found

    return make
