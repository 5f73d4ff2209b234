"""What the store needs of a database: the seam between the two drivers, and nothing else (DESIGN, Store)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from covey.base.ids import Ids
from covey.base.progress import Tell, silent
from covey.store.transaction import Transaction
from covey.store.turns import Stamp


class Writer(Protocol):
    """One connection that writes. Used by one thread."""

    def wait_turn(self) -> None:
        """Return once this process may write (SQLite: the lock file)."""
        ...

    def begin(self, *, full: bool, locks: Sequence[tuple[str, str]]) -> Transaction:
        """Open a transaction whose `now` is read after its locks are taken."""
        ...

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit.

        Raises:
            Retry: Nothing was stored and the batch may run again.
            Broken: It could not be committed; its error says whether that is certain.
        """
        ...

    def look(self) -> Transaction:
        """Open a read-only transaction on one snapshot, which `rollback` lets go."""
        ...

    def rollback(self) -> None:
        """Undo what is open, if anything is. Never raises."""
        ...

    def end_turn(self) -> None:
        """Let other processes write."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Reader(Protocol):
    """One connection that only reads. Used by one thread at a time."""

    def begin(self) -> Transaction:
        """Open a read-only transaction on one snapshot."""
        ...

    def end(self) -> None:
        """Let the snapshot go."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Engine(Protocol):
    """A kind of database: opens connections, and looks after the whole of it."""

    system: str
    """What kind of database it is, in OpenTelemetry's words."""
    writers: int
    readers: int
    is_exclusive: bool
    """Whether who writes has the whole store, so that he waits for nobody once he has begun."""

    def writer(self, ids: Ids) -> Writer:
        """A new connection that writes."""
        ...

    def reader(self, ids: Ids) -> Reader:
        """A new connection that reads."""
        ...

    def migrate(self, clock_wall: Callable[[], float]) -> list[str]:
        """Bring the schema up to date; the names of the migrations that were run."""
        ...

    def backup(self, path: Path, tell: Tell = silent) -> None:
        """Write one moment of the store, whole, to a new file, an SQLite database whatever the kind of this one."""
        ...

    def restore(self, path: Path, clock_wall: Callable[[], float], tell: Tell = silent) -> None:
        """Put the content of such a file in the place of what is there, and bring it up to date. Nobody may have the store open."""
        ...

    def faults(self, tell: Tell = silent) -> list[str]:
        """What is not sound, a sentence each; empty for a sound store."""
        ...

    def vacuum(self, tell: Tell = silent) -> None:
        """Give room that is no longer used back to the disk."""
        ...

    def stamp(self) -> Stamp | None:
        """How many commits there were, known without a query; None where that is not known."""
        ...

    def close(self) -> None:
        """Give back what the engine itself holds."""
        ...
