"""Where a team run stands, and what it waits for (Q2, K8). All from the store."""

from __future__ import annotations

from collections import Counter
from typing import Any

from covey.reports.in_line import Told
from covey.reports.phrases import when
from covey.store import Row, Transaction, statement

TEAM = statement(__package__, "team")
STEPS = statement(__package__, "team_steps")


def seek(tx: Transaction, ident: str) -> Row | None:
    """The row of a team run, or None."""
    return tx.one(TEAM, id=ident)


def explain(tx: Transaction, row: Row) -> Told:
    """The sentences and the facts."""
    states, out = Counter[str](), Counter[str]()
    for each in tx.all(STEPS, id=row.id):
        states[each.state] += each.n
        if each.state == "out":
            out[each.worker] += each.n
    facts: dict[str, Any] = {"state": row.state, "steps": dict(states), "with": dict(out), "quality": row.quality, "why": row.why}
    said = [f"{row.id} is a team run of {row.created_by}, {row.state}."]
    if row.state == "planning":
        said.append(f"It has no steps yet: {row.plan_task} makes its plan.")
    else:
        said.append(_steps(states, out, row))
    said += [f"{text[:1].upper()}{text[1:]}." for text in (row.why, row.note) if text]
    if row.ended_at is not None:
        said.append(f"It ended {when(row.ended_at, tx.now)}.")
    return said, facts


def _steps(states: Counter[str], out: Counter[str], row: Row) -> str:
    done = f"{states['done']} of its {states.total()} steps are done"
    rest = [
        f"{states[state]} {word}" for state, word in (("failed", "failed"), ("skipped", "were skipped"), ("cancelled", "were cancelled"))
    ]
    with_whom = ", ".join(f"{name} ({count})" for name, count in sorted(out.items()))
    rest += [f"{states['out']} are with {with_whom}", f"{states['waiting']} wait"]
    counts = [states[state] for state in ("failed", "skipped", "cancelled", "out", "waiting")]
    quality = f" (quality {row.quality:.2f})" if row.quality is not None else ""
    return ", ".join([done, *(text for text, count in zip(rest, counts, strict=True) if count)]) + f"{quality}."
