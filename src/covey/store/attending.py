"""Verbs that wait for a bell, run in the very commit that rings it: who waits for work has it with the news of it.

Only where there is one writer: beside others, a verb that takes its locks after everybody else's might wait for theirs in a circle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Literal, TypeVar

from covey.store.jobs import Job

R = TypeVar("R")
S = TypeVar("S")


class Attendant(Generic[R, S]):
    """One verb that waits for a bell. It is run at each ring until it answers something, and then no more."""

    def __init__(self, attending: Attending, job: Job, bell: str) -> None:
        self.job = job
        self.bell = bell
        self.state: Literal["waiting", "running", "leaving", "over"] = "waiting"
        self._attending = attending

    @property
    def has_answer(self) -> bool:
        """Whether its verb came to something when it was run."""
        return self.job.result is not None or self.job.error is not None

    def when_answered(self, call: Callable[[], object]) -> None:
        """Call this on the loop once its answer is there."""
        assert self.job.future is not None
        self.job.future.add_done_callback(lambda _: call())

    def leave(self) -> bool:
        """Whether it came to nothing and is not run any more; if not, its answer is there, or comes, and may be None all the same."""
        return self._attending.leave(self)

    async def answer(self) -> tuple[R | None, S | None]:
        """What the verb answered and what was read of it, as `Store.write_and_look` gives them.

        Raises:
            CoveyError: What the verb raised; nothing of it was stored.
        """
        assert self.job.future is not None
        await self.job.future
        return self.job.result, self.job.seen


class Attending:
    """All verbs of one process that wait for bells. Its loop adds them and takes them off, its writer runs them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_bell: dict[str, list[Attendant[Any, Any]]] = {}

    def add(self, attendant: Attendant[Any, Any]) -> None:
        """Have it run when its bell is rung."""
        with self._lock:
            self._by_bell.setdefault(attendant.bell, []).append(attendant)

    def leave(self, attendant: Attendant[Any, Any]) -> bool:
        """As `Attendant.leave`."""
        with self._lock:
            if attendant.state == "waiting":
                self._remove(attendant)
                return True
            if attendant.state == "running":
                attendant.state = "leaving"
            return False

    def called(self, bells: Iterable[str]) -> Iterator[Attendant[Any, Any]]:
        """Those who wait for these bells, each running from here on; of one bell no further one, once one came to nothing."""
        for bell in bells:
            while (attendant := self._next(bell)) is not None:
                yield attendant
                if not attendant.has_answer:
                    break

    def _next(self, bell: str) -> Attendant[Any, Any] | None:
        with self._lock:
            attendant = next((each for each in self._by_bell.get(bell, ()) if each.state == "waiting"), None)
            if attendant is not None:
                attendant.state = "running"
                job = attendant.job
                job.result, job.error, job.since = None, None, time.monotonic()
            return attendant

    def over(self, ran: Iterable[Attendant[Any, Any]], *, stored: bool) -> list[Job]:
        """Those that were run are answered, if what they came to is stored; the rest waits on, unless it has left."""
        answered = []
        with self._lock:
            for attendant in ran:
                job = attendant.job
                if not stored:
                    job.result = job.error = None
                if attendant.state == "leaving" or attendant.has_answer:
                    self._remove(attendant)
                    answered.append(job)
                else:
                    attendant.state = "waiting"
        return answered

    def _remove(self, attendant: Attendant[Any, Any]) -> None:
        attendant.state = "over"
        of_bell = self._by_bell[attendant.bell]
        of_bell.remove(attendant)
        if not of_bell:
            del self._by_bell[attendant.bell]
