"""The store: `write` and `read` run verbs for one event loop; many waiting writes share one commit. It knows no feature and no driver."""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

from covey.base.errors import StoreBusy, StoreUnavailable
from covey.base.ids import Ids
from covey.base.tracing import UNRECORDED, Spans
from covey.store.attending import Attendant, Attending
from covey.store.bell import Bell
from covey.store.engine import Engine, Reader
from covey.store.jobs import Job
from covey.store.measured import Measured
from covey.store.transaction import Broken, Retry, Transaction
from covey.store.turns import GIVE_UP_S, Stamp
from covey.store.writing import WriterThread, answer

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class Store:
    """The fleet's one store, as one event loop uses it: `await store.write(verb, …)`, `await store.read(verb, …)`.

    `patience_s` is how long a write may wait for its turn.
    """

    def __init__(
        self,
        engine: Engine,
        bell: Bell,
        *,
        ids: Ids | None = None,
        executor: Executor | None = None,
        patience_s: float = GIVE_UP_S,
        spans: Spans = UNRECORDED,
    ) -> None:
        self.engine = engine
        self.bell = bell
        self.spans = spans
        self.ids = ids or Ids()
        self._measured = Measured()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._attending = Attending()
        self._threads: list[WriterThread] = []
        self._own_executor = executor is None
        self._executor = executor or ThreadPoolExecutor(engine.readers, thread_name_prefix="covey-read")
        self._readers: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        self._patience_s = patience_s
        self._patience: asyncio.TimerHandle | None = None
        self._waiting: dict[int, Job] = {}
        self.closed = False

    async def write(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the verb answers, once it is committed (on disk, unless the verb is `relaxed`).

        Raises:
            StoreBusy: The write lock could not be had in time; nothing was stored.
            CoveyError: What the verb raised; nothing of it was stored.
        """
        job = Job(verb, args, kwargs, asyncio.get_running_loop())
        await self._written(job)
        result: R = job.result
        return result

    async def write_and_look(
        self, verb: Callable[Concatenate[Transaction, P], R | None], then: Callable[[Transaction, R], S], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[R | None, S | None]:
        """As `write`, and what `then` reads of the verb's answer right after the commit: one way to the store in place of two.

        None in place of the second if there was no answer, or if it could not be read; `then` may be read again for the reason.
        """
        job = Job(verb, args, kwargs, asyncio.get_running_loop(), then)
        await self._written(job)
        return job.result, job.seen

    def attend(self, bell: str, verb: Callable[..., R | None], then: Callable[[Transaction, R], S], *args: Any) -> Attendant[R, S]:
        """Have a verb of this process's loop run in the commit that rings this bell, if this process makes it: no time goes by between.

        It is run at each ring until it answers something, and `then` reads of that as by `write_and_look`. It is a short cut and
        never called by other processes: who waits listens to the bell as well, and writes it himself.
        """
        attendant: Attendant[R, S] = Attendant(self._attending, Job(verb, args, {}, asyncio.get_running_loop(), then), bell)
        self._attending.add(attendant)
        return attendant

    async def _written(self, job: Job) -> None:
        """Once the job is committed."""
        if self.closed:
            raise StoreUnavailable("the store is closed; nothing was stored.")
        loop = job.loop
        assert loop is not None
        if not self._threads:
            self._threads = [
                WriterThread(
                    *(self.engine, self.ids, self._jobs, self.bell),
                    attending=self._attending if self.engine.is_exclusive else None,
                    measured=self._measured,
                    spans=self.spans,
                    name=f"covey-write-{n}",
                )
                for n in range(self.engine.writers)
            ]
        self._jobs.put(job)
        assert job.future is not None
        self._waiting[id(job)] = job
        if self._patience is None:
            self._patience = loop.call_later(self._patience_s / 6, self._lose_patience, loop)
        try:
            await job.future
        finally:
            self._waiting.pop(id(job), None)

    def measured(self) -> dict[str, Any]:
        """What this process measured of its writes since its start, as JSON."""
        return self._measured.shown(len(self._waiting))

    def _lose_patience(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell callers who waited too long that the store is busy. A verb that a writer has taken is not touched."""
        latest = time.monotonic() - self._patience_s
        for job in list(self._waiting.values()):
            if job.since <= latest and job.taken.acquire(blocking=False):
                job.error = StoreBusy(
                    f"the store took no write for {self._patience_s:g} s: another process held its lock; nothing was stored, try again.",
                    retry_at=time.time() + 1,
                )
                job.answer()
        self._patience = loop.call_later(self._patience_s / 6, self._lose_patience, loop) if self._waiting else None

    def stamp(self) -> Stamp | None:
        """How many commits there were, of all processes, known without a query; None if it is not known, so that one must look."""
        return self.engine.stamp()

    async def read(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the verb answers, from one snapshot."""
        if self.closed:
            raise StoreUnavailable("the store is closed.")
        job = Job(verb, args, kwargs, asyncio.get_running_loop())
        self._executor.submit(self._read_for, job)
        assert job.future is not None
        result: R = await job.future
        return result

    def _read_for(self, job: Job) -> None:
        """Read, and answer on the caller's loop: by one call, where `run_in_executor` takes a chain of two futures."""
        try:
            job.result = self._read(job.verb, job.args, job.kwargs)
        except Exception as error:  # noqa: BLE001 - it is the caller's
            job.error = error
        answer([job])

    def _read(self, verb: Callable[..., R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
        """Run it on a connection that waits, or a new one; a connection that was lost while it waited is no reason to fail."""
        for last in (False, True):
            reader = self.engine.reader(self.ids) if last else self._reader()
            sound = True
            try:
                return verb(reader.begin(), *args, **kwargs)
            except Retry as again:
                sound = False
                if last:
                    raise StoreUnavailable(f"the store was lost while it was read ({again}); try again.") from again
            except Broken as broken:
                sound = False
                raise broken.error from broken
            finally:
                self._put_back(reader, sound=sound)
        raise AssertionError("the second try returns or raises")

    def _reader(self) -> Reader:
        try:
            return self._readers.get_nowait()
        except queue.Empty:
            return self.engine.reader(self.ids)

    def _put_back(self, reader: Reader, *, sound: bool) -> None:
        """Keep a reader for the next read; one too many, or one that failed, is closed."""
        try:
            reader.end()
        except Exception:  # noqa: BLE001 - whatever it is, the connection is of no more use
            sound = False
        if sound and not self.closed and self._readers.qsize() < self.engine.readers:
            self._readers.put(reader)
        else:
            reader.close()

    async def close(self) -> None:
        """Finish what waits, then close all connections. What can't get its turn in time is told so."""
        self.closed = True
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join, self._patience_s * 1.5, lambda: bool(self._waiting))
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._own_executor:
            await asyncio.to_thread(self._executor.shutdown)
        while not self._readers.empty():
            self._readers.get_nowait().close()
        self.engine.close()
        await asyncio.to_thread(self.bell.close)
        if self.spans.on:
            await asyncio.to_thread(self.spans.close)
