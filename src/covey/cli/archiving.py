"""A fleet in one file, and back: the store, the tokens, the archive, covey.toml, in a tar with a manifest.

The store's part is what `store.upkeep` makes and takes. Nothing is taken out of a file that was not put in by name.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from covey.agents import living
from covey.app.opening import engine_of, run_dir
from covey.base import token_file
from covey.base.clock import SystemClock
from covey.base.errors import Conflict, CoveyError, Failed, Invalid, NotFound
from covey.base.markers import markers
from covey.base.progress import Tell, silent
from covey.base.settings import Settings
from covey.messages import retention as mail
from covey.nodes import records
from covey.store import upkeep
from covey.store.snapshots import refuse_to_replace
from covey.tasks import retention as tasks
from covey.version import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

FORMAT = 1
REPAIRS: tuple[upkeep.Repair, ...] = (mail.end_leases, tasks.end_leases, living.end_processes, records.end_all, mail.index_again)
"""What each feature puts right in a restored store."""
MANIFEST, STORE, TOKENS, CONFIG, ARCHIVE = "manifest.json", "store.db", token_file.NAME, "covey.toml", "archive"
_LARGEST = 64 * 1024 * 1024
"""No part but the store and the archive's files is larger."""


class Manifest(msgspec.Struct):
    """What a backup says of itself."""

    format: int
    version: str
    at: float
    config: str
    """The name of the configuration's file, empty if there was none."""


