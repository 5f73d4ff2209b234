"""The drop folder: a JSON message or task that is moved in is taken exactly once, then lies in done/ or refused/ beside a reason (S2).

A file goes through three renames, each whole: into `.taken` (from then on nobody else changes it, and its id is fixed), then, once
it is stored, to its place in done/ or refused/. A process killed between two of them finds it where it was, stores it again under
the same id, and is told the first receipt. It is the operator's: outside quotas, and `from` may name nobody else.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.agents.model import THE_OPERATOR
from covey.base.clock import Clock
from covey.base.errors import Conflict, CoveyError, Failed, Invalid
from covey.base.settings import Settings
from covey.files import dropped
from covey.files.dropped import Dropped, Found
from covey.files.telling import Teller, why
from covey.files.whole import write_whole
from covey.messages import sending
from covey.messages.model import Draft
from covey.store import Store, Transaction
from covey.tasks import adding

log = logging.getLogger("covey.files")

STILL_S = 1.0
"""A file that is no whole JSON object must lie unchanged for so long before it is looked at as it is."""
LISTED = 5000
TAKEN_A_ROUND = 200
BUDGET_S = 0.4
TAKEN, DONE, REFUSED = ".taken", "done", "refused"


Touched = tuple[tuple[int, int], ...]
"""Which folders they are and when they were last changed."""


class Verdict(NamedTuple):
    """Where a file goes, and the reason that will lie beside it."""

    folder: str
    reason: dict[str, Any]


def take(tx: Transaction, wanted: Dropped, name: str) -> dict[str, Any]:
    """Store what a file asks for, as the operator; what became of it, the first answer if it was stored before (T3).

    Raises:
        CoveyError: It is refused; nothing is stored.
        Conflict: Its id was used for something else.
    """
    if isinstance(wanted.draft, Draft):
        receipt = sending.send(tx, wanted.draft, THE_OPERATOR)
        _check_same(wanted, known=receipt.known, differs=receipt.differs)
        stored = not receipt.outcomes or any(each.stored for each in receipt.outcomes.values())
        answer: dict[str, Any] = {"status": receipt.status, "stored": stored, "sentence": receipt.sentence, "outcomes": receipt.outcomes}
        known = receipt.known
    else:
        task = adding.add(tx, wanted.draft, THE_OPERATOR)
        _check_same(wanted, known=task.known, differs=task.differs)
        answer = {
            "status": task.state,
            "stored": True,
            "sentence": f"it is a task; `covey why {task.task_id}` says how it stands.",
            "task": task.task_id,
        }
        known = task.known
    if not known:
        tx.happened("drop.taken", subject=wanted.id, file=name)
    return answer | {"id": wanted.id, "known": known}


def _check_same(wanted: Dropped, *, known: bool, differs: bool) -> None:
    if known and differs:
        raise Conflict(
            f"the id {wanted.id!r} was used before with other content; nothing was changed. Bring a new id for new content.", id=wanted.id
        )


class Drop:
    """The folder `drop/` in the data directory; only the leader's process looks into it."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.folder = Path(settings.data_dir) / "drop"
        self._teller = Teller(store, "drop")
        self._still: dict[str, tuple[Found, float]] = {}
        """Files that may still be being written, and since when they have looked like this."""
        self._settled: dict[Path, Verdict] = {}
        """Files that are stored or refused, and could not be moved yet."""
        self._empty: tuple[Touched, float] | None = None
        """How the folders were when nothing was in them, and since when it is so."""

    async def round(self) -> None:
        """Take what has been moved in. What the store does not take now stays for the next round."""
        try:
            if self._is_untouched():
                return
            lock = await asyncio.to_thread(self._lock)
            if lock is None:
                return
            try:
                sound = await self._take_all()
            finally:
                os.close(lock)
        except OSError as error:
            self._teller.trouble(
                "", f"the drop folder {self.folder} does not work ({why(error)}): nothing is taken from it. It is tried again all the time."
            )
        else:
            if sound:
                self._teller.well(f"the drop folder {self.folder} works again.")
        await self._teller.flush()

    def _is_untouched(self) -> bool:
        """Whether nothing was in the folders and nothing was moved in since; two calls of the system, since all rounds pay for them.

        Not at once: what comes in the same tick of the file system's clock does not show.
        """
        if self._empty is None:
            return False
        touched, since = self._empty
        return self._clock.boot() - since >= STILL_S and self._touched() == touched

    def _touched(self) -> Touched | None:
        try:
            found = [(self.folder / name).stat() for name in ("", TAKEN)]
        except OSError:
            return None
        return tuple((each.st_ino, each.st_mtime_ns) for each in found)

    def _lock(self) -> int | None:
        """Make the folders, and keep other processes out; None if one is at it."""
        for name in ("", TAKEN, DONE, REFUSED):
            (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    async def _take_all(self) -> bool:
        """Store and move on what is there, as long as the round lasts; whether the store took all that was tried."""
        began = self._clock.boot()
        for found in await asyncio.to_thread(self._taken, began):
            if self._clock.boot() - began > BUDGET_S:
                break
            verdict = self._settled.get(found.path) or await self._judge(found)
            if verdict is None:
                return False
            await asyncio.to_thread(self._settle, found, verdict)
        return True

    def _taken(self, now: float) -> list[Found]:
        """What is to be stored, oldest first: files left from before, and those that are whole now, out of everybody's reach."""
        touched = self._touched()
        before = self._list(TAKEN)
        there = self._list("")
        self._note_empty(None if before or there else touched, now)
        self._still = {found.name: self._still[found.name] for found in there if found.name in self._still}
        ready = list(islice((found for found in there if self._is_ready(found, now)), max(0, TAKEN_A_ROUND - len(before))))
        for found in ready:
            with suppress(FileNotFoundError):  # taken back meanwhile
                found.path.rename(self.folder / TAKEN / dropped.taken_name(found))
        if not ready:
            return before
        for name in ("", TAKEN):
            _sync(self.folder / name)
        return self._list(TAKEN)

    def _note_empty(self, touched: Touched | None, now: float) -> None:
        """Nothing is there; None: something is, or it is not known."""
        if touched is None:
            self._empty = None
        elif self._empty is None or self._empty[0] != touched:
            self._empty = touched, now

    def _list(self, name: str) -> list[Found]:
        find = dropped.find_taken if name == TAKEN else dropped.find
        with os.scandir(self.folder / name) as entries:
            paths = [Path(entry.path) for entry in islice(entries, LISTED)]
        return sorted((found for path in paths if (found := find(path)) is not None), key=lambda found: (found.arrived_ns, found.name))

    def _is_ready(self, found: Found, now: float) -> bool:
        """Whether nobody writes it any more: it is a whole JSON object, or has not changed for a while."""
        before, since = self._still.get(found.name, (None, now))
        if before == found:
            return now - since >= STILL_S
        try:
            if dropped.is_whole(dropped.read(found)):
                return True
        except (CoveyError, OSError) as error:
            log.debug("%s is not whole yet: %s", found.shown, error)
        self._still[found.name] = (found, now)
        return False

    async def _judge(self, found: Found) -> Verdict | None:
        """Store what it asks for, or say why not; None if the store takes nothing now."""
        wanted: Dropped | None = None
        try:
            raw = await asyncio.to_thread(dropped.read, found)
            wanted = dropped.decode(found, raw)
            answer = await self._store.write(take, wanted, found.shown)
        except CoveyError as error:
            if error.face.http == 503:
                self._teller.trouble(found.shown, f"{found.shown} waits in the drop folder, since {error.message}")
                return None
            return self._refusal(found, wanted, error)
        except OSError as error:
            return self._refusal(
                found, wanted, Invalid(f"{found.shown} can't be read ({why(error)}); give this user the right to read it.", field="")
            )
        except Exception as error:  # a door: one file that we fail on must not hold up the others
            log.exception("taking %s from the drop folder failed", found.shown)
            return self._refusal(
                found, wanted, Failed(f"taking it failed ({type(error).__name__}: {error}); this is a fault of Covey, please report it.")
            )
        answer["leftOut"] = wanted.left_out
        if not answer["stored"]:
            return self._refusal(found, wanted, Conflict(answer["sentence"], outcomes=answer["outcomes"]))
        return Verdict(DONE, answer)

    def _refusal(self, found: Found, wanted: Dropped | None, error: CoveyError) -> Verdict:
        ident = wanted.id if wanted else f"{found.inode:x}.{found.ctime_ns:x}"
        self._teller.say(
            "drop.refused",
            found.shown,
            f"{found.shown} was refused by the drop folder: {error.message}",
            code=error.code,
            level=logging.INFO,
        )
        return Verdict(REFUSED, {**error.problem(), "id": ident})

    def _settle(self, found: Found, verdict: Verdict) -> None:
        """Move the file to its place, the reason first: a reason without its file is of a move that was cut short."""
        self._settled[found.path] = verdict
        place = dropped.resting_place(found, self.folder / verdict.folder, verdict.reason["id"])
        reason = msgspec.to_builtins({"file": found.shown, "at": self._clock.wall(), **verdict.reason})
        # the standard library's encoder, since a refused file may hold text that is no Unicode
        write_whole(dropped.reason_of(place), json.dumps(reason, indent=2).encode() + b"\n", mode=0o600, alone=True)
        found.path.rename(place)
        del self._settled[found.path]


def _sync(folder: Path) -> None:
    """Put the renames of a folder on disk: a power cut must not bring a file back under a new change time."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
