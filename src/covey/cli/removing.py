"""Taking a fleet away: stop it, remove what it needs to run, and with `purge` its data. What we did not make stays, and is named."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from covey.app.opening import run_dir
from covey.app.starting import down
from covey.base import token_file
from covey.base.errors import Failed
from covey.base.settings import Settings
from covey.cli.reach import Reach
from covey.files import tree

_DATA_FILES = ("store.db*", f"{token_file.NAME}*")
_DATA_FOLDERS = ("archive", "archive.replaced", "drop/.taken", "drop/done", "drop/refused", "drop/.lock")
_LOG_FOLDERS = ("system", "agents", "communication", "performance")
_LOG_FILES = ("*.log", "*.log.*", "*.out", "*.out.*")
_NAMED = 100


def remove(reach: Reach, *, purge: bool) -> tuple[list[str], list[str]]:
    """What was removed, and what is left in our folders since it is not ours (100 of it at most).

    Raises:
        Failed: Processes could not be ended; nothing was removed.
    """
    settings = reach.settings
    if run_dir(settings).exists():
        stuck = reach.run(down(settings, lambda _: None))
        if stuck:
            raise Failed(f"these could not be ended: {', '.join(stuck)}; nothing was removed.", left=stuck)
    gone = _removed([run_dir(settings), *(_made(settings) if purge else ())])
    if not purge:
        return gone, []
    gone += _emptied(_folders(settings))
    homes = {settings.data_dir, settings.shared_dir, settings.logs_dir}
    return gone, [str(path) for path in islice((each for home in homes for each in Path(home).rglob("*") if not each.is_dir()), _NAMED)]


def _made(settings: Settings) -> Iterator[Path]:
    """All that we may have made beside folders."""
    data, shared, logs = Path(settings.data_dir), Path(settings.shared_dir), Path(settings.logs_dir)
    for pattern in _DATA_FILES:
        yield from data.glob(pattern)
    yield from (data / name for name in _DATA_FOLDERS)
    yield from (shared / name for name in tree.all_files(agent.id for agent in settings.agents))
    for name in _LOG_FOLDERS:
        for pattern in _LOG_FILES:
            yield from (logs / name).glob(pattern)


def _folders(settings: Settings) -> list[Path]:
    """The folders that we may have made, the inner ones first."""
    data, shared, logs = Path(settings.data_dir), Path(settings.shared_dir), Path(settings.logs_dir)
    inner = [data / "drop", *(shared / name for name in tree.FOLDERS), *(logs / name for name in _LOG_FOLDERS)]
    return [*sorted(inner, key=lambda each: -len(each.parts)), data, shared, logs]


def _removed(paths: Iterable[Path]) -> list[str]:
    """Those of the paths that were there, and are no more."""
    gone = []
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.exists() or path.is_symlink():
            path.unlink()
        else:
            continue
        gone.append(str(path))
    return gone


def _emptied(folders: Iterable[Path]) -> list[str]:
    """Those of the folders that hold nothing any more, and are gone."""
    gone = []
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
            gone.append(str(folder))
    return gone
