"""What the store needs of a database: the seam between the two drivers, and nothing else (DESIGN, Store)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from covey.base.ids import Ids
from covey.store.transaction import Transaction


class Retry(Exception):
    """The database gave up this batch for reasons of its own (a deadlock, a lost connection); run it again."""


class Writer(Protocol):
    """One connection that writes. Used by one thread."""

    def wait_turn(self) -> None:
        """Return once this process may write (SQLite: the lock file), or raise StoreBusy."""
        ...

    def begin(self, *, full: bool, locks: Sequence[tuple[str, str]]) -> Transaction:
        """Open a transaction whose `now` is read after its locks are taken."""
        ...

    def savepoint(self) -> None: ...
    def release(self) -> None: ...
    def rollback_to(self) -> None: ...

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit; on an error everything is rolled back."""
        ...

    def rollback(self) -> None: ...

    def end_turn(self) -> None:
        """Let other processes write."""
        ...

    def close(self) -> None: ...


class Reader(Protocol):
    """One connection that only reads. Used by one thread at a time."""

    def begin(self) -> Transaction:
        """Open a read-only transaction on one snapshot."""
        ...

    def end(self) -> None: ...
    def close(self) -> None: ...


class Engine(Protocol):
    """A kind of database: opens connections."""

    writers: int
    readers: int

    def writer(self, ids: Ids) -> Writer: ...
    def reader(self, ids: Ids) -> Reader: ...
    def migrate(self, clock_wall: Callable[[], float]) -> list[str]:
        """Bring the schema up to date; the names of the migrations that were run."""
        ...

    def close(self) -> None: ...
