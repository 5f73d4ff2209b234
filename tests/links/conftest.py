"""The tests of links begin with the default eight, their quotas on, on both databases; time is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from covey.agents import configuring
from tests.conftest import EIGHT, Database, ManualClock
from tests.inline import Hand, at_hand, database, mould_database, mould_file

__all__ = ["database", "mould_database", "mould_file"]

LIMITED = msgspec.structs.replace(EIGHT, limits="on")


@pytest.fixture
def hand(database: Database, clock: ManualClock) -> Iterator[Hand]:
    """Verbs at hand on a fleet whose links are limited."""
    with at_hand(database, clock) as found:
        found(configuring.configure, LIMITED)
        yield found
