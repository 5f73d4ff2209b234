"""Compression: oldest first into summaries, then out of sight, then the emergency. It always ends, and ends within the bound (C2, C3).

Nothing is dropped: what leaves the live context is archived in the same commit, and what stands for it is named with it.
"""

from __future__ import annotations

from covey.contexts.emergency import cut_back, recheck, set_too_large
from covey.contexts.model import HOT_S, WARM_S, WARN_AT, Compressed
from covey.contexts.reading import state
from covey.contexts.shrinking import LAST_SHARE, Compression, begin
from covey.store import Transaction, statement

TIDIED = statement(__package__, "tidied")
OLDEST_RAW = statement(__package__, "oldest_raw")

TIDY_S = 600.0


def compress(tx: Transaction, agent: str, max_tokens: int, why: str, *, adding: int = 0) -> Compressed:
    """What came of compressing a context down to half its bound, with room for `adding` tokens as far as there can be (C3).

    Afterwards it is within its bound, whatever it was before.
    """
    tx.lock("mailbox", agent)
    begin(tx, agent)
    step = Compression(tx, agent, max_tokens, adding)
    step.shrink(step.unpinned(but_last=int(max_tokens * LAST_SHARE)))
    if step.size + adding > max_tokens * WARN_AT:
        step.shrink(step.unpinned())
    if step.size + adding <= max_tokens:
        recheck(tx, agent, max_tokens)
        return step.end(why, None)
    too_much = cut_back(step)
    step.within_bound()
    set_too_large(tx, agent, too_much)
    return step.end(why, too_much)


def tidy(tx: Transaction, agent: str, max_tokens: int) -> Compressed | None:
    """Move on what has grown old: after two hours into summaries, after a day out of sight (C2). None if it was not time to look."""
    tx.lock("mailbox", agent)
    oldest = tx.one(OLDEST_RAW, agent=agent)
    if oldest is None or oldest.at is None or oldest.at > tx.now - HOT_S:
        return None
    known = state(tx, agent)
    if known is not None and tx.now - known.tidied_at < TIDY_S:
        return None
    begin(tx, agent)
    step = Compression(tx, agent, max_tokens, 0)
    hot, warm = tx.now - HOT_S, tx.now - WARM_S
    step.cold((entry for entry in step.unpinned() if entry.at <= warm), target=-1)
    step.warm((entry for entry in step.unpinned() if entry.at <= hot), target=-1)
    tx.run(TIDIED, agent=agent, now=tx.now)
    return step.end("it has grown old", None, aged=True)
