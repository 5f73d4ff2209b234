"""A run's steps are laid down, by a plan or by rule, and its workers with them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from covey.agents import roster
from covey.base.errors import Invalid
from covey.store import Row, Transaction, statement
from covey.teams.runs import choosing, cutting, reading
from covey.teams.runs.looking import Look
from covey.teams.runs.model import Step

ADD_STEP = statement(__package__, "add_step")
CUT = statement(__package__, "cut")


def cut(tx: Transaction, row: Row, plan: Sequence[Step] | None, planned_by: str, note: str | None = None) -> Look:
    """A look at the run, once its steps are stored, by a plan or by rule, and who does them, picked where nobody was named.

    Raises:
        NoWorker: Nobody is able to do a step.
    """
    draft, names = reading.draft_of(row), reading.names_of(row)
    candidates = choosing.workers(tx, names or roster.all_names(tx))
    if draft.mode == "broadcast" and not names:
        names = choosing.pick([cutting.probe_of(draft)], candidates, draft.span, draft.supervisor)
    steps = list(plan) if plan is not None else cutting.steps_of(draft, names)
    if not steps:
        raise choosing.no_worker(tx, cutting.probe_of(draft), candidates)
    if draft.mode == "broadcast":
        for step in steps:
            choosing.check_able(tx, [step], [each for each in candidates if each.name == step.wanted], strict=draft.strict)
    else:
        choosing.check_able(tx, steps, candidates, strict=draft.strict)
    names = names or choosing.pick(steps, candidates, draft.span, draft.supervisor) or [each.name for each in candidates[: draft.span]]
    for step in steps:
        tx.run(
            ADD_STEP,
            run_id=row.id,
            place=step.place,
            kind=step.kind,
            description=step.description,
            capabilities=msgspec.json.encode(step.capabilities).decode(),
            wanted=step.wanted,
            needs=msgspec.json.encode(step.needs).decode(),
        )
    found = tx.one(CUT, id=row.id, workers=msgspec.json.encode(names).decode(), planned_by=planned_by, note=note)
    tx.happened("team.planned", agent=draft.supervisor, subject=row.id, by=planned_by, steps=len(steps), workers=names, note=note)
    return Look(tx, found, [each for each in candidates if each.name in names])


def fall_back(tx: Transaction, row: Row, why: str) -> str | None:
    """No plan came of it: rules cut the goal up instead, and the run says so. Why that can't be, if nobody is able to do it."""
    said = f"no plan came from {reading.draft_of(row).supervisor}: {why}"[:2000]
    try:
        with tx.attempt():
            cut(tx, row, None, "rules", f"{said}; rules cut it up instead")
    except Invalid as error:
        return f"{said}; and {error.message}"
    return None
