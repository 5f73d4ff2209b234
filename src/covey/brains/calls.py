"""Calls of a python brain's code, never on the thread of the agent's event loop (A5).

A `def` runs in a thread of its own, an `async def` on a loop of the brain's own. A thread can't be ended from outside: a call that
ignores its cancellation goes on, and is listed.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from covey.base.errors import CoveyError
from covey.brains import answers
from covey.brains.agent import gathering
from covey.brains.loading import Step
from covey.brains.model import Outcome, failure

log = logging.getLogger("covey.brains")
T = TypeVar("T")
MARGIN_S = 10.0
"""How long after the grace a call that goes on is waited for: longer than its runner waits, which ends the process (K4a)."""


class Caller(Protocol):
    """How a call reaches the agent that it works for."""

    def say(self, text: str) -> None:
        """Tell progress and go on at once."""
        ...

    def is_cancelled(self) -> bool:
        """Whether the run is to end."""
        ...


def answered(step: Step, caller: Caller, hands: object) -> Outcome:
    """The outcome of a `def`, called here and now; whatever it raises is a failed outcome."""
    with gathering(caller.say, caller.is_cancelled) as gathered:
        try:
            answer = step.call(hands) if step.takes_hands else step.call()
            if inspect.isawaitable(answer):
                answer = asyncio.run(_awaited(answer))
            return gathered.into(answers.from_python(answer))
        except BaseException as error:  # noqa: BLE001 - a door to foreign code, which may raise SystemExit too
            return answers.from_error(error)


async def _awaited(answer: Any) -> Any:
    return await answer


async def answered_async(step: Step, caller: Caller, hands: object) -> Outcome:
    """The outcome of an `async def`; whatever it raises is a failed outcome, a cancellation that was not asked for too."""
    with gathering(caller.say, caller.is_cancelled) as gathered:
        try:
            return gathered.into(answers.from_python(await (step.call(hands) if step.takes_hands else step.call())))
        except asyncio.CancelledError:
            return failure("the brain's own code was cancelled" + (" with its run" if caller.is_cancelled() else " by itself"))
        except BaseException as error:  # noqa: BLE001 - a door to foreign code, as above
            return answers.from_error(error)


class OwnLoop:
    """An event loop in a daemon thread, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop, running."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run, args=(self._loop,), name=self._name, daemon=True).start()
        return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, loop.shutdown_asyncgens(), return_exceptions=True))
        loop.close()

    def close(self) -> None:
        """Have it end; what blocks it holds nobody up."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None


class Job(Generic[T]):
    """One call that runs elsewhere, seen from the agent's event loop."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._home = asyncio.get_running_loop()
        self._done: asyncio.Future[T] = self._home.create_future()
        self._cancelled = threading.Event()
        self._cancel_there: Callable[[], object] = lambda: None

    def in_thread(self, work: Callable[[], T]) -> None:
        """Begin it in a thread of its own, with the context variables of here. A thread that hangs never keeps the process from ending."""
        context = contextvars.copy_context()

        def run() -> None:
            try:
                answer = context.run(work)
            except CoveyError as error:
                self._tell(error)
            else:
                self._tell(answer)

        threading.Thread(target=run, name=f"brain {self.run_id}", daemon=True).start()

    def on_loop(self, there: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, T]], instead: T) -> None:
        """Begin it on another thread's event loop; `instead` is its answer if it is cancelled before it begins."""
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            task = there.create_task(work())
            task.add_done_callback(lambda done: self._tell(instead if done.cancelled() else done.result()))
            tasks.append(task)

        there.call_soon_threadsafe(begin)
        self._cancel_there = lambda: there.call_soon_threadsafe(lambda: tasks[0].cancel())  # noqa: PLW0108 - it is there when this runs

    def _tell(self, answer: T | CoveyError) -> None:
        try:
            self._home.call_soon_threadsafe(self._settle, answer)
        except RuntimeError:
            log.warning("the brain's call in %s ended after the agent had", self.run_id)

    def _settle(self, answer: T | CoveyError) -> None:
        if self._done.done():
            return
        if isinstance(answer, CoveyError):
            self._done.set_exception(answer)
        else:
            self._done.set_result(answer)

    def is_cancelled(self) -> bool:
        """Whether it was asked to end; asked from its own thread."""
        return self._cancelled.is_set()

    @property
    def goes_on(self) -> bool:
        """Whether it was asked to end and did not."""
        return self._cancelled.is_set() and not self._done.done()

    async def answer(self, grace_s: float) -> T:
        """Its answer. Cancelled, it is asked to end and waited for, longer than the runner waits that ends the process otherwise.

        A second cancellation ends the wait.
        """
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self._cancelled.set()
            self._cancel_there()
            await asyncio.wait({self._done}, timeout=grace_s + MARGIN_S)
            if self.goes_on:
                log.error("the brain's call in %s was cancelled and goes on: a thread can't be ended from outside", self.run_id)
            raise
