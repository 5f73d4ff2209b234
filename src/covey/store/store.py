"""The store: `write` and `read` run verbs, many waiting writes share one commit (group commit).

A writer thread takes all verbs that wait, runs them in one transaction, commits once, then answers each caller and rings
the bells. An error of one verb is that caller's alone. It knows no feature and no driver.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

from covey.base.errors import CoveyError, Failed, StoreBusy, StoreDamaged, StoreUnavailable
from covey.base.ids import Ids
from covey.store.bell import Bell
from covey.store.engine import Engine, Reader, Retry, Writer
from covey.store.transaction import Transaction

log = logging.getLogger("covey.store")

P = ParamSpec("P")
R = TypeVar("R")

BATCH_VERBS = 256
BATCH_S = 0.02
"""A batch ends after so many verbs or seconds, so that other processes get their turn."""
GIVE_UP_S = 30.0
_RETRIES = 8


class Job:
    """One verb that waits to be run, and where its answer goes."""

    __slots__ = ("args", "error", "future", "kwargs", "loop", "result", "since", "taken", "verb")

    def __init__(self, verb: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], loop: asyncio.AbstractEventLoop | None) -> None:
        self.verb = verb
        self.args = args
        self.kwargs = kwargs
        self.loop = loop
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop else None
        self.result: Any = None
        self.error: BaseException | None = None
        self.since = time.monotonic()
        self.taken = threading.Lock()
        """Whoever gets it answers the caller: the writer that runs the verb, or the one that gives up."""

    def relaxed(self) -> bool:
        return getattr(self.verb, "relaxed", False)

    def locks(self) -> Sequence[tuple[str, str]]:
        keys = getattr(self.verb, "locks", None)
        found: Sequence[tuple[str, str]] = keys(*self.args, **self.kwargs) if keys else ()
        return found

    def answer(self) -> None:
        """Give the caller its result or error. On the caller's loop."""
        future = self.future
        if future is None or future.done():
            return
        if self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(self.result)


class Batch:
    """Runs jobs in one transaction of a writer. Has no thread of its own: the simulation calls it inline."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def run(self, jobs: list[Job]) -> set[str]:
        """Run and commit all jobs, their results and errors set; whom to ring."""
        for attempt in range(_RETRIES):
            try:
                return self._once(jobs, apart=attempt > 0)
            except Retry as again:
                if attempt:
                    time.sleep(0.002 * 2**attempt)
                log.info("a batch runs again: %s", again)
            except CoveyError as error:
                for job in jobs:
                    job.error = error
                return set()
        return self._one_by_one(jobs)

    def _one_by_one(self, jobs: list[Job]) -> set[str]:
        bells: set[str] = set()
        for job in jobs:
            try:
                bells |= self._once([job], apart=False)
            except Retry as again:
                job.error = StoreBusy(f"the store could not finish this ({again}); nothing was stored, try again.", retry_at=time.time() + 1)
            except CoveyError as error:
                job.error = error
        return bells

    def _once(self, jobs: list[Job], *, apart: bool) -> set[str]:
        """One transaction over all jobs. A verb that fails after it wrote makes the batch run again with savepoints (`apart`)."""
        writer = self._writer
        full = any(not job.relaxed() for job in jobs)
        tx = writer.begin(full=full, locks=sorted({key for job in jobs for key in job.locks()}))
        try:
            for job in jobs:
                job.error = None
                if apart:
                    self._run_apart(tx, job)
                elif not self._run_plain(tx, job):
                    writer.rollback()
                    return self._once(jobs, apart=True)
            writer.commit(tx)
        except BaseException:
            writer.rollback()
            raise
        return tx.bells

    def _run_plain(self, tx: Transaction, job: Job) -> bool:
        mark = tx.mark()
        try:
            job.result = job.verb(tx, *job.args, **job.kwargs)
        except (Retry, StoreUnavailable, StoreDamaged):
            raise
        except Exception as error:
            if tx.writes != mark[0] or isinstance(error, Failed):
                return False
            tx.forget(mark)
            job.error = error
        return True

    def _run_apart(self, tx: Transaction, job: Job) -> None:
        mark = tx.mark()
        self._writer.savepoint()
        try:
            job.result = job.verb(tx, *job.args, **job.kwargs)
        except (Retry, StoreUnavailable, StoreDamaged):
            raise
        except Exception as error:
            self._writer.rollback_to()
            tx.forget(mark)
            job.error = error
        else:
            self._writer.release()


class WriterThread:
    """A thread that owns one writing connection and empties the queue."""

    def __init__(self, engine: Engine, ids: Ids, jobs: queue.SimpleQueue[Job | None], bell: Bell, name: str) -> None:
        self._engine = engine
        self._ids = ids
        self._jobs = jobs
        self._bell = bell
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout=GIVE_UP_S)

    def _work(self) -> None:
        writer: Writer | None = None
        while True:
            first = self._jobs.get()
            if first is None:
                break
            try:
                writer = writer or self._engine.writer(self._ids)
                self._turn(writer, first)
            except BaseException as error:
                log.exception("the writer failed; it opens the store anew")
                if first.taken.acquire(blocking=False):
                    first.error = error if isinstance(error, CoveyError) else StoreUnavailable(f"the store failed ({error}); nothing was stored.")
                    answer([first])
                writer = _close(writer)
        _close(writer)

    def _turn(self, writer: Writer, first: Job) -> None:
        """Wait for this process's turn, take what waits by then, run it, answer."""
        writer.wait_turn()
        jobs: list[Job] = []
        try:
            jobs = self._take(first)
            bells = Batch(writer).run(jobs) if jobs else set()
        except BaseException as error:
            for job in jobs:
                job.error = StoreUnavailable(f"the store failed ({error}); it is not known whether this was stored, try again with the same id.")
            answer(jobs)
            raise
        finally:
            writer.end_turn()
        answer(jobs)
        if bells:
            self._bell.ring(bells)

    def _take(self, first: Job) -> list[Job]:
        jobs = [first] if first.taken.acquire(blocking=False) else []
        while len(jobs) < BATCH_VERBS:
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


