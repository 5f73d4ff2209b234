"""The seeds' JSON tree kept true within a second (S1). It is a view: the store is the truth, an edit of a file changes nothing.

Each round reads the events since the last one, and the agents' signs of life, which write none; makes what they touched anew;
overwrites what somebody else has edited. A round's work is bounded, so that a fleet of thousands is kept true without a core of its own.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from covey.agents import roster
from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.files import tree
from covey.files.telling import Teller, why
from covey.files.whole import Folder
from covey.nodes import records
from covey.store import Store, Transaction, events
from covey.store.events import Bookmark

EVENTS_A_ROUND = 5000
"""More news than this at once: everything is made anew."""
REFRESH_S = 60.0
BUDGET_S = 0.1
"""A round ends after so many seconds of work; the rest is the next round's."""
SHARE = 20
SHARE_OF_COUNTS = 50
"""A file of the whole fleet that took a second to make is made again after so many seconds at the earliest; one that counts, later."""
AGENTS_AT_ONCE = 32
LOOKED_AT = 500
"""So many agents' files a round are looked at for edits, the whole fleet's files in each."""
FAILURES_A_ROUND = 8
TOLD_AGAIN_S = 5.0
PAUSE_S = 30.0
"""After so long without a round another process may have kept the tree: it is begun anew."""
ACTIVE_S = 60.0


class Beat(NamedTuple):
    """An agent's sign of life, and what its status makes of it as time goes by."""

    at: float | None
    silent: bool
    lately_active: bool
    turns_at: float
    """When one of the two changes by itself, in store time."""

    @property
    def looks(self) -> tuple[bool, bool]:
        """What of it shows in more than the heartbeat."""
        return self.silent, self.lately_active


class Sight(NamedTuple):
    """What one look at the store found."""

    news: list[events.Event]
    bookmark: Bookmark
    overrun: bool
    beats: dict[str, Beat] | None
    leader: tuple[str, int, int] | None
    rests_s: float
    """For so long it stays as it is unless somebody writes."""


def look(tx: Transaction, bookmark: Bookmark, stale_s: float, *, with_beats: bool) -> Sight:
    """The events since a bookmark, every agent's beat, and who leads in which cycle."""
    page = events.after(tx, bookmark, limit=EVENTS_A_ROUND)
    leader = records.leader(tx)
    beats = _beats(tx, stale_s) if with_beats else None
    return Sight(
        [] if page.full else page.events,
        events.last(tx) if page.full else page.bookmark,
        page.full,
        beats,
        (leader.holder, leader.fence, leader.cycle) if leader else None,
        0.0 if beats is None or page.full else min((beat.turns_at - tx.now for beat in beats.values()), default=REFRESH_S),
    )


def _beats(tx: Transaction, stale_s: float) -> dict[str, Beat]:
    found = {}
    for name, vitals in roster.all_vitals(tx).items():
        at = max((each for each in (vitals.heartbeat_at, vitals.seen_at) if each is not None), default=None)
        turns = [ends for ends in (_end(at, stale_s), _end(vitals.last_active_at, ACTIVE_S)) if ends >= tx.now]
        active = _end(vitals.last_active_at, ACTIVE_S) >= tx.now
        found[name] = Beat(at, _end(at, stale_s) < tx.now, active, min(turns, default=math.inf))
    return found


def _end(at: float | None, lasts_s: float) -> float:
    return -math.inf if at is None else at + lasts_s


