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

from covey.base.errors import CoveyError, Failed, StoreBusy, StoreUnavailable
from covey.base.ids import Ids
from covey.store.bell import NEWS, Bell
from covey.store.engine import Engine, Reader, Writer
from covey.store.transaction import Broken, Retry, Transaction

log = logging.getLogger("covey.store")

P = ParamSpec("P")
R = TypeVar("R")

BATCH_VERBS = 256
BATCH_S = 0.02
"""A batch ends after so many verbs or seconds, so that other processes get their turn."""
GIVE_UP_S = 30.0
_TRIES = 8


class Job:
    """One verb that waits to be run, and where its answer goes."""

    __slots__ = ("args", "error", "future", "kwargs", "locks", "loop", "relaxed", "result", "since", "taken", "verb")

    def __init__(
        self, verb: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self.verb = verb
        self.args = args
        self.kwargs = kwargs
        self.loop = loop
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop else None
        self.result: Any = None
        self.error: Exception | None = None
        self.since = time.monotonic()
        self.relaxed: bool = getattr(verb, "relaxed", False)
        keys = getattr(verb, "locks", None)
        self.locks: Sequence[tuple[str, str]] = keys(*args, **kwargs) if keys else ()
        self.taken = threading.Lock()
        """Whoever gets it answers the caller: the writer that runs the verb, or the one that gives up."""

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
        self.verbs_s = 0.0
        """How long the verbs of the last run took, without the commit."""

    def run(self, jobs: list[Job]) -> set[str]:
        """Run and commit all jobs, their results and errors set; whom to ring."""
        for attempt in range(_TRIES):
            try:
                return self._once(jobs, apart=attempt > 0)
            except Retry as again:
                log.info("a batch runs again: %s", again)
                if attempt:
                    time.sleep(0.002 * 2**attempt)
            except (Broken, CoveyError) as error:
                for job in jobs:
                    job.error = plain(error)
                return set()
        return self._one_by_one(jobs)

    def _one_by_one(self, jobs: list[Job]) -> set[str]:
        bells: set[str] = set()
        for job in jobs:
            try:
                bells |= self._once([job], apart=False)
            except Retry as again:
                job.error = StoreBusy(
                    f"the store could not finish this ({again}); nothing was stored, try again.", retry_at=time.time() + 1
                )
            except (Broken, CoveyError) as error:
                job.error = plain(error)
        return bells

    def _once(self, jobs: list[Job], *, apart: bool) -> set[str]:
        """One transaction over all jobs; if one fails after it wrote, a second one in which each verb can be undone (`apart`)."""
        started = time.perf_counter()
        try:
            tx = self._writer.begin(full=any(not job.relaxed for job in jobs), locks=sorted({key for job in jobs for key in job.locks}))
            for job in jobs:
                job.error = None
                if apart:
                    _run_apart(tx, job)
                elif not _run_plain(tx, job):
                    self._writer.rollback()
                    return self._once(jobs, apart=True)
            self.verbs_s = time.perf_counter() - started
            self._writer.commit(tx)
        except BaseException:
            self._writer.rollback()
            raise
        return tx.bells


def _run_plain(tx: Transaction, job: Job) -> bool:
    """Run it; False if it failed in a way that spoils the transaction for the others."""
    mark = tx.mark()
    try:
        job.result = job.verb(tx, *job.args, **job.kwargs)
    except (Retry, Broken):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a verb raises is its caller's
        # on PostgreSQL a refused statement ends the transaction, whether or not it was a write
        if tx.writes != mark[1] or isinstance(error, Failed | StoreBusy):
            return False
        tx.forget(mark)
        job.error = error
    return True


def _run_apart(tx: Transaction, job: Job) -> None:
    try:
        with tx.attempt():
            job.result = job.verb(tx, *job.args, **job.kwargs)
    except (Retry, Broken):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a verb raises is its caller's
        job.error = error


def plain(error: Exception) -> Exception:
    """The error that a caller gets for one of the store's own."""
    return error.error if isinstance(error, Broken) else error


def write_alone(engine: Engine, verb: Callable[Concatenate[Transaction, P], R], *args: Any, ids: Ids | None = None) -> R:
    """What one verb answers once it is committed, without a store, a loop or a thread."""
    writer = engine.writer(ids or Ids())
    job = Job(verb, args, {}, None)
    try:
        writer.wait_turn()
        try:
            Batch(writer).run([job])
        finally:
            writer.end_turn()
    finally:
        writer.close()
    if job.error is not None:
        raise job.error
    result: R = job.result
    return result


class WriterThread:
    """A thread that owns one writing connection and empties the queue."""

    def __init__(self, engine: Engine, ids: Ids, jobs: queue.SimpleQueue[Job | None], bell: Bell, name: str) -> None:
        self._engine = engine
        self._ids = ids
        self._jobs = jobs
        self._bell = bell
        self._most = BATCH_VERBS
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait until the thread has ended, or so long."""
        self._thread.join(timeout_s)

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
        writer.wait_turn()
        jobs: list[Job] = []
        bells: set[str] = set()
        try:
            jobs = self._take(first)
            if jobs:
                batch = Batch(writer)
                bells = batch.run(jobs)
                self._most = most_verbs(len(jobs), batch.verbs_s)
        except BaseException as error:
            for job in jobs:
                job.error = StoreUnavailable(
                    f"the store failed ({error}); it is not known whether this was stored, try again with the same id."
                )
            raise
        finally:
            writer.end_turn()
            answer(jobs)
        if bells:
            self._bell.ring(bells | {NEWS})

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
    """The fleet's one store, as one event loop uses it: `await store.write(verb, …)`, `await store.read(verb, …)`.

    `patience_s` is how long a write may wait for its turn.
    """

    def __init__(
        self, engine: Engine, bell: Bell, *, ids: Ids | None = None, executor: Executor | None = None, patience_s: float = GIVE_UP_S
    ) -> None:
        self.engine = engine
        self.bell = bell
        self.ids = ids or Ids()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
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
        if self.closed:
            raise StoreUnavailable("the store is closed; nothing was stored.")
        loop = asyncio.get_running_loop()
        job = Job(verb, args, kwargs, loop)
        if not self._threads:
            self._threads = [
                WriterThread(self.engine, self.ids, self._jobs, self.bell, f"covey-write-{n}") for n in range(self.engine.writers)
            ]
        self._jobs.put(job)
        assert job.future is not None
        self._waiting[id(job)] = job
        if self._patience is None:
            self._patience = loop.call_later(self._patience_s / 6, self._lose_patience, loop)
        try:
            result: R = await job.future
            return result
        finally:
            self._waiting.pop(id(job), None)

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

    async def read(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the verb answers, from one snapshot."""
        if self.closed:
            raise StoreUnavailable("the store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: self._read(verb, args, kwargs))

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
            await asyncio.to_thread(thread.join, self._patience_s * 1.5)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._own_executor:
            await asyncio.to_thread(self._executor.shutdown)
        while not self._readers.empty():
            self._readers.get_nowait().close()
        self.engine.close()
        await asyncio.to_thread(self.bell.close)
