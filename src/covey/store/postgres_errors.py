"""PostgreSQL's own errors as ours: run the batch again, give it up, or say what is wrong and what to do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import psycopg
from psycopg import errors as pg

from covey.base.errors import CoveyError, Failed, Invalid, StoreBusy, StoreUnavailable
from covey.store.transaction import Broken, Retry

_GONE = frozenset({None, "57P01", "57P02", "57P03"})
"""SQLSTATEs of a server that goes down, or that said nothing; those of class 08 say that the connection failed."""


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, so that nobody can say on it what became of the transaction. Pure."""
    if isinstance(error, pg.IdleInTransactionSessionTimeout):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (
        error.sqlstate in _GONE or (error.sqlstate or "").startswith("08")
    )


def our_error(error: psycopg.Error) -> CoveyError:
    """What an error means to a caller. Pure."""
    said = " ".join(str(error).split())
    match error:
        case pg.LockNotAvailable() | pg.QueryCanceled() | pg.TooManyConnections():
            return StoreBusy(f"PostgreSQL is busy ({said}); nothing was stored, try again.", retry_at=time.time() + 1)
        case pg.DiskFull():
            return StoreUnavailable(f"PostgreSQL's disk is full ({said}); nothing was stored. Free some space there, then try again.")
        case pg.ReadOnlySqlTransaction():
            return StoreUnavailable(
                f"this PostgreSQL takes no writes ({said}); nothing was stored. Give the address of the primary as `store` in covey.toml."
            )
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return StoreUnavailable(
                f"PostgreSQL can't be reached ({said}); nothing was stored. Check the server and the `store` address in covey.toml."
            )
        case psycopg.DataError() if "NUL" in said:
            return Invalid("a text has a NUL character; nothing was stored, leave it out.")
        case _:
            return Failed(f"the store refused a statement ({type(error).__name__}: {said}); this is a fault of Covey, please report it.")


def in_transaction(error: psycopg.Error) -> Exception:
    """What an error means to an open transaction: its verb's own error, the end of the batch, or another run of it. Pure."""
    if is_lost(error) or isinstance(error, pg.DeadlockDetected | pg.SerializationFailure):
        return Retry(" ".join(str(error).split()))
    ours = our_error(error)
    return Broken(ours) if isinstance(ours, StoreUnavailable) else ours


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Raise PostgreSQL's own errors as ours, where no transaction of verbs is open."""
    try:
        yield
    except psycopg.Error as error:
        raise our_error(error) from error


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Raise PostgreSQL's own errors as the store takes them inside a transaction of verbs."""
    try:
        yield
    except psycopg.Error as error:
        raise in_transaction(error) from error
