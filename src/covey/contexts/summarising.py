"""Summaries by extraction: always the same for the same entries, and checked to lose no id, URL or path (C2, C4). Pure.

Of each entry stay its time, kind, source and speaker, its first sentence, and the sentences that decide, leave open, or say what comes
next; what else has a reference is kept as that reference. Nothing is put in other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from covey.contexts.model import Entry
from covey.contexts.references import missing, references

FIRST_CHARS = 160
SENTENCE_CHARS = 240
DECISION_CHARS = 600
SENTENCES = 3
SHARE = 0.35
"""Of an entry's text so much is kept in sentences, at least FIRST_CHARS and beside the references."""

_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
_KEPT = re.compile(
    r"\b(?:decid|agreed|decision|approv|conclu|must|will\b|todo|to do\b|next\b|then\b|open\b|pending|blocked|wait|need|deadline|due\b"
    r"|question|unclear|fail|error|fixed|done\b|finished|delivered|wrote|created|result)|\?|决定|下一步|待办|決定|次の|未解決|결정|다음",
)


class Extract(NamedTuple):
    """An entry, and the references that its summary must have."""

    entry: Entry
    wanted: list[str]


def extracts(entries: Sequence[Entry]) -> list[Extract]:
    """The entries with their references."""
    return [Extract(entry, references(entry.text)) for entry in entries]


def summary_of(found: Sequence[Extract], pointer: str) -> str:
    """The summary of some raw entries, oldest first. `pointer` is its own id, by which `recall` finds them whole."""
    entries = [each.entry for each in found]
    head = f"Summary of {len(entries)} entries, {when(entries[0].at)} to {when(entries[-1].at)} (whole: recall {pointer})"
    return "\n".join([head, *map(_line, found)])


def lost(found: Sequence[Extract], text: str) -> list[str]:
    """What of the entries a summary must have and has not: ids, URLs, paths, and where each came from."""
    wanted = dict.fromkeys(word for each in found for word in (*each.wanted, *sources_of(each.entry)))
    return missing(wanted, text)


def sources_of(entry: Entry) -> list[str]:
    """The ids that an entry says it comes from, as `msg_1` or, of one that was merged, `ops: msg_1`."""
    return references(entry.source) or entry.source.split() if entry.source else []


def when(at: float) -> str:
    """A time as a summary tells it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def _line(found: Extract) -> str:
    """One entry's line. What is cut away has its references listed after what is kept."""
    entry = found.entry
    told = " ".join(_kept(entry))
    rest = missing(found.wanted, told)
    refs = f" [also: {' '.join(rest)} ]" if rest else ""
    source = f" {entry.source} " if entry.source else " "
    return f"- {when(entry.at)[11:]} {entry.kind}{source}: {told}{refs}"


def _kept(entry: Entry) -> list[str]:
    if entry.kind == "decision":
        return [shortened(" ".join(entry.text.split()), DECISION_CHARS)]
    found: list[str] = []
    room = FIRST_CHARS
    for part in _END.split(entry.text):
        if found and (room <= 0 or len(found) > SENTENCES or not _KEPT.search(part.lower())):
            continue
        sentence = " ".join(part.split())
        if sentence:
            first = not found
            found.append(shortened(sentence, FIRST_CHARS if first else min(SENTENCE_CHARS, max(room, 60))))
            room = (int(len(entry.text) * SHARE) if first else room) - len(found[-1])
    return found


def shortened(text: str, chars: int) -> str:
    """The beginning of a text, whole words, with `…` where something is cut away."""
    if len(text) <= chars:
        return text
    head = text[:chars]
    cut = head.rfind(" ")
    return (head[:cut] if cut > chars // 2 else _no_part_of_a_word(head)) + " …"


def _no_part_of_a_word(head: str) -> str:
    """A text without blanks is cut anywhere, but not inside a run of letters and digits of ours."""
    whole = re.sub(r"[\w./:@%+=~#-]+\Z", "", head, flags=re.ASCII)
    return whole or head[:20]
