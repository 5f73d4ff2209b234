"""`python -m covey.brains.worker TARGET FOLDER`: one turn of a python brain in a process of its own.

The turn comes as JSON on stdin, the outcome leaves as JSON on stdout. What the code itself prints goes to stderr, where it is progress.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from covey.base import wire
from covey.base.errors import Failed, Misconfigured
from covey.brains.calls import answered, answered_async
from covey.brains.loading import load, step_of
from covey.brains.model import Outcome, Turn, failure


def main() -> None:
    """Take the turn, have the target think, write the outcome."""
    stdout = _keep_stdout_apart()
    turn = msgspec.json.decode(sys.stdin.buffer.read(), type=Turn)
    outcome = think(sys.argv[1], sys.argv[2], turn)
    with os.fdopen(stdout, "wb") as file:
        file.write(wire.encode(outcome))


def _keep_stdout_apart() -> int:
    """The descriptor for the outcome; whatever prints to stdout from now on, children too, prints to stderr."""
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return kept


def think(target: str, folder: str, turn: Turn) -> Outcome:
    """The outcome of the turn."""
    try:
        step = step_of(load(target, folder), turn)
    except Misconfigured as error:
        return failure(error.message, permanent=True, not_started=True)
    if step.is_async:
        return asyncio.run(answered_async(step, _Alone(), _AsyncHands()))
    return answered(step, _Alone(), _SyncHands())


class _Alone:
    """How a call reaches its agent from a process of its own: by stderr."""

    def say(self, text: str) -> None:
        """Tell progress."""
        print(text.replace("\n", " "), file=sys.stderr, flush=True)  # noqa: T201 - this is the channel

    def is_cancelled(self) -> bool:
        """Never: who cancels ends the process."""
        return False


class _SyncHands:
    """What a `def` may do here: tell progress."""

    cancelled = False

    def progress(self, text: str) -> None:
        """Say how far it is."""
        _Alone().say(text)

    def read(self, verb: Callable[..., Any], *_: Any, **__: Any) -> NoReturn:
        """Not from here."""
        raise _no_store(verb)

    write = read


class _AsyncHands:
    """What an `async def` may do here: the same."""

    async def progress(self, text: str) -> None:
        """Say how far it is."""
        _Alone().say(text)

    async def read(self, verb: Callable[..., Any], *_: Any, **__: Any) -> NoReturn:
        """Not from here."""
        raise _no_store(verb)

    write = read


def _no_store(verb: Callable[..., Any]) -> Failed:
    name = getattr(verb, "__name__", "this")
    return Failed(f"a python brain in a process of its own has no store, so no {name}; ask the agent's API at COVEY_URL, with COVEY_TOKEN.")


if __name__ == "__main__":
    main()
