"""One run of a brain's process, from its start until nothing of it is left: input, output, time limit, ending (K4a, K4c, K7).

It knows nothing of what the output means.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from covey.base import ending
from covey.base.processes import Identity
from covey.brains.finishing import to_the_end
from covey.brains.launching import Launch, NotStarted, Site
from covey.brains.model import Hands
from covey.brains.pipes import Inflow, Kept, Lines, Outflow, Whole
from covey.brains.telling import Teller

log = logging.getLogger("covey.brains")

OUTPUT_BYTES = 1024 * 1024
ERROR_BYTES = 32 * 1024
DRAIN_S = 1.0
"""How long after the process's own end others may still write into its output."""


Read = Callable[[bytes], str]
"""Finds a word of progress in a line of output; empty: none."""


class Ended(NamedTuple):
    """What a run came to. `code` is the exit code, negative the signal that ended it, None if nobody could tell us."""

    code: int | None
    out: str
    left_out: int
    """How many bytes of its output were over the bound."""
    err: str
    timed_out: bool


async def run(
    launch: Launch, given: bytes, *, run_id: str, timeout_s: float | None, site: Site, hands: Hands, read: Read | None = None
) -> Ended:
    """What the process came to, and nothing of it is left: not its group, nor anything that carries its COVEY_RUN.

    That holds also when this is cancelled, which takes at most the site's grace and what the kernel needs. Its start is told to
    `hands` before it gets its input (K4c); lines on its stderr are progress, and so is what `read` finds in a line of its output.

    Raises:
        NotStarted: The program could not be started.
        CoveyError: Its start could not be recorded; it was ended.
    """
    child = Child(launch, run_id, site, hands, read)
    timed_out = False
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            await to_the_end(child.start())
            await hands.started(pid=child.pid, pgid=child.pid)
            await child.serve(given)
    except TimeoutError:
        if not limit.expired():
            raise
        timed_out = True
    finally:
        await to_the_end(child.end())
    return child.ended(timed_out)


class Child:
    """One process with its pipes. Its parent reaps it last of all, so that its pid and group stay its own until then."""

    def __init__(self, launch: Launch, run_id: str, site: Site, hands: Hands, read: Read | None = None) -> None:
        self._launch = launch
        self._run_id = run_id
        self._site = site
        self._process: subprocess.Popen[bytes] | None = None
        self._leader: Identity | None = None
        self._watch = -1
        self._exited = asyncio.Event()
        self._kept = Kept(OUTPUT_BYTES)
        self._errors = Kept(ERROR_BYTES)
        self._flows: list[Outflow | Inflow] = []
        self._teller = Teller(hands, site.clock)
        self._told = [Whole(partial(self._find, read)).add] if read is not None else []
        self._code: int | None = None

    @property
    def pid(self) -> int:
        """Its pid, and that of its group."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it and begin to read.

        Raises:
            NotStarted: It could not be started.
        """
        try:
            self._process = await asyncio.to_thread(self._site.spawn, self._launch)
        except OSError as error:
            raise NotStarted(self._launch, error) from error
        self._leader = Identity.of(self.pid)
        self._watch = os.pidfd_open(self.pid)
        asyncio.get_running_loop().add_reader(self._watch, self._has_exited)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._flows = [
            Outflow(self._process.stdout, self._kept.add, *self._told),
            Outflow(self._process.stderr, self._errors.add, Lines(self._teller.say).add),
        ]

    def _find(self, read: Read, line: bytes) -> None:
        if word := read(line):
            self._teller.say(word)

    def _has_exited(self) -> None:
        asyncio.get_running_loop().remove_reader(self._watch)
        self._exited.set()

    async def serve(self, given: bytes) -> None:
        """Give it its input and wait for its end; then a moment for those that it left with its output in their hands."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._flows.append(Inflow(self._process.stdin, given))
        await self._exited.wait()
        ends = [asyncio.create_task(flow.ended.wait()) for flow in self._flows if isinstance(flow, Outflow)]
        await asyncio.wait(ends, timeout=DRAIN_S)
        for waiting in ends:
            waiting.cancel()

    async def end(self) -> None:
        """End whatever is left of the run, take its exit code, close all pipes."""
        if self._process is None:
            return
        try:
            left = await ending.end(self._leader, run_id=self._run_id, pgid=self.pid, grace_s=self._site.grace_s, clock=self._site.clock)
            if left:
                log.error("of the run %s these processes could not be ended: %s", self._run_id, [who.pid for who in left])
        finally:
            self._reap()
            self._let_go()

    def _let_go(self) -> None:
        assert self._process is not None
        self._teller.close()
        for flow in self._flows:
            flow.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if self._watch >= 0:
            asyncio.get_running_loop().remove_reader(self._watch)
            os.close(self._watch)

    def _reap(self) -> None:
        """Take the exit code. Not by Popen, which calls it 0 when somebody else was told it."""
        assert self._process is not None
        try:
            told = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            self._process.returncode = 0
            return
        if told is not None:
            self._code = told.si_status if told.si_code == os.CLD_EXITED else -told.si_status
            self._process.returncode = self._code

    def ended(self, timed_out: bool) -> Ended:
        """What it came to."""
        return Ended(self._code, self._kept.text(), self._kept.left_out, self._errors.text(), timed_out)
