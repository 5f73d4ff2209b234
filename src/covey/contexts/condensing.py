"""Summaries by a model: asked for outside of any transaction, taken only if nothing changed meanwhile and nothing is lost (C4).

A text that drops an id, a URL or a path is refused, and the summary by extraction takes its place.
"""

from __future__ import annotations

from typing import NamedTuple

from covey.contexts import summarising
from covey.contexts.model import Entry
from covey.contexts.reading import live, state
from covey.contexts.shrinking import GROUP, Compression, begin
from covey.contexts.summarising import when
from covey.store import Transaction

ASK_AT = 0.6
"""From so much of its bound on a context is worth a model's summary; by extraction it is compressed at 80 %."""
WORTH_ASKING = 0.05
"""So much of the bound the entries must have together."""


class Wanted(NamedTuple):
    """Entries that are to be summarised, and the version of the context in which they were found."""

    version: int
    entries: list[Entry]


def wanted(tx: Transaction, agent: str, max_tokens: int) -> Wanted | None:
    """The oldest raw entries of a context that fills; None while there is room, or too little to say."""
    there = live(tx, agent)
    if sum(entry.tokens for entry in there) <= ASK_AT * max_tokens:
        return None
    step = Compression(tx, agent, max_tokens, 0)
    group = [entry for entry in step.unpinned(but_last=max_tokens // 4) if entry.form == "raw"][:GROUP]
    if sum(entry.tokens for entry in group) < WORTH_ASKING * max_tokens:
        return None
    return Wanted(_version(tx, agent), group)


def put(tx: Transaction, agent: str, asked: Wanted, text: str | None, max_tokens: int) -> bool:
    """Whether a model's text was taken as the summary of what was asked for.

    Nothing happens if the context was compressed meanwhile. A text that loses something, or none at all (None), is refused: the
    summary by extraction stands for the entries then.
    """
    tx.lock("mailbox", agent)
    if _version(tx, agent) != asked.version:
        tx.happened("context.summary_dropped", agent=agent, why="the context was compressed meanwhile")
        return False
    step = Compression(tx, agent, max_tokens, 0)
    found = summarising.extracts(asked.entries)
    ident = tx.new_id("entry")
    head = f"Summary of {len(found)} entries, {when(asked.entries[0].at)} to {when(asked.entries[-1].at)} (whole: recall {ident})"
    taken = text is not None and bool(text.strip()) and step.put_summary(asked.entries, ident, f"{head}\n{text.strip()}", found)
    if not taken:
        lost = summarising.lost(found, text) if text else []
        tx.happened("context.summary_refused", agent=agent, lost=lost[:20], why=_why_refused(text, lost))
        step.put_summary(asked.entries, ident, summarising.summary_of(found, ident), found)
    begin(tx, agent)
    step.end("a model's summary", None)
    return taken


def _why_refused(text: str | None, lost: list[str]) -> str:
    if not text:
        return "the brain gave none"
    return f"it drops {', '.join(lost[:5])}" if lost else "it is hardly shorter than what it stands for"


def _version(tx: Transaction, agent: str) -> int:
    known = state(tx, agent)
    return known.version if known is not None else 0
