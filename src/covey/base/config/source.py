"""The text of a fleet's file: where it is, what is in it, whether it is TOML. Knows no keys."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from covey.base.errors import Misconfigured

FILE_NAME = "covey.toml"
_LARGEST = 32 * 1024 * 1024


class Location(NamedTuple):
    """Where a fleet's file is, or would be."""

    file: Path
    home: Path
    """Where data goes, and where relative paths of the environment and of flags start."""
    there: bool
    """Whether there is a file, or has to be one because it was named."""


def locate(
    path: Path | None,
    *,
    dir: Path,  # noqa: A002 - as the flag is called
    environ: Mapping[str, str],
    flags: Mapping[str, object],
) -> Location:
    """The file that `load` reads with the same arguments."""
    base = absolute(Path.cwd(), str(dir))
    folder = absolute(base, str(flags["dir"])) if flags.get("dir") else None
    named = str(path or environ.get("COVEY_CONFIG") or "")
    file = absolute(base if path is None else Path.cwd(), named) if named else (folder or base) / FILE_NAME
    return Location(file, folder or file.parent, bool(named) or os.path.lexists(file))


def read(file: Path) -> str:
    """The text of the file, without the mark that some editors put before it.

    Raises:
        Misconfigured: It is not there, can't be read, or is no text.
    """
    try:
        if file.is_file() and file.stat().st_size > _LARGEST:
            raise Misconfigured(f"{file} is larger than 32 MiB; that is no configuration of a fleet.")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise Misconfigured(f"There is no file {file}; `covey init` writes one, and without one the default fleet runs.") from None
    except OSError as wrong:
        raise Misconfigured(f"{file} can't be read: {wrong.strerror}.") from wrong
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = raw.count(b"\n", 0, wrong.start) + 1
        fault = {"line": line, "column": None, "path": "", "message": "is not UTF-8; save the file as UTF-8"}
        raise Misconfigured(f"{file}: line {line} is not UTF-8; nothing of it was taken.", [fault]) from wrong


def parsed(name: str, text: str) -> dict[str, Any]:
    """The document.

    Raises:
        Misconfigured: It is not TOML; with the line.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:
        said = re.fullmatch(r"(.*?)(?: \(at (?:line (\d+), column (\d+)|end of document)\))?", str(wrong), re.DOTALL)
        message, line, column = said.groups() if said else (str(wrong), None, None)
        if isinstance(wrong, RecursionError):
            message = "Nested too deep"
        place = int(line) if line else text.rstrip().count("\n") + 1
        fault = {"line": place, "column": int(column) if column else None, "path": "", "message": message}
        raise Misconfigured(f"{name}: line {place} is not TOML: {message}. Nothing of it was taken.", [fault]) from wrong


def absolute(base: Path, path: str) -> Path:
    """The path from the base, without `..` in it; `~/` is the user's home."""
    if path == "~" or path.startswith("~/"):
        return Path(os.path.normpath(Path(path).expanduser()))
    return Path(os.path.normpath(base / path))
