"""The thread that writes: it takes all verbs that wait, runs them in this process's turn, answers each caller, and rings the bells."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable

from covey.base.errors import CoveyError, StoreUnavailable
from covey.base.ids import Ids
from covey.base.tracing import Spans
from covey.store.attending import Attending
from covey.store.batches import Batch, look
from covey.store.bell import STORY, Bell, Hint
from covey.store.engine import Engine, Writer
from covey.store.jobs import Job
from covey.store.measured import Measured
from covey.store.traced import Committed, spans_of

log = logging.getLogger("covey.store")

BATCH_VERBS = 256
BATCH_S = 0.02
"""A batch ends after so many verbs or seconds, so that other processes get their turn."""
LEFT_BEHIND_S = 1.0
"""A store that closes waits no longer for a turn that it wants for nothing."""


class WriterThread:
    """A thread that owns one writing connection and empties the queue."""

    def __init__(
        self,
        engine: Engine,
        ids: Ids,
        jobs: queue.SimpleQueue[Job | None],
        bell: Bell,
        *,
        attending: Attending | None,
        measured: Measured,
        spans: Spans,
        name: str,
    ) -> None:
        self._engine = engine
        self._ids = ids
        self._jobs = jobs
        self._bell = bell
        self._attending = attending
        self._measured = measured
        self._spans = spans
        self._most = BATCH_VERBS
        self._turn_wanted: float | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def join(self, timeout_s: float, is_awaited: Callable[[], bool]) -> None:
        """Wait until the thread has ended, or so long.

        One that does not get its turn, for what nobody waits for any more, is left behind.
        """
        end = time.monotonic() + timeout_s
        while self._thread.is_alive() and time.monotonic() < end:
            since = self._turn_wanted
            if since is not None and time.monotonic() - since > LEFT_BEHIND_S and not is_awaited():
                return
            self._thread.join(0.05)

    def _work(self) -> None:
        writer: Writer | None = None
        while (first := self._jobs.get()) is not None:
            try:
                writer = writer or self._engine.writer(self._ids)
                self._turn(writer, first)
            except Exception as error:
                log.error("the writer failed; it opens the store anew: %s", error, exc_info=not isinstance(error, CoveyError))
                if first.taken.acquire(blocking=False):
                    first.error = (
                        error if isinstance(error, CoveyError) else StoreUnavailable(f"the store failed ({error}); nothing was stored.")
                    )
                    answer([first])
                _close(writer)
                writer = None
        _close(writer)

    def _turn(self, writer: Writer, first: Job) -> None:
        """Wait for this process's turn, take what waits by then, run it, answer."""
        came = time.perf_counter()
        self._turn_wanted = time.monotonic()
        try:
            writer.wait_turn()
        finally:
            self._turn_wanted = None
        turn_s = time.perf_counter() - came
        batch = Batch(writer, self._spans, self._attending)
        jobs: list[Job] = []
        looks: list[Job] = []
        bells: set[str] = set()
        near: dict[str, Hint] = {}
        try:
            jobs = self._take(first)
            if jobs:
                bells = batch.run(jobs)
                self._most = most_verbs(len(jobs), batch.verbs_s)
                self._measured.batch(len(jobs), batch.commit_s, turn_s, len(bells))
        except BaseException as error:
            for job in jobs:
                job.error = StoreUnavailable(
                    f"the store failed ({error}); it is not known whether this was stored, try again with the same id."
                )
            raise
        finally:
            writer.end_turn()
            jobs += batch.attended
            looks = [job for job in jobs if job.is_to_look]
            near = self._bell.near(bells)
            answer([job for job in jobs if not job.is_to_look], near.values())
        if bells:
            self._bell.ring((bells | STORY) - near.keys())
        if looks:
            look(writer, looks)
            answer(looks)
        if self._spans.on:
            self._trace(jobs)

    def _trace(self, jobs: list[Job]) -> None:
        """Have recorded what these verbs came to, those that failed left out."""
        now, wall = time.monotonic(), time.time()
        for job in jobs:
            if job.error is None and (job.trace is not None or job.news):
                verb = getattr(job.verb, "__name__", "verb")
                done = Committed(verb, job.trace, job.news, wall - (now - job.since), wall, len(jobs), self._engine.system)
                for span in spans_of(done, self._spans.child):
                    self._spans.record(span)

    def _take(self, first: Job) -> list[Job]:
        jobs = [first] if first.taken.acquire(blocking=False) else []
        while len(jobs) < self._most:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            if job.taken.acquire(blocking=False):
                jobs.append(job)
        return jobs


def most_verbs(count: int, took_s: float) -> int:
    """How many verbs the next batch may have, after one of so many that took so long. Pure."""
    return BATCH_VERBS if took_s <= BATCH_S else max(8, min(BATCH_VERBS, int(count * BATCH_S / took_s)))


def answer(jobs: Iterable[Job], hints: Iterable[Hint] = ()) -> None:
    """Answer the callers and call who listens in this process, with one call a loop for all of them."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Callable[[], None]]] = {}
    for job in jobs:
        if job.loop is not None:
            by_loop.setdefault(job.loop, []).append(job.answer)
    for loop, hint in hints:
        by_loop.setdefault(loop, []).append(hint)
    for loop, calls in by_loop.items():
        try:
            loop.call_soon_threadsafe(_call_all, calls)
        except RuntimeError:
            log.debug("a caller's loop is closed; its answer is dropped")


def _call_all(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        try:
            call()
        except Exception:
            log.exception("an answer or a hint failed; the others are given all the same")


def _close(writer: Writer | None) -> None:
    if writer is not None:
        try:
            writer.close()
        except Exception:
            log.exception("closing a connection failed")
