"""The end of a run: what its results come to, and who is told; the operator gets them word for word (Q2, Q6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from covey.agents.model import OPERATOR
from covey.base.wire import fit
from covey.messages import sending
from covey.store import Row, Transaction, statement
from covey.tasks.ending import RESULT_BYTES
from covey.teams.decomposing import SUCCESS_AT, aggregated
from covey.teams.runs import reading
from covey.teams.runs.model import TeamDraft, TeamStep, bell_of

END = statement(__package__, "end")

LETTER_BYTES = 180_000
MOST_LETTERS = 50
"""A run's results fill so many letters at most; the rest is said to be in the run."""


def end(tx: Transaction, row: Row, why: str | None = None, *, cancelled: bool = False) -> None:
    """Close a run, locked before, by its steps' results; tell whoever asked for it, and the operator."""
    draft, steps = reading.draft_of(row), reading.steps_of(tx, row.id)
    whole = aggregated([reading.result_of(step) for step in steps])
    quality: float = whole["quality_score"]
    state: Literal["done", "failed", "cancelled"] = "done" if quality >= SUCCESS_AT else "failed"
    state = "cancelled" if cancelled else state
    summary, done = fit(whole["summary"], RESULT_BYTES), sum(step.state == "done" for step in steps)
    tx.run(END, id=row.id, state=state, quality=quality, summary=summary, why=why, now=tx.now)
    tx.happened(f"team.{state}", agent=draft.supervisor, subject=row.id, quality=round(quality, 4), done=done, of=len(steps), why=why)
    tx.ring(bell_of(row.id, "news"))
    tx.ring(bell_of(row.id, "end"))
    head = f"{row.id} is {state}: {done} of {len(steps)} steps are done (quality {quality:.2f}). {why or ''}".strip()
    _tell(tx, row, draft, f"Team run {state}: {draft.goal[:200]}", head, summary, steps)


def _tell(tx: Transaction, row: Row, draft: TeamDraft, subject: str, head: str, summary: str, steps: Sequence[TeamStep]) -> None:
    if row.created_by != OPERATOR:
        sending.notify(tx, row.created_by, subject, f"{head}\n\n{summary}", related_tasks=_tasks(steps), prompts=True)
    if draft.forward if draft.forward is not None else row.created_by == OPERATOR:
        letters = pages([f"{head}\n", *map(verbatim, steps)], LETTER_BYTES)
        for number, body in enumerate(letters[:MOST_LETTERS], 1):
            of = f" ({number} of {len(letters)})" if len(letters) > 1 else ""
            sending.notify(tx, OPERATOR, subject + of, body, related_tasks=_tasks(steps))
        if len(letters) > MOST_LETTERS:
            sending.notify(tx, OPERATOR, subject, f"The rest is in the run: covey team show {row.id}")


def _tasks(steps: Sequence[TeamStep]) -> list[str]:
    return [step.task_id for step in steps if step.task_id][:100]


def verbatim(step: TeamStep) -> str:
    """A step's result, word for word, under a line that says whose it is. Pure."""
    result = step.result or {}
    words = f"Its result is the one of {step.task_id}." if step.left_out else str(result.get("summary", ""))
    data = f"\n{msgspec.json.encode(result['data']).decode()}" if result.get("data") else ""
    said = f"{words}{data}" if step.success else f"{step.error or 'no reason was given'}"
    return f"--- step {step.step}, {step.type}, by {step.worker or 'nobody'}: {step.state}\n{said}\n"


def pages(texts: Sequence[str], most: int) -> list[str]:
    """These texts one after the other, in pieces of so many bytes at most; joined they are the texts word for word. Pure."""
    whole = "\n".join(texts)
    raw = whole.encode()
    if len(raw) <= most:
        return [whole]
    found, start = [], 0
    while start < len(raw):
        end = min(start + most, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:
            end -= 1
        found.append(raw[start:end].decode())
        start = end
    return found
