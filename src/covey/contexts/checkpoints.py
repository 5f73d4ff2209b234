"""Checkpoints: where an agent stood after the last thing it handled, from which a restart and a fresh session begin (C5, C5a).

The live context is in the store anyway; a checkpoint says up to what it was the agent's own work, and what is still open.
"""

from __future__ import annotations

from typing import NamedTuple

from covey.contexts.compressing import tidy
from covey.contexts.emergency import recheck
from covey.contexts.entries import decisions
from covey.contexts.pinning import note_of, pinned
from covey.contexts.reading import size_of
from covey.contexts.sessions import begin_afresh
from covey.contexts.summarising import shortened, when
from covey.store import Transaction, statement

SAVE = statement(__package__, "save_checkpoint")
FIND = statement(__package__, "checkpoint")
SUMMARY_CHARS = 1000
DECISIONS = 5


class Checkpoint(NamedTuple):
    """Where an agent stood: what it handled last, what came of it, and the state of its context then."""

    at: float
    run_id: str | None
    item: str
    outcome: str
    summary: str
    version: int
    last_entry: int
    size: int


def save(tx: Transaction, agent: str, *, item: str, outcome: str, summary: str, run_id: str | None = None, max_tokens: int = 8192) -> None:
    """The agent has handled this; what has grown old in its context moves on, and an error of its context ends if it can (C2, C5)."""
    tidy(tx, agent, max_tokens)
    recheck(tx, agent, max_tokens)
    said = shortened(" ".join(summary.split()), SUMMARY_CHARS)
    tx.run(SAVE, agent=agent, now=tx.now, run_id=run_id, item=item, outcome=outcome, summary=said)


def load(tx: Transaction, agent: str) -> Checkpoint | None:
    """The agent's checkpoint; None if it has handled nothing yet."""
    row = tx.one(FIND, agent=agent)
    return Checkpoint(*row) if row is not None else None


def restore(tx: Transaction, agent: str) -> Checkpoint | None:
    """The checkpoint that a new process of the agent begins from; its brain's next turn starts a session afresh from it (C5)."""
    found = load(tx, agent)
    if found is not None:
        begin_afresh(tx, agent)
        tx.happened("context.restored", agent=agent, subject=found.item, checkpoint_at=found.at, size=size_of(tx, agent))
    return found


def told(tx: Transaction, agent: str) -> str:
    """The checkpoint in words: what a fresh session begins from, beside the context itself."""
    found = load(tx, agent)
    lines = [note_of(pinned(tx, agent), agent, None)]
    if found is not None:
        lines.append(f"Handled last, {when(found.at)}: {found.item} ({found.outcome}){': ' if found.summary else ''}{found.summary}")
    made = decisions(tx, agent, DECISIONS)
    if made:
        lines += ["Latest decisions:", *(f"- {shortened(' '.join(each.text.split()), SUMMARY_CHARS)}" for each in reversed(made))]
    return "\n".join(lines)
