"""These tests run on copies of one made store, on both databases; what they start ends with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from covey.base.processes import become_subreaper
from covey.store import Store
from tests.inline import database, hand, mould_database, mould_file
from tests.nodes.workshop import Workshop

__all__ = ["database", "hand", "mould_database", "mould_file"]


@pytest.fixture
def subreaper() -> Iterator[None]:
    """As a node's process is: what loses its parent becomes our child."""
    become_subreaper()
    yield
    become_subreaper(False)


@pytest.fixture
async def workshop(fleet: Store, tmp_path: Path, subreaper: None) -> AsyncIterator[Workshop]:
    """Nodes, and processes for them to keep."""
    made = Workshop(fleet, tmp_path)
    yield made
    await made.close()
