"""The emergency of a context: only what must stay is kept, the buddy is told, and if even that is too much it is an error (C3, A3)."""

from __future__ import annotations

from covey.agents import roster
from covey.contexts import summarising
from covey.contexts.model import BACK_TO, WARN_AT, Entry
from covey.contexts.pinning import note_of, pinned
from covey.contexts.reading import state, too_large
from covey.contexts.shrinking import Compression
from covey.contexts.tokens import tokens_of
from covey.messages.sending import notify
from covey.store import Transaction, statement

TOO_LARGE = statement(__package__, "too_large")
EMERGENCY = statement(__package__, "emergency")

TOLD_S = 3600.0
"""The buddy is told once in so long at most."""


def cut_back(step: Compression) -> str | None:
    """Keep the note of what must stay and the last entries that fit; why even the note alone is too much, if it is (C3)."""
    step.emergencies += 1
    note = note_of(step.pinned, step.agent, step.tx.now)
    tokens = tokens_of(note)
    why = _why_too_large(tokens, step.max_tokens)
    if why is not None:
        note, tokens = _fitting(note, int(step.max_tokens * BACK_TO))
    _keep_the_last(step, max(0, int(step.max_tokens * BACK_TO) - tokens - step.adding))
    if step.size + tokens <= step.max_tokens:
        step.put(Entry(step.tx.new_id("entry"), "summary", note, None, tokens, step.tx.now, "pinned"))
    _tell(step)
    return why


def _fitting(note: str, most: int) -> tuple[str, int]:
    while (tokens := tokens_of(note)) > most and len(note) > 20:
        note = summarising.shortened(note, int(len(note) * min(0.9, most / tokens)))
    return note, tokens


def _keep_the_last(step: Compression, room: int) -> None:
    """Only the newest entries that fit into so many tokens stay, and the line about what is out of sight."""
    gone: list[Entry] = []
    full = False
    for entry in reversed(step.live):
        if entry.form == "cold":
            continue
        full = full or (entry.form != "pinned" and entry.tokens > room)
        if full or entry.form == "pinned":
            gone.append(entry)
        else:
            room -= entry.tokens
    if gone:
        step.go_cold(gone[::-1])


def _tell(step: Compression) -> None:
    """The event, and a word to the buddy with the pointer, once an hour at most."""
    known = state(step.tx, step.agent)
    found = roster.seek(step.tx, step.agent)
    told = known is not None and known.told_at is not None and step.tx.now - known.told_at < TOLD_S
    if found is not None and found.buddy and not told:
        notify(
            step.tx,
            found.buddy,
            f"{step.agent}'s context was cut back",
            f"{step.agent}'s context was about to exceed its bound. What must stay is kept; the rest is in its archive:"
            f" `covey context recall {step.agent} TEXT` finds it.",
            data={"agent": step.agent, "pointer": f"/api/v1/contexts/{step.agent}/recall"},
        )
    step.tx.run(EMERGENCY, agent=step.agent, told_at=None if told else step.tx.now)


def recheck(tx: Transaction, agent: str, max_tokens: int) -> None:
    """End the error of a context that was too large, once what must be kept fits again (A3)."""
    if too_large(tx, agent) is not None:
        note = note_of(pinned(tx, agent), agent, tx.now)
        set_too_large(tx, agent, _why_too_large(tokens_of(note), max_tokens))


def set_too_large(tx: Transaction, agent: str, why: str | None) -> None:
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
