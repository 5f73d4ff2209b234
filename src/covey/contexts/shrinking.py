"""How a context shrinks: raw entries into summaries, and what is oldest out of sight, step by step (C2, C3, C4).

Only entries as they were said are ever summarised. What leaves the live context is archived at once, with the name of what stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from covey.contexts import summarising
from covey.contexts.archive import add, archive, entry_of
from covey.contexts.model import BACK_TO, COLD_SHARE, HOT_S, Compressed, Entry
from covey.contexts.pinning import pinned
from covey.contexts.reading import live, state
from covey.contexts.summarising import when
from covey.contexts.tokens import tokens_of
from covey.store import Transaction, statement

BEGIN = statement(__package__, "begin")
COMPRESSED = statement(__package__, "compressed")
REWRITE = statement(__package__, "rewrite")
COLD_LINES = statement(__package__, "cold_lines")

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


def begin(tx: Transaction, agent: str) -> None:
    """The agent's context has a record from now on, if it had none."""
    tx.run(BEGIN, agent=agent)


class Compression:
    """One compression at work: the live entries, and how large they are by now."""

    def __init__(self, tx: Transaction, agent: str, max_tokens: int, adding: int) -> None:
        self.tx, self.agent, self.max_tokens, self.adding = tx, agent, max_tokens, adding
        self.live = live(tx, agent)
        self.size = self.before = sum(entry.tokens for entry in self.live)
        self.archived = self.summaries = self.moved = self.emergencies = 0
        self._since: float | None = None
        self.pinned = pinned(tx, agent)

    def unpinned(self, but_last: int = 0) -> list[Entry]:
        """The live entries that are of nothing open, oldest first, but for the newest ones of so many tokens."""
        fresh = self.tx.now - HOT_S
        found = [entry for entry in self.live if entry.source not in self.pinned.ids and not (entry.form == "pinned" and entry.at > fresh)]
        while found and found[-1].form == "raw" and found[-1].tokens <= but_last:
            but_last -= found.pop().tokens
        return found

    def shrink(self, entries: list[Entry]) -> None:
        """Bring the whole down to half its bound, as far as these allow: by summaries, then out of sight, oldest first."""
        target = self.max_tokens * BACK_TO
        hopeless = self._hopeless(entries, target)
        if hopeless:
            self.go_cold(entries[:hopeless])
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
        self.put(Entry(ident, "summary", text, None, tokens, group[-1].at, "warm"))
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
            self.go_cold(gone)

    def go_cold(self, gone: list[Entry]) -> None:
        """Archive these, oldest first, and have the one line about what is out of sight tell of them."""
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
            self.put(Entry(ident, "summary", text, None, tokens, gone[0].at, "cold"))

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

    def within_bound(self) -> None:
        """Whatever was kept: what is too much for the bound goes, the oldest first (C3a)."""
        while self.size > self.max_tokens:
            self._archive([self.live[0]], None)

    def _archive(self, entries: list[Entry], shown_in: str | None) -> None:
        for entry in entries:
            archive(self.tx, entry, shown_in)
            self._drop(entry)
        self.archived += len(entries)

    def _drop(self, entry: Entry) -> None:
        self.live.remove(entry)
        self.size -= entry.tokens

    def put(self, entry: Entry) -> None:
        """Add an entry that stands for others."""
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
