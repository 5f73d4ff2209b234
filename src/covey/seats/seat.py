"""A seat as it is kept: one file for each assistant and agent, which only its owner can read, in the user's own state folder.

It is not in the fleet's folder: the fleet may be elsewhere, and leaving must work when it is gone. Each hook imports this: keep it light.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from covey.base import token_file
from covey.base.errors import Invalid, NotFound


class Change(NamedTuple):
    """One file of the assistant's, as it was and as it was left, in base64; and what in it is ours, should others change it meanwhile."""

    path: str
    before: str | None
    """None: there was no such file."""
    mode: int
    after: str
    folders: list[str]
    """Folders that were made for it, the outermost first."""
    places: list[list[Any]]
    """Of a JSON file: path and mark of each part. None: it is a TOML file with a block of ours."""
    made: list[list[str]]
    """Of a JSON file: objects that were made for our parts."""


class Seat(NamedTuple):
    """Who sits where: the assistant, the agent it acts as, how the fleet is reached, what was written for it."""

    assistant: str
    agent: str
    api: str
    home: str
    """The fleet's data folder on this machine, whose tokens.toml has the token; empty if the fleet is elsewhere."""
    token: str
    """The token, if the fleet is elsewhere."""
    folder: str
    """The assistant's project."""
    server: str
    """What the fleet is called among the assistant's MCP servers."""
    changes: list[Change]

    @property
    def shown_token(self) -> str:
        """The token to call with: the fleet's own file has the current one.

        Raises:
            NotFound: There is none for this agent.
        """
        found = token_file.read(Path(self.home)).get(self.agent) if self.home else self.token
        if not found:
            raise NotFound(f"there is no token of {self.agent} in {self.home or 'the seat'}; join again.", field="token")
        return found


def folder_of() -> Path:
    """Where seats are kept: below XDG_STATE_HOME, or ~/.local/state."""
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if given else Path.home() / ".local" / "state") / "covey" / "seats"


def path_of(folder: Path, assistant: str, agent: str) -> Path:
    """The file of one seat."""
    return folder / f"{assistant}-{agent}.json"


def read(path: Path) -> Seat:
    """The seat of a file.

    Raises:
        NotFound: There is none.
        Invalid: It is broken.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        changes = [Change(**each) for each in found.pop("changes")]
        return Seat(**found, changes=changes)
    except FileNotFoundError as error:
        raise NotFound(f"nobody has joined as {path.stem}; `covey join` does that.", field="seat") from error
    except (ValueError, TypeError, KeyError) as error:
        raise Invalid(
            f"{path} is broken ({error}); look at the assistant's settings yourself, then remove that file.", field="seat"
        ) from error


def write(path: Path, seat: Seat) -> None:
    """Keep the seat, in one step, readable by its owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(seat._asdict() | {"changes": [each._asdict() for each in seat.changes]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def remove(path: Path) -> None:
    """The seat is free; what its hooks noted goes with it."""
    for each in (path, told_path(path), idle_path(path)):
        each.unlink(missing_ok=True)


def told_path(path: Path) -> Path:
    """Where a seat's hooks note what they have told."""
    return path.with_suffix(".told")


def idle_path(path: Path) -> Path:
    """What a seat's waiting hook holds locked."""
    return path.with_suffix(".idle")