async def backup(settings: Settings, config: Path, file: Path, tell: Tell = silent) -> dict[str, Any]:
    """What was written to the file, which is there whole or not at all.

    Raises:
        Conflict: Something other than a backup of a fleet is there.
        Failed, StoreUnavailable: It can't be written, or the store can't be read.
    """
    refuse_to_replace(file, _is_backup)
    part = file.with_name(f".{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix=".covey-backup-", dir=file.parent) as folder:
            store = Path(folder) / STORE
            await upkeep.backup(engine_of(settings), store, tell)
            parts = _write(part, _parts(settings, config, store), file.name.endswith(("gz", "tgz")), tell)
        size = part.stat().st_size
        part.replace(file)
    except OSError as error:
        raise Failed(f"{file} can't be written: {error.strerror}.", field="file") from error
    finally:
        part.unlink(missing_ok=True)
    return {"file": str(file), "bytes": size, "parts": parts}


def _is_backup(file: Path) -> bool:
    """Whether the file begins as ours do."""
    try:
        with tarfile.open(file) as tar:
            first = tar.next()
            return first is not None and first.name == MANIFEST
    except (tarfile.TarError, EOFError):
        return False


def _parts(settings: Settings, config: Path, store: Path) -> dict[str, Path]:
    """What goes in, by its name there."""
    data = Path(settings.data_dir)
    found = {STORE: store, TOKENS: data / TOKENS, CONFIG: config, ARCHIVE: data / ARCHIVE}
    return {name: path for name, path in found.items() if path.exists()}


def _write(part: Path, parts: dict[str, Path], packed: bool, tell: Tell) -> list[str]:
    manifest = Manifest(FORMAT, __version__, SystemClock().wall(), CONFIG if CONFIG in parts else "")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as raw:
        with (
            tempfile.NamedTemporaryFile(dir=part.parent) as told,
            gzip.GzipFile(fileobj=raw, mode="wb") if packed else nullcontext(raw) as out,
            tarfile.open(fileobj=Counted(out, tell, sum(map(_size, parts.values()))), mode="w") as tar,
        ):
            told.write(msgspec.json.encode(manifest))
            told.flush()
            for name, path in {MANIFEST: Path(told.name), **parts}.items():
                tar.add(path, arcname=name, filter=_bare)
        os.fsync(raw.fileno())
    return list(parts)


def _size(path: Path) -> int:
    """How many bytes a file or a folder has."""
    return path.stat().st_size if path.is_file() else sum(each.lstat().st_size for each in path.rglob("*") if each.is_file())


class Counted(io.RawIOBase):
    """What a tar is written to: it tells how much of all went in."""

    def __init__(self, out: SupportsWrite[bytes], tell: Tell, total: int) -> None:
        super().__init__()
        self._out = out
        self._tell = tell
        self._total = total
        self._done = 0

    def write(self, data: Any) -> int:
        """Write on."""
        self._out.write(data)
        self._done += len(data)
        self._tell("packing", min(self._done, self._total), self._total)  # a tar has some bytes more than its files
        return len(data)

    def tell(self) -> int:
        """Where it stands."""
        return self._done


def _bare(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """A file or folder without its owner; links and the like stay out."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member if member.isreg() or member.isdir() else None


def restore(file: Path, config: Path, settings_with: Callable[[str | None], Settings], tell: Tell = silent) -> dict[str, Any]:
    """What was put in the place of what was there. `settings_with` gives the settings that a text of covey.toml comes to.

    Raises:
        NotFound, Invalid: There is no such file, or it is no sound backup; nothing was changed.
        Conflict: The fleet runs; nothing was changed.
    """
    with _unpacked(file, tell) as (folder, manifest):
        text = (folder / CONFIG).read_text(encoding="utf-8") if manifest.config else None
        settings = settings_with(text)
        _refuse_running(settings)
        data = Path(settings.data_dir)
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        epoch = _restore_store(settings, folder / STORE, tell)
        done = [STORE]
        for name, target in ((TOKENS, data / TOKENS), (ARCHIVE, data / ARCHIVE), (CONFIG, config)):
            if (folder / name).exists():
                _put(folder / name, target)
                done.append(name)
    return {"file": str(file), "parts": done, "epoch": epoch, "madeAt": manifest.at, "madeBy": manifest.version}


def _refuse_running(settings: Settings) -> None:
    found = markers(run_dir(settings))
    if found:
        names = ", ".join(each.name for each in found[:10])
        raise Conflict(f"the fleet runs ({names}); nothing was changed. Stop it first: `covey down`.")


def _restore_store(settings: Settings, path: Path, tell: Tell) -> str:
    engine = engine_of(settings)
    try:
        return upkeep.restore(engine, path, SystemClock().wall, REPAIRS, tell=tell)
    finally:
        engine.close()


def _put(source: Path, target: Path) -> None:
    """Put a file or folder in place; what differs there is kept beside it as `….replaced`."""
    if target.is_file() and source.is_file() and target.read_bytes() == source.read_bytes():
        return
    if target.exists():
        kept = target.with_name(target.name + ".replaced")
        _remove(kept)
        target.rename(kept)
    source.chmod(0o700 if source.is_dir() else 0o600)
    shutil.move(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _unpacked(file: Path, tell: Tell) -> Iterator[tuple[Path, Manifest]]:
    """A folder with the parts of a backup, and what it says of itself.

    Raises:
        NotFound, Invalid: There is no such file, or it is no backup of a fleet.
    """
    if not file.is_file():
        raise NotFound(f"there is no file {file}; nothing was changed.", field="file")
    with tempfile.TemporaryDirectory(prefix=".covey-restore-", dir=file.parent if os.access(file.parent, os.W_OK) else None) as name:
        folder = Path(name)
        try:
            with file.open("rb") as raw, tarfile.open(fileobj=raw) as tar:
                size = file.stat().st_size
                for member in tar:
                    _extract(tar, member, folder, lambda: tell("unpacking", raw.tell(), size))
            manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        except (tarfile.TarError, EOFError, OSError, msgspec.MsgspecError) as error:
            raise _refused(file, "it is no tar file" if isinstance(error, tarfile.ReadError) else str(error)) from error
        if manifest.format > FORMAT or not (folder / STORE).is_file():
            raise _refused(file, f"it was made by a newer Covey ({manifest.version})" if manifest.format > FORMAT else "it holds no store")
        yield folder, manifest


def _refused(file: Path, why: str) -> CoveyError:
    return Invalid(f"{file} is not a backup that can be restored: {why}. Nothing was changed; take another one.", field="file")


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, moved: Callable[[], object]) -> None:
    """Take out what a backup may hold, by its name; anything else is left in."""
    parts = member.name.split("/")
    if ".." in parts or not (member.name in (MANIFEST, STORE, TOKENS, CONFIG) or parts[0] == ARCHIVE):
        return
    target = folder.joinpath(*parts)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        return
    if not member.isreg() or (parts[0] not in (STORE, ARCHIVE) and member.size > _LARGEST):
        return
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    source = tar.extractfile(member)
    assert source is not None
    with source, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
        while part := source.read(1 << 20):
            out.write(part)
            moved()
