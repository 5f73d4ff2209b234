"""Whether one transaction waits for another, on PostgreSQL: for tests of verbs that check before they act."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests.inline import Hand, at_hand


@pytest.fixture
def other(hand: Hand) -> Iterator[Hand]:
    """Another process's hand on the same database."""
    with at_hand(hand.database, hand.clock) as found:
        yield found


def blocks(hand: Hand, first: Callable[..., object], second: Callable[[], object]) -> None:
    """Run `second` while `first` is not yet committed; it must wait for it."""
    thread = threading.Thread(target=second)
    with hand.transaction() as tx:
        first(tx)
        thread.start()
        waited = is_waiting(hand.database.url, thread)
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert waited, "it did not wait for what the first had checked"


def is_waiting(url: str, thread: threading.Thread) -> bool:
    """Whether somebody waits for a lock, once the thread does so or has ended."""
    end = time.monotonic() + 20
    with psycopg.connect(url, autocommit=True) as look:
        while thread.is_alive() and time.monotonic() < end:
            if look.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                return True
            time.sleep(0.005)
    return False