def answer(jobs: list[Job]) -> None:
    """Answer the callers, with one call a loop for all of them."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        if job.loop is not None:
            by_loop.setdefault(job.loop, []).append(job)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_answer_all, mine)
        except RuntimeError:
            log.debug("a caller's loop is closed; its answer is dropped")


def _answer_all(jobs: list[Job]) -> None:
    for job in jobs:
        job.answer()


def _close(writer: Writer | None) -> None:
    if writer is not None:
        try:
            writer.close()
        except Exception:
            log.exception("closing a connection failed")


class Store:
    """The fleet's one store. `await store.write(verb, …)`, `await store.read(verb, …)`."""

    def __init__(self, engine: Engine, bell: Bell, *, ids: Ids | None = None, executor: Executor | None = None) -> None:
        self.engine = engine
        self.bell = bell
        self.ids = ids or Ids()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[WriterThread] = []
        self._own_executor = executor is None
        self._executor = executor or ThreadPoolExecutor(engine.readers, thread_name_prefix="covey-read")
        self._readers: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        self._patience: asyncio.TimerHandle | None = None
        self._waiting: dict[int, Job] = {}
        self.closed = False

    async def write(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the verb answers, once it is committed (on disk, unless the verb is `relaxed`).

        Raises:
            StoreBusy: The write lock could not be had in 30 s; nothing was stored.
            CoveyError: What the verb raised; nothing of it was stored.
        """
        if self.closed:
            raise StoreUnavailable("the store is closed; nothing was stored.")
        loop = asyncio.get_running_loop()
        job = Job(verb, args, kwargs, loop)
        if not self._threads:
            self._threads = [WriterThread(self.engine, self.ids, self._jobs, self.bell, f"covey-write-{n}") for n in range(self.engine.writers)]
        self._jobs.put(job)
        assert job.future is not None
        self._waiting[id(job)] = job
        if self._patience is None:
            self._patience = loop.call_later(GIVE_UP_S / 6, self._lose_patience, loop)
        try:
            result: R = await job.future
            return result
        finally:
            self._waiting.pop(id(job), None)

    def _lose_patience(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell callers who waited 30 s that the store is busy. A verb that a writer has taken is not touched."""
        now = time.monotonic()
        for job in list(self._waiting.values()):
            if now - job.since > GIVE_UP_S and job.loop is loop and job.taken.acquire(blocking=False):
                job.error = StoreBusy("another process held the store's write lock for 30 s; nothing was stored. Try again.", retry_at=time.time() + 1)
                job.answer()
        self._patience = loop.call_later(GIVE_UP_S / 6, self._lose_patience, loop) if self._waiting else None

    async def read(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the verb answers, from one snapshot."""
        if self.closed:
            raise StoreUnavailable("the store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: self._read(verb, args, kwargs))

    def _read(self, verb: Callable[..., R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
        try:
            reader = self._readers.get_nowait()
        except queue.Empty:
            reader = self.engine.reader(self.ids)
        sound = False
        try:
            tx = reader.begin()
            result = verb(tx, *args, **kwargs)
            sound = True
            return result
        except CoveyError:
            sound = True
            raise
        finally:
            self._put_back(reader, sound=sound)

    def _put_back(self, reader: Reader, *, sound: bool) -> None:
        """Keep a reader for the next read; one that met an unknown error is closed."""
        try:
            reader.end()
        except Exception:
            sound = False
        if sound and not self.closed:
            self._readers.put(reader)
        else:
            reader.close()

    async def close(self) -> None:
        """Finish what waits, then close all connections."""
        self.closed = True
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        if self._own_executor:
            self._executor.shutdown(wait=True)
        while not self._readers.empty():
            self._readers.get_nowait().close()
        self.engine.close()
