"""What keeps a store in order: retention, backup and restore, check, vacuum. Features bring what concerns their own tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from covey.base.errors import StoreDamaged
from covey.base.ids import Ids
from covey.base.progress import Tell, silent
from covey.base.settings import Retention
from covey.store import answered, events
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.store.statements import statement
from covey.store.store import Store
from covey.store.transaction import Row, Transaction

SET_EPOCH = statement(__package__, "set_epoch")

DAY_S = 86400.0
KNOWN_S = 7 * DAY_S
"""Ids are known for so long at least (T3)."""
ROWS = 500
"""So many rows are looked at in one transaction, so that nobody waits long for it."""


class Pruned(NamedTuple):
    """What one step of a retention did, and the `seq` after which the next one goes on; None at the end."""

    deleted: int
    after: int | None


def pruned(rows: Sequence[Row], before: float, limit: int, forget: Callable[[Row], object]) -> Pruned:
    """One step of a retention over the oldest rows, at most `limit`: what is from before that time and `kept` by nothing is forgotten."""
    old = [row for row in rows if row.created_at < before]
    gone = [row for row in old if not row.kept]
    for row in gone:
        forget(row)
    return Pruned(len(gone), old[-1].seq if len(old) == limit else None)


Prune = Callable[..., Pruned]
"""A feature's retention, a verb: `prune(tx, *, older_s, after, limit)`."""
Repair = Callable[[Transaction], object]
"""A feature's verb that puts its own things right in a restored store."""


async def retain(store: Store, retention: Retention, closed: Mapping[str, Prune]) -> dict[str, int]:
    """How many rows of each kind went: events, answered requests, and the features' own things that ended long ago.

    Each step is a short transaction of its own; others write in between.
    """
    gone = {name: await _prune(store, prune, max(retention.closed_days * DAY_S, KNOWN_S)) for name, prune in closed.items()}
    gone["requests"] = await _until_few(lambda: store.write(answered.prune, limit=ROWS))
    older_s, most_bytes = retention.events_days * DAY_S, retention.events_bytes
    gone["events"] = await _until_few(lambda: store.write(events.prune, older_s=older_s, most_bytes=most_bytes, limit=ROWS))
    return gone


async def _prune(store: Store, prune: Prune, older_s: float) -> int:
    deleted, after = 0, 0
    while True:
        step = await store.write(prune, older_s=older_s, after=after, limit=ROWS)
        deleted += step.deleted
        if step.after is None:
            return deleted
        after = step.after


async def _until_few(one_step: Callable[[], Any]) -> int:
    total = 0
    while True:
        deleted: int = await one_step()
        total += deleted
        if deleted < ROWS:
            return total


async def backup(engine: Engine, path: Path, tell: Tell = silent) -> None:
    """Write one moment of the store to a file, whole or not at all, while it is in use. Its form is the same for every kind of store.

    Raises:
        StoreUnavailable: There is no room, or no right to write there.
        StoreDamaged: The store itself is not sound.
    """
    await asyncio.to_thread(engine.backup, path, tell)


def restore(
    engine: Engine, path: Path, wall: Callable[[], float], repairs: Sequence[Repair], ids: Ids | None = None, tell: Tell = silent
) -> str:
    """The new epoch of a store that is what a backup file was. Nobody may have it open.

    Whoever worked when the backup was made works no more: `repairs` are the features' verbs that end their leases and processes,
    and make their indexes anew, all in one transaction. What was there before is kept beside an embedded store as `….replaced`.

    Raises:
        NotFound, Invalid: There is no such file, or it is no sound backup; nothing was changed.
    """
    engine.restore(path, wall, tell)
    return write_alone(engine, new_epoch, repairs, ids=ids)


def new_epoch(tx: Transaction, repairs: Sequence[Repair]) -> str:
    """The name of the store's new epoch; what others held in the last one is void."""
    for repair in repairs:
        repair(tx)
    epoch = tx.new_id("epoch")
    tx.run(SET_EPOCH, epoch=epoch)
    tx.happened("store.restored", subject=epoch)
    return epoch


def check(engine: Engine, tell: Tell = silent) -> None:
    """Return if the store is sound, whole and every reference in it leads somewhere.

    Raises:
        StoreDamaged: It is not; `details["faults"]` has each fault.
    """
    found = engine.faults(tell)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        said = f"the store is not sound: {found[0].rstrip('.')}{more}."
        raise StoreDamaged(f"{said} Stop the fleet and run `covey restore` with your last backup; keep the damaged one.", faults=found)


def vacuum(engine: Engine, tell: Tell = silent) -> None:
    """Give room that is no longer used back to the disk, while the store is in use."""
    engine.vacuum(tell)
