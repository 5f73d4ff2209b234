"""The brain that is Python code of the user's: a function or a `covey.Agent`, in this process or in one of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any, TypeVar

from covey.base import wire
from covey.base.errors import CoveyError, Misconfigured
from covey.base.settings import AgentSettings
from covey.brains.agent import Agent
from covey.brains.calls import Job, OwnLoop, answered, answered_async
from covey.brains.command import input_of, outcome_of, time_limit
from covey.brains.far import FarHands, ThreadHands
from covey.brains.launching import Launch, NotStarted, Site, account_of, environment
from covey.brains.loading import Step, Target, load, step_of
from covey.brains.model import Hands, Outcome, Turn, failure
from covey.brains.running import Ended, run
from covey.brains.telling import Teller

log = logging.getLogger("covey.brains")
T = TypeVar("T")
_NOT_BEGUN = failure("the brain's call was cancelled before it began")


def wants_process(settings: AgentSettings) -> bool:
    """Whether the code needs a process of its own: it is asked for, or the agent has an `env` or a `user`, which a thread can't have."""
    return settings.brain.process or bool(settings.env) or bool(settings.user)


class PythonBrain:
    """Python code in the agent's own process, off its event loop. The runner's time limits end a turn, by cancelling it.

    A `def` that ignores its cancellation can't be ended: `think` then does not return either (for its grace and some), so that
    the runner ends the process; `running_threads` lists it meanwhile. Code that may hang belongs into a process of its own.
    """

    kind = "python"
    lanes = None

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        self._settings = settings
        self._site = site
        self._target: Target | None = None
        self._loading = threading.Lock()
        self._loop = OwnLoop(f"brain {settings.id}")
        self._jobs: set[Job[Any]] = set()

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the code made of the turn; a permanent failure if it can't be imported, a failure if it raised."""
        try:
            target = self._target if self._target is not None else await self._imported(turn.run_id)
        except Misconfigured as error:
            return failure(error.message, permanent=True, not_started=True)
        teller = Teller(hands, self._site.clock)
        job = self._noted(Job[Outcome](turn.run_id))
        self._begin(job, step_of(target, turn), hands, teller)
        try:
            return await job.answer(self._site.grace_s)
        finally:
            teller.close()

    async def _imported(self, run_id: str) -> Target:
        job = self._noted(Job[Target](run_id))
        job.in_thread(self._load)
        return await job.answer(self._site.grace_s)

    def _noted(self, job: Job[T]) -> Job[T]:
        self._jobs = {each for each in self._jobs if each.goes_on} | {job}
        return job

    def _begin(self, job: Job[Outcome], step: Step, hands: Hands, teller: Teller) -> None:
        home = asyncio.get_running_loop()
        caller = _Here(job, teller, home)
        if step.is_async:
            job.on_loop(self._loop.get(), lambda: answered_async(step, caller, FarHands(hands, home)), _NOT_BEGUN)
        else:
            job.in_thread(lambda: answered(step, caller, ThreadHands(hands, home, job.is_cancelled)))

    def _load(self) -> Target:
        with self._loading:
            if self._target is None:
                self._target = load(self._settings.brain.target, self._settings.cwd)
            return self._target

    def running_threads(self) -> list[str]:
        """The ids of runs that were cancelled and whose code goes on all the same."""
        return sorted(job.run_id for job in self._jobs if job.goes_on)

    def can(self, description: str) -> bool:
        """What the target's own `can` says, if it has one; not, if it can't be imported. The first call imports it."""
        try:
            target = self._load()
            asked = target.can if isinstance(target, Agent) else getattr(target, "can", None)
            return bool(asked(description)) if callable(asked) else True
        except Misconfigured:
            return False
        except Exception:  # a door to foreign code
            log.exception("the `can` of %s failed", self._settings.brain.target)
            return False

    async def close(self) -> None:
        """End the brain's own event loop."""
        self._loop.close()


class _Here:
    """How a call reaches its agent within one process."""

    def __init__(self, job: Job[Outcome], teller: Teller, home: asyncio.AbstractEventLoop) -> None:
        self.is_cancelled = job.is_cancelled
        self._teller = teller
        self._home = home

    def say(self, text: str) -> None:
        """Tell progress and go on at once."""
        self._home.call_soon_threadsafe(self._teller.say, text)


class PythonProcessBrain:
    """Python code in a process of its own each turn, ended like a command with all that it started. It keeps nothing between turns."""

    kind = "python"
    lanes = None

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        self._settings = settings
        self._site = site
        self._account = account_of(settings.user)

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the code made of the turn; what it prints is progress."""
        settings = self._settings
        env = environment(settings, self._site, turn.run_id, self._account)
        env |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ and name not in settings.env}
        argv = (sys.executable, "-P", "-m", "covey.brains.worker", settings.brain.target, settings.cwd or str(Path.cwd()))
        limit = time_limit(turn, settings)
        try:
            launch = Launch(argv, settings.cwd, env, self._account)
            ended = await run(launch, input_of(turn), run_id=turn.run_id, timeout_s=limit, site=self._site, hands=hands)
        except NotStarted as error:
            return failure(error.message, permanent=error.permanent, not_started=error.permanent)
        return _outcome_of(ended, limit)

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Its code is not loaded here, so it may try anything."""
        return True

    async def close(self) -> None:
        """It holds nothing between turns."""


def _outcome_of(ended: Ended, limit_s: float | None) -> Outcome:
    """What the worker wrote; a failure if it ended without writing an outcome, whatever its exit code."""
    if ended.timed_out or ended.code != 0:
        return outcome_of(ended, limit_s)
    try:
        return wire.decode(Outcome, ended.out)
    except CoveyError as error:
        return failure(f"the brain's process ended without an outcome: {error.message} {ended.err[-2000:]}".strip())
