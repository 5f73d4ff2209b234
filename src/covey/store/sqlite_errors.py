"""SQLite's own errors as ours, each with what to do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from covey.base.errors import CoveyError, Failed, StoreBusy, StoreDamaged, StoreUnavailable


def our_error(path: Path, error: apsw.Error) -> CoveyError:
    """SQLite's own error as ours, with what to do."""
    match error:
        case apsw.FullError():
            return StoreUnavailable(f"the disk of {path} is full; nothing was stored. Free some space, then try again.")
        case apsw.CorruptError() | apsw.NotADBError():
            fault = f"{path} is damaged ({error})"
            return StoreDamaged(
                f"{fault}. Stop the fleet and run `covey restore` with your last backup; keep the damaged file.", faults=[fault]
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreUnavailable(
                f"{path} can't be opened for writing ({error}); give this user write access to the file and its folder."
            )
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"another program holds {path}; nothing was stored. Close it, then try again.", retry_at=time.time() + 1)
        case apsw.IOError():
            return StoreUnavailable(f"{path} can't be read or written ({error}); nothing was stored. Check the disk and its free space.")
        case apsw.NoMemError():
            return StoreUnavailable(f"there is not enough memory to use {path}; nothing was stored. Free some, then try again.")
        case _:
            return Failed(f"the store refused a statement ({type(error).__name__}: {error}); this is a fault of Covey, please report it.")


@contextlib.contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's own errors as ours."""
    try:
        yield
    except apsw.Error as error:
        raise our_error(path, error) from error


def faults_in(error: CoveyError) -> list[str]:
    """What is not sound, by an error that met it; without what to do about it, which whoever tells it knows."""
    return list(error.details.get("faults", [error.message]))
