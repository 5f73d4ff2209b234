"""Many waiting verbs in one transaction, an error of one its caller's alone (group commit). Knows no thread, feature or driver."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from covey.base.errors import CoveyError, Failed, StoreBusy
from covey.base.ids import Ids
from covey.base.tracing import UNRECORDED, Spans
from covey.store.attending import Attendant, Attending
from covey.store.engine import Engine, Writer
from covey.store.jobs import Job
from covey.store.transaction import Broken, Retry, Transaction

log = logging.getLogger("covey.store")

P = ParamSpec("P")
R = TypeVar("R")

_TRIES = 8


class Batch:
    """Runs jobs in one transaction of a writer. Has no thread of its own: the simulation calls it inline."""

    def __init__(self, writer: Writer, spans: Spans = UNRECORDED, attending: Attending | None = None) -> None:
        self._writer = writer
        self._spans = spans
        self._attending = attending
        self.attended: list[Job] = []
        """What waited for a bell, was run beside the jobs, and has an answer."""
        self.verbs_s = 0.0
        """How long the verbs of the last run took, without the commit."""
        self.commit_s = 0.0
        """How long its commit took."""

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
        ran: list[Attendant[Any, Any]] = []
        try:
            tx = self._writer.begin(full=any(not job.relaxed for job in jobs), locks=sorted({key for job in jobs for key in job.locks}))
            tx.spans = self._spans
            for job in jobs:
                job.error = None
                tx.trace = job.trace
                if apart:
                    _run_apart(tx, job)
                elif not _run_plain(tx, job):
                    self._writer.rollback()
                    return self._once(jobs, apart=True)
            self._run_attending(tx, ran)
            done = time.perf_counter()
            self.verbs_s = done - started
            self._writer.commit(tx)
            self.commit_s = time.perf_counter() - done
        except BaseException:
            self._over(ran, stored=False)
            self._writer.rollback()
            raise
        self._over(ran, stored=True)
        return tx.bells

    def _run_attending(self, tx: Transaction, ran: list[Attendant[Any, Any]]) -> None:
        """Run what waits for a bell that was rung by now, and for those that this rings."""
        heard: set[str] = set()
        while self._attending is not None and (rung := tx.bells - heard):
            heard |= rung
            for attendant in self._attending.called(sorted(rung)):
                ran.append(attendant)
                tx.trace = attendant.job.trace
                _run_apart(tx, attendant.job)

    def _over(self, ran: list[Attendant[Any, Any]], *, stored: bool) -> None:
        if self._attending is not None:
            self.attended += self._attending.over(ran, stored=stored)


def look(writer: Writer, jobs: Sequence[Job]) -> None:
    """Read what is to be read for these, from one snapshot after their commit. Who gets nothing by it reads for himself."""
    try:
        tx = writer.look()
        for job in jobs:
            assert job.then is not None
            job.seen = job.then(tx, job.result)
    except Exception as error:  # noqa: BLE001 - whoever reads for himself meets it again, and can answer for it
        log.debug("nothing was read after a commit: %s", error)
    finally:
        writer.rollback()


def _run_plain(tx: Transaction, job: Job) -> bool:
    """Run it; False if it failed in a way that spoils the transaction for the others."""
    mark, start = tx.mark(), len(tx.events)
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
    _keep_news(tx, job, start)
    return True


def _keep_news(tx: Transaction, job: Job, start: int) -> None:
    if tx.spans.on:
        job.news = tx.events[start:]


def _run_apart(tx: Transaction, job: Job) -> None:
    start = len(tx.events)
    try:
        with tx.attempt():
            job.result = job.verb(tx, *job.args, **job.kwargs)
    except (Retry, Broken):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a verb raises is its caller's
        job.error = error
    _keep_news(tx, job, start)


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
