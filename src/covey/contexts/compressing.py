"""Compression: oldest first into summaries, then out of sight, then the emergency. It always ends, and ends within the bound (C2, C3).

Nothing is dropped: what leaves the live context is archived in the same commit, and what stands for it is named with it. Only entries
as they were said are ever summarised (C4).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from covey.agents import roster
from covey.contexts import summarising
from covey.contexts.archive import add, archive, entry_of
from covey.contexts.model import BACK_TO, COLD_SHARE, HOT_S, WARM_S, WARN_AT, Compressed, Entry
from covey.contexts.pinning import note_of, pinned
from covey.contexts.reading import live, state, too_large
from covey.contexts.summarising import when
from covey.contexts.tokens import tokens_of
from covey.messages.sending import notify
from covey.store import Transaction, statement

BEGIN = statement(__package__, "begin")
COMPRESSED = statement(__package__, "compressed")
TIDIED = statement(__package__, "tidied")
TOO_LARGE = statement(__package__, "too_large")
EMERGENCY = statement(__package__, "emergency")
REWRITE = statement(__package__, "rewrite")
COLD_LINES = statement(__package__, "cold_lines")
OLDEST_RAW = statement(__package__, "oldest_raw")

GROUP = 8
"""So many entries become one summary at most."""
WORTH = 0.9
"""A summary that is not so much smaller than what it stands for is not worth it."""
LEAST = 0.3
"""Less of what it stands for a summary seldom is."""
LAST_SHARE = 0.25
"""The newest entries, up to so much of the bound, stay as they were said if the rest is enough."""
SAVES = 0.5
"""About what a summary saves, to know how many entries are needed."""
LINES = 12
LINE_CHARS = 100
TIDY_S = 600.0
TOLD_S = 3600.0


def compress(tx: Transaction, agent: str, max_tokens: int, why: str, *, adding: int = 0) -> Compressed:
    """What came of compressing a context down to half its bound, with room for `adding` tokens as far as there can be (C3).

    Afterwards it is within its bound, whatever it was before.
    """
    tx.lock("mailbox", agent)
    tx.run(BEGIN, agent=agent)
    step = Compression(tx, agent, max_tokens, adding)
    step.shrink(step.unpinned(but_last=int(max_tokens * LAST_SHARE)))
    if step.size + adding > max_tokens * WARN_AT:
        step.shrink(step.unpinned())
    if step.size + adding <= max_tokens:
        recheck(tx, agent, max_tokens)
        return step.end(why, None)
    too_much = step.emergency()
    step.within_bound()
    _set_too_large(tx, agent, too_much)
    return step.end(why, too_much)


def tidy(tx: Transaction, agent: str, max_tokens: int) -> Compressed | None:
    """Move on what has grown old: after two hours into summaries, after a day out of sight (C2). None if it was not time to look."""
    tx.lock("mailbox", agent)
    oldest = tx.one(OLDEST_RAW, agent=agent)
    known = state(tx, agent)
    if oldest is None or oldest.at is None or oldest.at > tx.now - HOT_S or (known is not None and tx.now - known.tidied_at < TIDY_S):
        return None
    tx.run(BEGIN, agent=agent)
    step = Compression(tx, agent, max_tokens, 0)
    hot, warm = tx.now - HOT_S, tx.now - WARM_S
    step.cold((entry for entry in step.unpinned() if entry.at <= warm), target=-1)
    step.warm((entry for entry in step.unpinned() if entry.at <= hot), target=-1)
    tx.run(TIDIED, agent=agent, now=tx.now)
    return step.end("it has grown old", None, aged=True)


def recheck(tx: Transaction, agent: str, max_tokens: int) -> None:
    """End the error of a context that was too large, once what must be kept fits again (A3)."""
    if too_large(tx, agent) is not None:
        note = note_of(pinned(tx, agent), agent, tx.now)
        _set_too_large(tx, agent, _why_too_large(tokens_of(note), max_tokens))


def _set_too_large(tx: Transaction, agent: str, why: str | None) -> None:
    """Begin or end the error state."""
    before = too_large(tx, agent)
    if why != before:
        tx.run(TOO_LARGE, agent=agent, why=why, at=tx.now if why is not None else None)
    if why is not None and before is None:
        tx.happened("context.too_large", agent=agent, why=why)
    if why is None and before is not None:
        tx.happened("context.fits_again", agent=agent)


def _why_too_large(tokens: int, max_tokens: int) -> str | None:
    if tokens <= max_tokens * WARN_AT:
        return None
    return (
        f"what its context must keep (role, current task, urgent and high queue, unanswered questions) is {tokens:,} tokens by itself,"
        f" and its bound is {max_tokens:,}; raise max_context, or lower its urgent queue."
    )


class Compression:
    """One compression at work: the live entries, and how large they are by now."""

    def __init__(self, tx: Transaction, agent: str, max_tokens: int, adding: int) -> None:
        self.tx, self.agent, self.max_tokens, self.adding = tx, agent, max_tokens, adding
        self.live = live(tx, agent)
        self.size = self.before = sum(entry.tokens for entry in self.live)
        self.archived = self.summaries = self.moved = self.emergencies = 0
        self._since: float | None = None
        self._pinned = pinned(tx, agent)

    def unpinned(self, but_last: int = 0) -> list[Entry]:
        """The live entries that are of nothing open, oldest first, but for the newest ones of so many tokens."""
        fresh = self.tx.now - HOT_S
        found = [entry for entry in self.live if entry.source not in self._pinned.ids and not (entry.form == "pinned" and entry.at > fresh)]
        while found and found[-1].form == "raw" and found[-1].tokens <= but_last:
            but_last -= found.pop().tokens
        return found

    def shrink(self, entries: list[Entry]) -> None:
        """Bring the whole down to half its bound, as far as these allow: by summaries, then out of sight, oldest first."""
        target = self.max_tokens * BACK_TO
        hopeless = self._hopeless(entries, target)
        if hopeless:
            self._go_cold(entries[:hopeless])
            entries = entries[hopeless:]
        known = {entry.id for entry in self.live}
        self.warm(entries, target)
        made = [entry for entry in self.live if entry.id not in known]
        self.cold(sorted([entry for entry in entries if entry in self.live] + made, key=lambda entry: entry.at), target)

    def _hopeless(self, entries: list[Entry], target: float) -> int:
        """How many of the oldest need no summary: those of the rest alone will take all the room there is."""
        rest = sum(entry.tokens for entry in entries)
        for count, entry in enumerate(entries):
            if LEAST * rest <= target or entry.form == "cold":
                return count
            rest -= entry.tokens
        return len(entries)

    def warm(self, entries: Iterable[Entry], target: float) -> None:
        """Put summaries in the place of raw entries, oldest first, until the size is down to the target."""
        left = [entry for entry in entries if entry.form == "raw"]
        while left and self.size + self.adding > target:
            count = self._enough(left, self.size + self.adding - target)
            group, left = left[:count], left[count:]
            self._summarise(group)

    def _enough(self, entries: list[Entry], too_much: float) -> int:
        saved = 0.0
        for count, entry in enumerate(entries[:GROUP], 1):
            saved += entry.tokens * SAVES
            if saved >= too_much:
                return count
        return min(GROUP, len(entries))

    def _summarise(self, group: list[Entry]) -> None:
        """One summary for the group; they stay raw if it would lose something, or would not be worth it."""
        found = summarising.extracts(group)
        ident = self.tx.new_id("entry")
        self.put_summary(group, ident, summarising.summary_of(found, ident), found)

    def put_summary(self, group: list[Entry], ident: str, text: str, found: list[summarising.Extract]) -> bool:
        """Whether this text took the place of the group: not if it loses a reference, or is hardly smaller."""
        tokens = tokens_of(text)
        if tokens > WORTH * sum(entry.tokens for entry in group) or summarising.lost(found, text):
            return False
        self._archive(group, ident)
        self._put(Entry(ident, "summary", text, None, tokens, group[-1].at, "warm"))
        self.summaries += 1
        return True

    def cold(self, entries: Iterable[Entry], target: float) -> None:
        """Move entries out of sight, oldest first, until the size is down to the target; a line and a pointer stay."""
        gone: list[Entry] = []
        size = self.size + self.adding
        if size <= target:
            return
        line = next((entry.tokens for entry in self.live if entry.form == "cold"), 0)
        size += max(0, int(self.max_tokens * COLD_SHARE) - line)
        for entry in entries:
            if size <= target:
                break
            if entry.form != "cold":
                gone.append(entry)
                size -= entry.tokens
        if gone:
            self._go_cold(gone)

    def _go_cold(self, gone: list[Entry]) -> None:
        index = next((entry for entry in self.live if entry.form == "cold"), None)
        ident = index.id if index is not None else self.tx.new_id("entry")
        self._archive(gone, ident)
        self.moved += len(gone)
        self._since = min([entry.at for entry in gone] + ([self._since] if self._since is not None else []))
        text = self._cold_text(ident)
        if index is not None:
            self._drop(index)
        tokens = tokens_of(text)
        if index is not None:
            self.tx.run(REWRITE, id=ident, text=text, tokens=tokens, at=index.at)
            self._note(index._replace(text=text, tokens=tokens))
        elif self.size + tokens <= self.max_tokens * BACK_TO:
            self._put(Entry(ident, "summary", text, None, tokens, gone[0].at, "cold"))

    def _cold_text(self, ident: str) -> str:
        """How much is out of sight since when, and a line for each of the last things, as many as there is room for."""
        known = state(self.tx, self.agent)
        count = (known.cold_entries if known is not None else 0) + self.moved
        since = known.cold_since if known is not None and known.cold_since is not None else self._since
        head = f"Out of sight: {count} entries since {when(since or self.tx.now)}, all kept; recall finds them by words, time or id."
        lines = [self._cold_line(entry_of(row)) for row in self.tx.all(COLD_LINES, shown_in=ident, limit=LINES)]
        room = self.max_tokens * COLD_SHARE
        while lines and tokens_of("\n".join([head, *lines])) > room:
            lines.pop()
        return "\n".join([head, *lines[::-1]])

    @staticmethod
    def _cold_line(entry: Entry) -> str:
        return f"- {when(entry.at)} {entry.id}: {summarising.shortened(' '.join(entry.text.split()), LINE_CHARS)}"

    def emergency(self) -> str | None:
        """Keep the note of what must stay and the last entries that fit; why even the note alone is too much, if it is (C3)."""
        self.emergencies += 1
        note = note_of(self._pinned, self.agent, self.tx.now)
        tokens = tokens_of(note)
        why = _why_too_large(tokens, self.max_tokens)
        if why is not None:
            note, tokens = self._fitting(note, int(self.max_tokens * BACK_TO))
        self._keep_the_last(max(0, int(self.max_tokens * BACK_TO) - tokens - self.adding))
        if self.size + tokens <= self.max_tokens:
            self._put(Entry(self.tx.new_id("entry"), "summary", note, None, tokens, self.tx.now, "pinned"))
        self._tell()
        return why

    def within_bound(self) -> None:
        """Whatever was kept: what is too much for the bound goes, the oldest first (C3a)."""
        while self.size > self.max_tokens:
            self._archive([self.live[0]], None)

    @staticmethod
    def _fitting(note: str, most: int) -> tuple[str, int]:
        while (tokens := tokens_of(note)) > most and len(note) > 20:
            note = summarising.shortened(note, int(len(note) * min(0.9, most / tokens)))
        return note, tokens

    def _keep_the_last(self, room: int) -> None:
        """Only the newest entries that fit into so many tokens stay, and the line about what is out of sight."""
        gone: list[Entry] = []
        full = False
        for entry in reversed(self.live):
            if entry.form == "cold":
                continue
            full = full or (entry.form != "pinned" and entry.tokens > room)
            if full or entry.form == "pinned":
                gone.append(entry)
            else:
                room -= entry.tokens
        if gone:
            self._go_cold(gone[::-1])

    def _tell(self) -> None:
        """The event, and a word to the buddy with the pointer, once an hour at most."""
        known = state(self.tx, self.agent)
        found = roster.seek(self.tx, self.agent)
        told = known is not None and known.told_at is not None and self.tx.now - known.told_at < TOLD_S
        if found is not None and found.buddy and not told:
            notify(
                self.tx,
                found.buddy,
                f"{self.agent}'s context was cut back",
                f"{self.agent}'s context was about to exceed its bound. What must stay is kept; the rest is in its archive:"
                f" `covey context recall {self.agent} TEXT` finds it.",
                data={"agent": self.agent, "pointer": f"/api/v1/contexts/{self.agent}/recall"},
            )
        self.tx.run(EMERGENCY, agent=self.agent, told_at=None if told else self.tx.now)

    def _archive(self, entries: list[Entry], shown_in: str | None) -> None:
        for entry in entries:
            archive(self.tx, entry, shown_in)
            self._drop(entry)
        self.archived += len(entries)

    def _drop(self, entry: Entry) -> None:
        self.live.remove(entry)
        self.size -= entry.tokens

    def _put(self, entry: Entry) -> None:
        add(self.tx, self.agent, entry)
        self._note(entry)

    def _note(self, entry: Entry) -> None:
        self.live.append(entry)
        self.live.sort(key=lambda each: each.at)
        self.size += entry.tokens

    def end(self, why: str, too_large: str | None, *, aged: bool = False) -> Compressed:
        """Keep the account, say what happened."""
        tier = "emergency" if self.emergencies else "cold" if self.moved else "warm" if self.summaries else "none"
        if self.archived or not aged:
            self.tx.run(COMPRESSED, agent=self.agent, size=self.size + self.adding, now=self.tx.now, cold=self.moved, since=self._since)
        news: dict[str, Any] = {"before": self.before, "size": self.size, "entries": self.archived, "max": self.max_tokens, "why": why}
        if self.summaries:
            self.tx.happened("context.compressed", agent=self.agent, summaries=self.summaries, **news)
        if self.moved:
            self.tx.happened("context.archived", agent=self.agent, moved=self.moved, **news)
        if self.emergencies:
            self.tx.happened("context.emergency", agent=self.agent, too_large=too_large is not None, **news)
        return Compressed(self.before, self.size, self.archived, self.summaries, tier, too_large)  # type: ignore[arg-type]
