"""The seeds' log tree, written from the fleet's events as JSON lines (S3): which kind goes where is a table in `loglines`.

A line is what the event says, shortened, with what looks like a secret taken out; never a message's body. The bookmark stands in the
store and is moved after the lines are written, so a line may be there twice after a kill, and none is missing; `cursor` tells.

`logs/agents/NAME.log` has an agent's events. What its process itself prints is `logs/agents/PROCESS.out`, appended by the system:
that file is rotated by being copied and emptied, since the process keeps it open.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from covey.base.clock import Clock
from covey.base.errors import Unknown
from covey.base.ids import is_agent_name
from covey.base.settings import Settings
from covey.files.logfiles import DISK_TROUBLE, Follower, append, last_lines, rotate_in_place
from covey.files.loglines import FLEET_LOGS, files_of, line_of
from covey.files.telling import Teller, why
from covey.store import Store, Transaction, events, relaxed
from covey.store.events import Bookmark, Event

BOOKMARK = "logs"
PAGE = 2000
PAGES_A_ROUND = 5
OUTPUT_S = 30.0
FOLLOW_S = 0.3


def read_on(tx: Transaction) -> events.Pages:
    """The next events for the logs."""
    return events.after(tx, events.bookmark(tx, BOOKMARK), limit=PAGE)


@relaxed
def move_on(tx: Transaction, to: Bookmark) -> None:
    """The lines up to here are written."""
    events.set_bookmark(tx, BOOKMARK, to)


class Logs:
    """The tree under `logs_dir`; only the leader's process has one."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._root = Path(settings.logs_dir)
        self._teller = Teller(store, "logs")
        self._written: dict[str, Bookmark] = {}
        """Up to where each log has got, when a round was cut short by the disk."""
        self._lost: set[str] = set()
        """Logs whose lines are lost, which was said."""
        self._output_due = 0.0
        self._seen: int | None = None
        """The stamp of changes up to which everything is written."""
        self._made = False

    async def round(self) -> None:
        """Write what happened since the last round. While the disk takes nothing, the bookmark waits."""
        try:
            if not self._made:
                await asyncio.to_thread(self._make)
                self._made = True
            await self._write_new()
            await self._rotate_output()
        except OSError as error:
            self._teller.trouble(
                "",
                f"the logs in {self._root} can't be written ({why(error)}); nothing else is held up. It is tried again all the time.",
            )
        else:
            self._teller.well(f"the logs in {self._root} are written again.")
        await self._teller.flush()

    def _make(self) -> None:
        """All logs of the fleet are there from the start, so that they can be followed."""
        for name in FLEET_LOGS:
            append(self._root / name, b"")
        (self._root / "agents").mkdir(exist_ok=True, mode=0o750)

    async def _write_new(self) -> None:
        """Write what is new, some pages at most; nothing is read while nobody has written."""
        stamp = self._store.stamp()
        if stamp is not None and stamp.changes == self._seen:
            return
        for _ in range(PAGES_A_ROUND):
            if not await self._write_page():
                self._seen = stamp.changes if stamp is not None else None
                break

    async def _write_page(self) -> bool:
        """Write some events; whether there may be more."""
        page = await self._store.read(read_on)
        if page.events:
            await asyncio.to_thread(self._append_all, page.events)
            await self._store.write(move_on, page.bookmark)
        self._written.clear()
        return page.full

    def _append_all(self, found: list[Event]) -> None:
        lines: defaultdict[str, list[bytes]] = defaultdict(list)
        for event in found:
            line = line_of(event)
            for name in files_of(event):
                if event.cursor > self._written.get(name, events.START):
                    lines[name].append(line)
        trouble: OSError | None = None
        for name, mine in lines.items():
            try:
                append(self._root / name, b"".join(mine))
                self._lost.discard(name)
            except OSError as error:
                if error.errno in DISK_TROUBLE:
                    trouble = error
                    continue
                self._lose(name, error)
            self._written[name] = found[-1].cursor
        if trouble is not None:
            raise trouble

    def _lose(self, name: str, error: OSError) -> None:
        """One log alone can't be written: the others don't wait for it."""
        if name not in self._lost:
            self._lost.add(name)
            self._teller.say("logs.lost", name, f"lines of {self._root / name} are lost: it can't be written ({why(error)}).")

    async def _rotate_output(self) -> None:
        now = self._clock.boot()
        if now >= self._output_due:
            self._output_due = now + OUTPUT_S
            await asyncio.to_thread(self._rotate_all_output)

    def _rotate_all_output(self) -> None:
        for folder in ("agents", "system"):
            for path in (self._root / folder).glob("*.out"):
                with suppress(FileNotFoundError):
                    rotate_in_place(path)


def log_of(settings: Settings, agent: str, *, output: bool = False) -> Path:
    """Where an agent's events are logged, or what its process prints.

    Raises:
        Unknown: No agent can bear this name.
    """
    if not is_agent_name(agent):
        raise Unknown(f"there is no agent {agent[:60]!r}; `covey ps` lists them.", field="agent")
    return Path(settings.logs_dir) / "agents" / f"{agent}.{'out' if output else 'log'}"


def tail(settings: Settings, agent: str, lines: int = 50, *, output: bool = False) -> list[str]:
    """The last lines of an agent's log, or of what its process prints; none if there are none yet.

    Raises:
        Unknown: No agent can bear this name.
    """
    return last_lines(log_of(settings, agent, output=output), lines)


def follow(settings: Settings, agent: str, clock: Clock, *, output: bool = False) -> AsyncIterator[str]:
    """The lines that come from now on, until the caller stops.

    Raises:
        Unknown: No agent can bear this name.
    """
    return _lines(Follower(log_of(settings, agent, output=output)), clock)


async def _lines(follower: Follower, clock: Clock) -> AsyncIterator[str]:
    try:
        while True:
            for line in await asyncio.to_thread(follower.read):
                yield line
            await clock.sleep(FOLLOW_S)
    finally:
        follower.close()