class View:
    """The tree under `shared_dir`; only the leader's process has one."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._stale_s = settings.stale_s
        self._drop = str(Path(settings.data_dir) / "drop")
        self._folder = Folder(Path(settings.shared_dir), tree.FOLDERS)
        self._teller = Teller(store, "view")
        self._bookmark: Bookmark | None = None
        self._agents: list[str] = []
        self._soon: dict[str, None] = {}
        """Files that an event touched, or that somebody edited: in the order in which they became so."""
        self._later: dict[str, None] = {}
        """Files that are made anew when there is time."""
        self._beats: dict[str, Beat] = {}
        self._leader: tuple[str, int, int] | None = None
        self._not_before: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._failing: set[str] = set()
        self._beats_due = 0.0
        self._refresh_due = 0.0
        self._looked_at = 0
        self._round_at = 0.0
        self._seen: int | None = None
        self._rests_until = 0.0
        """Until then, and as long as nobody has written, there is nothing to see."""

    async def round(self) -> None:
        """Bring the tree up to date. An error of the disk is said once, and the next round tries again."""
        now = self._clock.boot()
        if self._bookmark is None or now - self._round_at > PAUSE_S:
            self._bookmark = await self._store.read(events.last)
            self._folder.forget()
            self._refresh_due, self._rests_until = now, 0.0
        self._round_at = now
        stamp = self._store.stamp()
        if stamp is None or stamp.commits != self._seen or now >= self._rests_until:
            self._rests_until = 0.0
            self._rests_until = now + await self._see(now)
            self._seen = stamp.commits if stamp is not None else None
        if now >= self._refresh_due:
            await self._refresh()
            self._refresh_due = now + REFRESH_S
        try:
            for name in await asyncio.to_thread(self._edited):
                self._soon[name] = None
                self._not_before.pop(name, None)
            await self._write_out(now)
        except OSError as error:
            self._cannot("", error)
        else:
            if not self._failing:
                self._teller.well(f"{self._folder.root} is kept true again.")
        await self._teller.flush()

    async def _see(self, now: float) -> float:
        """Read what is new, and note which files it touches; for how many seconds there is nothing else unless somebody writes."""
        with_beats = now >= self._beats_due
        assert self._bookmark is not None
        sight = await self._store.read(look, self._bookmark, self._stale_s, with_beats=with_beats)
        self._bookmark = sight.bookmark
        if sight.beats is not None:
            self._beats_due = now + SHARE * (self._clock.boot() - now)
            self._note_beats(sight.beats)
        if sight.leader != self._leader:
            self._leader = sight.leader
            self._soon[tree.PROTOCOL] = None
        for event in sight.news:
            files = tree.touched(event)
            if files is None:
                self._refresh_due = 0.0
            else:
                self._soon.update(dict.fromkeys(files))
        if sight.overrun:
            self._refresh_due = 0.0
        return sight.rests_s

    def _note_beats(self, beats: dict[str, Beat]) -> None:
        """Signs of life write no event: what they and the time make of the agents is found by comparing."""
        for name, beat in beats.items():
            before = self._beats.get(name)
            if before == beat:
                continue
            self._soon[tree.HEARTBEATS] = None
            if before is None or before.looks != beat.looks:
                self._soon.update(dict.fromkeys((tree.state_file(name), tree.PROTOCOL, tree.HEALTH)))
            else:
                self._later[tree.state_file(name)] = None
        self._beats = beats

    async def _refresh(self) -> None:
        """All files are made anew, the fleet's first; those of agents that are gone are found too."""
        self._agents = await self._store.read(roster.all_names)
        self._soon.update(dict.fromkeys(tree.FLEET_FILES))
        self._later.update(dict.fromkeys(tree.all_files(self._agents)))
        try:
            self._later.update(dict.fromkeys(await asyncio.to_thread(self._strays)))
        except OSError as error:
            self._cannot("", error)

    def _strays(self) -> list[str]:
        """Files of agents that are not in the fleet."""
        self._folder.make()
        known = set(tree.all_files(self._agents))
        found = [
            f"{folder}/{name}" for folder in (tree.STATES, tree.TASKS) for name in self._folder.names(folder) if name.endswith(".json")
        ]
        return [name for name in found if name not in known]

    def _edited(self) -> list[str]:
        """Files that do not look as we left them: the fleet's, and a part of the agents' in turn."""
        for folder in self._folder.make():
            self._say_edited(folder, self._clock.boot())
            self._refresh_due = 0.0
        mine = [name for agent in self._turn() for name in (tree.state_file(agent), tree.tasks_file(agent))]
        return self._folder.changed([*tree.FLEET_FILES, *mine])

    def _turn(self) -> Iterable[str]:
        count = len(self._agents)
        start = self._looked_at if self._looked_at < count else 0
        self._looked_at = start + LOOKED_AT // 2
        return islice(self._agents, start, self._looked_at)

    async def _write_out(self, now: float) -> None:
        """Make and write what is due, until the round's time is up or the disk takes nothing."""
        failures = 0
        for chunk in self._chunks(now):
            began = self._clock.boot()
            made = await self._store.read(tree.make, chunk, self._stale_s)
            failed = await asyncio.to_thread(self._put_all, made, began)
            ended = self._clock.boot()
            for name in chunk:
                self._soon.pop(name, None)
                self._later.pop(name, None)
            self._later.update(dict.fromkeys(failed))
            if len(chunk) == 1:
                share = SHARE_OF_COUNTS if chunk[0] in (tree.PROTOCOL, tree.HEALTH) else SHARE
                self._not_before[chunk[0]] = ended + share * (ended - began)
            failures += len(failed)
            if ended - now > BUDGET_S or failures > FAILURES_A_ROUND:
                break

    def _chunks(self, now: float) -> list[list[str]]:
        """The files to be made, those of the whole fleet one by one, then what was touched, then the rest."""
        due = [*self._soon, *(name for name in self._later if name not in self._soon)]
        fleet = [[name] for name in due if name in tree.FLEET_FILES and self._not_before.get(name, 0.0) <= now]
        rest = [name for name in due if name not in tree.FLEET_FILES]
        return fleet + [rest[start : start + AGENTS_AT_ONCE] for start in range(0, len(rest), AGENTS_AT_ONCE)]

    def _put_all(self, made: dict[str, bytes | None], now: float) -> list[str]:
        """Write them; those that could not be written are tried again last."""
        failed = []
        for name, content in made.items():
            try:
                if content is None:
                    self._folder.remove(name)
                elif self._folder.put(name, content):
                    self._say_edited(name, now)
                self._failing.discard(name)
            except OSError as error:
                self._cannot(name, error)
                self._failing.add(name)
                failed.append(name)
        return failed

    def _cannot(self, name: str, error: OSError) -> None:
        path = self._folder.root / name
        self._teller.trouble(
            name,
            f"{path} can't be written ({why(error)}). The fleet goes on and this view of it is behind; it is tried again all the time.",
        )

    def _say_edited(self, name: str, now: float) -> None:
        if now - self._told.get(name, -TOLD_AGAIN_S) < TOLD_AGAIN_S:
            return
        self._told[name] = now
        path = str(self._folder.root / name)
        sentence = (
            f"{path} was edited from outside and is overwritten: it is a view, and changes nothing."
            f" To give the fleet a message or a task, move a JSON file into {self._drop}."
        )
        self._teller.say("file.edited", name, sentence, file=path, drop=self._drop)
