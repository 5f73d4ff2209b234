"""Add what happened to the figures, each event once: how far they have got is moved on in the same commit. And forget old ones."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from covey.figures.folding import fold
from covey.figures.model import KEPT_S, Stretch, Tally
from covey.store import Store, Transaction, events, relaxed, statement
from covey.store.events import Bookmark
from covey.store.upkeep import Pruned

FIND = statement(__package__, "find")
PUT = statement(__package__, "put", is_quiet=True)
FORGET = statement(__package__, "forget", is_quiet=True)

BOOKMARK = "figures"
PAGE = 500
PAGES_A_ROUND = 40
"""A fleet that was never counted, or not for long, is caught up with some at a time."""

_read_tally = msgspec.json.Decoder(Tally).decode


def read_on(tx: Transaction) -> tuple[events.Pages, dict[Stretch, Tally]]:
    """The next events, and what they add up to."""
    page = events.after(tx, events.bookmark(tx, BOOKMARK), limit=PAGE)
    return page, fold(page.events, tx.now)


@relaxed
def record(tx: Transaction, start: Bookmark, to: Bookmark, found: Mapping[Stretch, Tally]) -> bool:
    """Add these to the figures and go on from `to`; False, and nothing added, if somebody else has done so since `start`."""
    if not events.move_bookmark(tx, BOOKMARK, start, to):
        return False
    for stretch in sorted(found):
        row = tx.one(FIND, **stretch._asdict())
        tally = found[stretch]
        if row is not None:
            before, tally = tally, _read_tally(row.tally)
            tally.add(before)
        tx.run(PUT, **stretch._asdict(), tally=msgspec.json.encode(tally).decode())
    return True


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:  # noqa: ARG001 - stretches have terms of their own
    """Delete the figures of stretches that are past their time, a batch at a time."""
    gone = sum(tx.run(FORGET, span_s=span_s, before=tx.now - kept_s, limit=limit) for span_s, kept_s in KEPT_S.items())
    return Pruned(gone, after if gone >= limit else None)


class Recorder:
    """Brings the figures up to date, again and again; one process of the fleet has it do so, and a second does no harm."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: int | None = None
        """The stamp of changes up to which everything is counted."""

    async def one_round(self, _fence: int = 0) -> None:
        """Count what happened since the last round; where nothing has changed, the store is not asked."""
        stamp = self._store.stamp()
        if stamp is not None and stamp.changes == self._seen:
            return
        for _ in range(PAGES_A_ROUND):
            page, found = await self._store.read(read_on)
            if page.events:
                await self._store.write(record, page.start, page.bookmark, found)
            if not page.full:
                self._seen = stamp.changes if stamp is not None else None
                return
