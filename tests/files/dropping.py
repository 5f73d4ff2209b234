"""A process of its own that looks after a drop folder, and can be told where to kill itself: `python -m tests.files.dropping FOLDER KIND URL POINT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from covey.base.clock import SystemClock
from covey.files import drop as dropping
from covey.files import dropped
from covey.files.drop import Drop
from tests.conftest import EIGHT, Database, opened


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(real: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    """The function, but for its third call, at whose beginning or end the process dies."""
    calls = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == 3:
            die()
        found = real(*args, **kwargs)
        if not before and calls == 3:
            die()
        return found

    return call


def arm(point: str) -> None:
    """Set the trap: before or after one of the steps of a file's way."""
    when, _, step = point.partition(" ")
    steps: dict[str, tuple[Any, str]] = {
        "taking": (dropped, "taken_name"),
        "storing": (dropping, "take"),
        "settling": (Drop, "_settle"),
        "reasoning": (dropping, "write_whole"),
    }
    if step in steps:
        owner, name = steps[step]
        setattr(owner, name, dying(getattr(owner, name), before=when == "before"))


async def main(folder: Path, kind: Any, url: str, point: str) -> None:
    database = Database(kind, url, folder / "store.db")
    settings = msgspec.structs.replace(EIGHT, data_dir=str(folder / ".covey"))
    arm(point)
    async with opened(database, folder / "process", SystemClock()) as store:
        drop = Drop(store, settings, SystemClock())
        print("ready", flush=True)
        while True:
            await drop.round()
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]))
