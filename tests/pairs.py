"""Two stores on one database, each with writer threads of its own, as two processes have them: for tests of races."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from covey.base.errors import CoveyError
from covey.store import Store
from tests.conftest import Database, ManualClock, opened

T = TypeVar("T")


@pytest.fixture
async def pair(database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    """Two stores on one database."""
    async with opened(database, tmp_path, clock) as one, opened(database, tmp_path, clock) as other:
        yield one, other


async def at_once(*calls: Callable[[], Awaitable[T]]) -> list[T | CoveyError]:
    """What each call comes to, all begun together; an error of ours is an answer, any other is raised."""
    found = await asyncio.gather(*(call() for call in calls), return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, CoveyError):
            raise each
    return found  # type: ignore[return-value]
