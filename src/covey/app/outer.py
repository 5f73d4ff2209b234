"""What came from outside of covey.toml when the fleet was started: kept beside its data, so that all later reads see the same settings.

It stands as long as the node that was started so, or one that was started in its place; what a killed fleet left behind is not believed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from covey.app.node_spec import NODE
from covey.app.opening import run_dir
from covey.base.config.keys import FLEET
from covey.base.config.origins import Origins, Outer, written
from covey.base.config.source import FILE_NAME
from covey.base.markers import marker
from covey.base.settings import Settings

_OUTER = "outer.json"
_ORIGINS = "origins.json"


class Kept(msgspec.Struct):
    """The file that a fleet was started with, and which keys of [fleet] came from elsewhere."""

    file: str = ""
    outer: dict[str, Outer] = {}


def remember(settings: Settings, flags: Mapping[str, object], environ: Mapping[str, str], file: Path) -> None:
    """Keep what flags and the environment said at the start, so that a later `config apply` reads covey.toml in the same light."""
    names = [name for name in (*FLEET, "only") if flags.get(name) is not None or environ.get(f"COVEY_{name.upper()}")]
    outer: dict[str, Outer] = {name: "flag" if flags.get(name) is not None else "environment" for name in names}
    _write(run_dir(settings) / _OUTER, {name: getattr(settings, name) for name in names})
    _write(run_dir(settings) / _ORIGINS, Kept(str(file), outer))


def forget(settings: Settings) -> None:
    """The fleet is down: what is started next goes by its own flags and environment."""
    for name in (_OUTER, _ORIGINS):
        (run_dir(settings) / name).unlink(missing_ok=True)


def _write(path: Path, value: Any) -> None:
    part = path.with_suffix(f".{os.getpid()}")
    part.touch(mode=0o600)
    part.write_bytes(msgspec.json.encode(value))
    part.replace(path)


def given(settings: Settings) -> dict[str, object]:
    """What was kept, as flags; nothing where no node runs that it is about."""
    if marker(run_dir(settings) / f"{NODE}.lock") is None:
        return {}
    try:
        found: dict[str, object] = msgspec.json.decode((run_dir(settings) / _OUTER).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return {}
    return found


def origins(settings: Settings) -> Origins:
    """Where the settings come from: as it was kept at the start, and as the file is now."""
    try:
        kept = msgspec.json.decode((run_dir(settings) / _ORIGINS).read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        kept = Kept()
    file = Path(kept.file) if kept.file else Path(settings.root) / FILE_NAME
    return Origins(str(file), written(file), kept.outer) if file.is_file() else Origins("", {}, kept.outer)
