"""Sees processes end, and decides when to start one again and when to call it hung.

The seeing is by pidfd, so that it works for adopted processes too; the deciding is pure. Nothing here starts or ends a process.
"""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass, replace
from typing import NamedTuple

from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, every_process


class ExitStatus(NamedTuple):
    """How a process ended: by an exit code or by a signal; neither is known of one that was not our child."""

    code: int | None = None
    signal: int | None = None

    def __str__(self) -> str:
        if self.code is not None:
            return f"exit code {self.code}"
        if self.signal is not None:
            return f"killed by {signal.Signals(self.signal).name}"
        return "it was not our child, so how it ended is not known"


class _Watched(NamedTuple):
    handle: int
    end: asyncio.Future[ExitStatus]


class Watch:
    """Tells when processes end, children of ours and adopted ones alike, and reaps the children. For one event loop."""

    def __init__(self) -> None:
        self._watched: dict[Identity, _Watched] = {}
        self._strays: set[Identity] = set()

    async def exited(self, identity: Identity) -> ExitStatus:
        """How the process ended, as soon as it has. Any number may wait for the same one.

        Who asks for the first time when it is reaped already learns that it has ended, not how.
        """
        watched = self._watched.get(identity) or self._begin(identity)
        return await asyncio.shield(watched.end) if watched else ExitStatus()

    def reap_orphans(self) -> None:
        """One round: reap children that have ended and that nobody waits for, as orphans of agents and commands are (we are a subreaper).

        Only those that the round before saw too, so that whoever started one has had the time to ask how it ended.
        """
        strays = _zombies() - set(self._watched)
        for stray in strays & self._strays:
            try:
                os.waitpid(stray.pid, os.WNOHANG)
            except ChildProcessError:
                pass  # whoever started it was just in time
        self._strays = strays - self._strays

    def close(self) -> None:
        """Watch nothing any more; who still waits is cancelled."""
        for identity, watched in list(self._watched.items()):
            self._forget(identity)
            watched.end.cancel()

    def _begin(self, identity: Identity) -> _Watched | None:
        try:
            handle = os.pidfd_open(identity.pid)
        except ProcessLookupError:
            return None
        if Identity.of(identity.pid) != identity:
            os.close(handle)
            return None
        loop = asyncio.get_running_loop()
        watched = self._watched[identity] = _Watched(handle, loop.create_future())
        loop.add_reader(handle, self._ended, identity)
        return watched

    def _ended(self, identity: Identity) -> None:
        watched = self._watched[identity]
        watched.end.set_result(_reap(watched.handle))
        self._forget(identity)

    def _forget(self, identity: Identity) -> None:
        watched = self._watched.pop(identity)
        watched.end.get_loop().remove_reader(watched.handle)
        os.close(watched.handle)


def _reap(handle: int) -> ExitStatus:
    try:
        result = os.waitid(os.P_PIDFD, handle, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        return ExitStatus()
    if result is None:
        return ExitStatus()
    return ExitStatus(code=result.si_status) if result.si_code == os.CLD_EXITED else ExitStatus(signal=result.si_status)


def _zombies() -> set[Identity]:
    """Our children that have ended and are not reaped; all processes are looked through only when there is one."""
    try:
        if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return set()
    except ChildProcessError:
        return set()
    dead = (stat.pid for stat in every_process() if stat.parent == os.getpid() and stat.dead)
    return {identity for pid in dead if (identity := Identity.of(pid)) is not None}


class Past(NamedTuple):
    """An agent's restarts that still count: how many since it last ran fine, and when the latest were."""

    restarts: int = 0
    recent: tuple[float, ...] = ()


class Restart(NamedTuple):
    """Start it again after so many seconds; keep `past` for the next time."""

    after_s: float
    past: Past


class GiveUp(NamedTuple):
    """Don't start it again. `own`: because this fleet's own process runs already, which is to be adopted instead (A10)."""

    why: str
    own: bool = False


@dataclass(frozen=True)
class RestartPolicy:
    """When a process that ended by itself is started again (H4, H7, H7a)."""

    most: int = 5
    within_s: float = 600.0
    longest_s: float = 60.0
    fine_s: float = 1800.0

    def decide(self, past: Past, status: ExitStatus, ran_s: float, now: float) -> Restart | GiveUp:
        """What to do about a process that ended at `now` after `ran_s`. Pure; `now` is any clock's, in seconds, always the same one's."""
        if status.code == EX_OWN_INSTANCE:
            return GiveUp("its port or its name is held by a process of this fleet that runs already", own=True)
        if ran_s >= self.fine_s:
            past = Past()
        recent = tuple(at for at in past.recent if now - at < self.within_s)
        if len(recent) >= self.most:
            return GiveUp(f"it ended again after {self.most} restarts in {self.within_s / 60:g} minutes ({status})")
        after_s = min(2.0 ** min(past.restarts - 1, 30), self.longest_s) if past.restarts else 0.0
        return Restart(after_s, Past(past.restarts + 1, (*recent, now + after_s)))


@dataclass(frozen=True)
class PingCounter:
    """How many of the node's rounds in a row a process did not answer in (H8b).

    Rounds, not seconds, so that a machine that was suspended kills nobody on waking. With rounds 5 s apart, 5 s for an answer,
    and who is well asked every other round, three missed mean that a stopped process is noticed after 25 to 35 s.
    """

    most: int = 3
    grace_s: float = 30.0
    missed: int = 0
    has_answered: bool = False
    """Whether it ever did: then it is up, however young it is."""

    def after(self, answered: bool, age_s: float) -> PingCounter:
        """The count after one more round. An answer clears it; a process that is still coming up is not counted."""
        if answered:
            return replace(self, missed=0, has_answered=True)
        return self if self.is_coming_up(age_s) else replace(self, missed=self.missed + 1)

    def is_coming_up(self, age_s: float) -> bool:
        """Whether it has its start grace: it is young and has not answered yet (H7a)."""
        return not self.has_answered and age_s < self.grace_s

    @property
    def hung(self) -> bool:
        """Whether it is to be killed and started again."""
        return self.missed >= self.most
