"""Join and leave: an assistant's files changed as `assistants` says, what they were kept, and put back.

A file that nobody changed since is put back byte for byte; from one that somebody did, our parts alone are taken out.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from covey.base.errors import Failed, Invalid
from covey.base.replacing import replace, turn
from covey.seats import edits, seat
from covey.seats.assistants import File, Joining, files_of
from covey.seats.seat import Change, Seat

PRIVATE = 0o600


How = Literal["restored", "cleaned", "removed", "gone"]


class Left(NamedTuple):
    """What became of one file: put back as it was, rid of our parts, taken away since it was ours alone, or not there any more."""

    path: str
    how: How


def join(folder: Path, made: Seat, joining: Joining) -> Seat:
    """The seat, taken: its files are written. Who sat there before has left first, so that joining twice is joining once.

    Raises:
        Invalid, Conflict: One of the assistant's files is not as it must be; nothing is written.
        Failed: A file can't be written.
    """
    path = seat.path_of(folder, made.assistant, made.agent)
    files = files_of(made.assistant, joining)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with turn(folder):
        if path.exists():
            _leave(path)
        found = made._replace(changes=[_change(file, joining) for file in files])
        seat.write(path, found)
        try:
            for change, file in zip(found.changes, files, strict=True):
                _make_folders(change.folders)
                replace(Path(change.path), base64.b64decode(change.after), PRIVATE if file.secret else change.mode)
        except OSError as error:
            _leave(path)
            raise Failed(f"{error.filename} can't be written ({error.strerror}); all is as it was.") from error
    return found


def leave(folder: Path, assistant: str, agent: str) -> list[Left]:
    """What became of each file; the seat is free.

    Raises:
        NotFound: Nobody has joined so.
        Invalid: A file was changed into something that can't be read; it is left as it is, and so is the seat.
    """
    path = seat.path_of(folder, assistant, agent)
    seat.read(path)
    with turn(folder):
        return _leave(path)


def _leave(path: Path) -> list[Left]:
    found = seat.read(path)
    left = [_put_back(change, found.server) for change in found.changes]
    seat.remove(path)
    return left


def _change(file: File, joining: Joining) -> Change:
    """What a file was, and is to be."""
    if file.path.is_symlink() and joining.folder in file.path.parents:
        raise Invalid(
            f"{file.path} is a link; a project's settings are written to a file of its own. Replace the link first.", field="path"
        )
    path = Path(os.path.realpath(file.path))
    name = str(path)
    before = _bytes_of(path)
    text = _decoded(before or b"", name)
    after = edits.put_toml(text, file.block, joining.server, name) if file.block else edits.put_json(text, file.parts, name)
    return Change(
        path=name,
        before=None if before is None else base64.b64encode(before).decode(),
        mode=PRIVATE if before is None else path.stat().st_mode & 0o777,
        after=base64.b64encode(after.encode()).decode(),
        folders=[str(each) for each in reversed(path.parents) if not each.exists()],
        places=[[list(place.path), place.mark] for place in edits.places_of(file.parts)],
        made=[list(each) for each in edits.missing(text, file.parts, name)] if file.parts else [],
    )


def _put_back(change: Change, server: str) -> Left:
    """The file as it was, if it is as we left it; else without what is ours."""
    path = Path(change.path)
    now = _bytes_of(path)
    before = None if change.before is None else base64.b64decode(change.before)
    how: How
    if now is None:
        how = "gone"
    elif now == before:
        how = "restored"
    elif now != base64.b64decode(change.after):
        how = "cleaned"
        replace(path, _without(change, server, _decoded(now, change.path)).encode(), change.mode)
    elif before is None:
        how = "removed"
        path.unlink()
    else:
        how = "restored"
        replace(path, before, change.mode)
    for each in reversed(change.folders):
        with suppress(OSError):  # others have put something there
            Path(each).rmdir()
    return Left(change.path, how)


def _without(change: Change, server: str, text: str) -> str:
    if not change.places:
        return edits.take_toml(text, server)
    places = [edits.Place(tuple(path), mark) for path, mark in change.places]
    return edits.take_json(text, places, [tuple(each) for each in change.made], change.path)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failed(f"{path} can't be read ({error.strerror}).") from error


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8; mend it first.", field=name) from error


def _make_folders(folders: list[str]) -> None:
    for each in folders:
        Path(each).mkdir(mode=0o700, exist_ok=True)
