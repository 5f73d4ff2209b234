"""The settings that a fleet was started with, as a file for its processes: read whole, written whole, for its owner only."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from covey.app.opening import run_dir
from covey.base.settings import Settings


def path_of(settings: Settings) -> Path:
    """Where the snapshot lies."""
    return run_dir(settings) / "settings.json"


def write(settings: Settings) -> Path:
    """Put the settings there."""
    path = path_of(settings)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_suffix(f".{os.getpid()}")
    part.touch(mode=0o600)
    part.write_bytes(msgspec.json.encode(settings))
    part.replace(path)
    return path


def read(path: Path) -> Settings:
    """The settings that lie there."""
    return msgspec.json.decode(path.read_bytes(), type=Settings)
