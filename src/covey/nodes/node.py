"""A node: it keeps the processes of its agents alive, and goes round with its duties. It acts from memory and records afterwards (H8b).

It is the one authority that restarts them (H7a). Agents outlive it: a new node adopts whoever holds the locks (H9).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from covey.base.clock import Clock
from covey.base.errors import CoveyError
from covey.base.loops import every
from covey.base.processes import Identity
from covey.healing import lives
from covey.nodes import records
from covey.nodes.forkserver import Spec
from covey.nodes.keeping import Group, Keeper, Means
from covey.nodes.pinging import answers
from covey.nodes.spawner import Spawner
from covey.nodes.watching import PingCounter, RestartPolicy, Watch
from covey.store import Store

__all__ = ["Duty", "Group", "Node"]

log = logging.getLogger("covey.node")

PING_S = 5.0
RECORD_TRIES = 60
RECORDS_S = 5.0
"""How long at its end a node waits until all is recorded."""
WORDS_BYTES = 2000


class Duty(NamedTuple):
    """Something a node does again and again; `leading` ones only with a current fencing token, which they are given."""

    name: str
    interval_s: float
    leading: bool
    one_round: Callable[[int], Awaitable[object]]


class Node:
    """The processes of one machine and their duties. `ping_s` is both how often they are pinged and how long they may take to answer."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        name: str,
        run_dir: Path,
        spawner: Spawner,
        watch: Watch,
        groups: Callable[[], Sequence[Group]],
        spec: Callable[[Group], Spec],
        duties: Sequence[Duty],
        grace_s: float,
        ping_s: float = PING_S,
        policy: RestartPolicy | None = None,
        pings: PingCounter | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.name = name
        self._watch = watch
        self._spawner = spawner
        self._groups = groups
        self._duties = duties
        self._ping_s = ping_s
        self._fence: int | None = None
        self._leads_until = 0.0
        self._failing: set[str] = set()
        self._round = 0
        self._means = Means(
            clock=clock,
            watch=watch,
            run_dir=run_dir,
            spawn=lambda group: spawner.spawn(spec(group)),
            record=self.record,
            last_words=lambda group: last_words(Path(spec(group).log)),
            answers=self._answers,
            grace_s=grace_s,
            policy=policy or RestartPolicy(),
            pings=pings or PingCounter(),
        )
        self._kept: dict[str, tuple[Keeper, asyncio.Task[list[Identity]]]] = {}
        self._let_go: set[asyncio.Task[list[Identity]]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._records: asyncio.Queue[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = asyncio.Queue()

    @property
    def leading(self) -> bool:
        """Whether it leads: its lease can't have ended yet, by its own clock."""
        return self._fence is not None and self.clock.boot() < self._leads_until

    def keepers(self) -> list[Keeper]:
        """Who keeps what."""
        return [keeper for keeper, _ in self._kept.values()]

    def record(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Write this to the store as soon as it can be had; nobody waits for it."""
        self._records.put_nowait((verb, args, kwargs))

    async def start(self) -> None:
        """Start or adopt all processes, and go round."""
        self.arrange()
        rounds: list[tuple[str, float, Callable[[], Awaitable[object]]]] = [
            ("beat", records.LEAD_S / 3, self._beat),
            ("ping", self._ping_s, self.ping_all),
            ("orphans", self._ping_s, self._reap),
        ]
        rounds += [(duty.name, duty.interval_s, lambda duty=duty: self._do(duty)) for duty in self._duties]  # type: ignore[misc]
        await self._beat()
        self._loops = [asyncio.create_task(every(seconds, one_round, self.clock, name)) for name, seconds, one_round in rounds]
        self._loops.append(asyncio.create_task(self._write_records()))

    def arrange(self) -> None:
        """Bring the processes in line with the groups: new ones are started, changed ones restarted, the rest let go (A2)."""
        wanted = {group.name: group for group in self._groups()}
        for name, (keeper, task) in list(self._kept.items()):
            group = wanted.get(name)
            if group is None:
                del self._kept[name]
                keeper.want_no_more()
                self._let_go.add(task)
                task.add_done_callback(self._let_go.discard)
            elif group != keeper.group:
                keeper.become(group)
        for name, group in wanted.items():
            if name not in self._kept:
                keeper = Keeper(group, self._means)
                self._kept[name] = (keeper, asyncio.create_task(keeper.keep()))

    def restart(self, agent: str) -> bool:
        """Start an agent's process again; whether it is one of ours."""
        found = self._keeper_of(agent)
        if found is not None:
            found.ask_restart()
        return found is not None

    def prod(self, agent: str) -> None:
        """An agent whose restarts were given up is tried again."""
        found = self._keeper_of(agent)
        if found is not None:
            found.try_again()

    def _keeper_of(self, name: str) -> Keeper | None:
        return next((keeper for keeper in self.keepers() if name in keeper.group.names or name == keeper.group.name), None)

    async def ping_all(self) -> None:
        """One round of pings, side by side; who has missed too many is ended and started again (H8b).

        Who answered last time is asked every other round: a process that is well need not say so each five seconds.
        """
        self._round += 1
        there = [
            (keeper, keeper.identity)
            for place, keeper in enumerate(self.keepers())
            if keeper.identity is not None and (keeper.pings.missed or (place + self._round) % 2)
        ]
        found = await asyncio.gather(*(self._answers(keeper.group) for keeper, _ in there))
        for (keeper, identity), answered in zip(there, found, strict=True):
            if keeper.identity != identity:
                continue
            keeper.pings = keeper.pings.after(answered, self.clock.boot() - keeper.since)
            if keeper.pings.hung:
                keeper.kill(f"it did not answer {keeper.pings.missed} pings in a row")
                for agent in keeper.group.agents:
                    self.record(lives.hung, agent, keeper.pings.missed)
                keeper.pings = self._means.pings

    async def _answers(self, group: Group) -> bool:
        return await answers(group.host, group.port, self._ping_s)

    def end_holder(self, pid: int, why: str) -> bool:
        """End a process of ours that holds something it must not; whether it is ours."""
        for keeper in self.keepers():
            if keeper.identity is not None and keeper.identity.pid == pid:
                keeper.kill(why)
                return True
        return False

    async def _beat(self) -> None:
        until = self.clock.boot() + records.LEAD_S
        try:
            self._fence = await self.store.write(records.beat, self.name)
            self._leads_until = until
        except CoveyError as error:
            log.warning("the node's heartbeat failed: %s", error.message)
            self._fence = None

    async def _reap(self) -> None:
        self._watch.reap_orphans()

    async def _do(self, duty: Duty) -> None:
        if duty.leading and not self.leading:
            return
        try:
            await duty.one_round(self._fence or 0)
        except CoveyError as error:
            if duty.name not in self._failing:
                log.warning("%s: %s It is tried again all the time.", duty.name, error.message)
            self._failing.add(duty.name)
        else:
            self._failing.discard(duty.name)

    async def _write_records(self) -> None:
        while True:
            verb, args, kwargs = await self._records.get()
            await self._write_record(verb, args, kwargs)
            self._records.task_done()

    async def _write_record(self, verb: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tried again for a minute; after that it is only in the log."""
        for _ in range(RECORD_TRIES):
            try:
                await self.store.write(verb, *args, **kwargs)
            except CoveyError as error:
                log.warning("a record waits: %s", error.message)
                await self.clock.sleep(1.0)
            except Exception:
                log.exception("a record could not be written")
                return
            else:
                return

    async def stop(self) -> list[Identity]:
        """End all processes, cleanly at first; whoever could not be ended, as a rule nobody."""
        *rounds, recorder = self._loops
        for task in rounds:
            task.cancel()
        for keeper in self.keepers():
            keeper.want_no_more()
        ended = await asyncio.gather(*(task for _, task in self._kept.values()), *self._let_go, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._records.join(), timeout=RECORDS_S)
        recorder.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self._spawner.close()
        self._watch.reap_orphans()
        self._watch.reap_orphans()
        with contextlib.suppress(CoveyError):
            await self.store.write(records.leave, self.name)
        self._watch.close()
        return [identity for left in ended if not isinstance(left, BaseException) for identity in left]


def last_words(log_file: Path) -> str:
    """The last line that a process printed; empty if there is none."""
    try:
        with log_file.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - WORDS_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[:500]
