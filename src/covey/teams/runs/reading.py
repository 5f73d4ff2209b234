"""Team runs as they stand, read only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from covey.base.errors import NotFound
from covey.store import Row, Transaction, statement
from covey.teams.counting import same
from covey.teams.decomposing import aggregated
from covey.teams.runs import choosing
from covey.teams.runs.grouping import Group, groups_of
from covey.teams.runs.heads import head_of
from covey.teams.runs.model import EVERYTHING, Bound, TeamDraft, TeamPart, TeamRun, TeamStep, TeamWorker

FIND = statement(__package__, "find")
LIST = statement(__package__, "list")
STEPS = statement(__package__, "steps")
RESULTS = statement(__package__, "results")
COUNTS = statement(__package__, "counts")


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[TeamRun]
    cursor: int | None


def seek(tx: Transaction, ident: str) -> Row | None:
    """The row of a run, or None."""
    return tx.one(FIND, id=ident)


def found(tx: Transaction, ident: str) -> Row:
    """The row of a run.

    Raises:
        NotFound: There is no such run.
    """
    row = seek(tx, ident)
    if row is None:
        raise NotFound(f"there is no team run {ident!r}; `covey team list` lists ids.", field="id")
    return row


def show(tx: Transaction, ident: str, *, results: bool = True, bound: Bound = EVERYTHING) -> TeamRun:
    """One run: its steps with their results word for word as far as the bound allows, its workers, what they came to together.

    Without `results` an open run is shown without them, for who looks often.

    Raises:
        NotFound: There is no such run.
    """
    row = found(tx, ident)
    draft, names = draft_of(row), names_of(row)
    steps = steps_of(tx, ident, results=results or row.ended_at is not None, bound=bound)
    run = _run(row, draft, Counter(step.state for step in steps)["done"], len(steps))
    run.results = steps
    run.workers = _workers(tx, names, steps)
    run.teams = [_part(group, steps) for group in groups_of(names, draft.span)]
    # answers of which only a part is known can't be told to be the same
    known = not any(step.left_out and step.success for step in steps)
    run.comparison = compared(steps) if draft.mode == "broadcast" and known else None
    if run.is_open:
        whole = aggregated([result_of(step) for step in steps])
        run.quality_score, run.summary = whole["quality_score"], whole["summary"]
    return run


def listed(tx: Transaction, *, state: str | None = None, by: str | None = None, before: int | None = None, limit: int = 50) -> Page:
    """Runs, newest first, without their steps; of one state, of one creator, or all. State `open` is planning or working."""
    rows = tx.all(LIST, state=state or "", by=by or "", before=before or 1 << 62, limit=limit + 1)
    items = []
    for row in rows[:limit]:
        counts = tx.one(COUNTS, run_id=row.id)
        items.append(_run(row, draft_of(row), counts.done if counts else 0, counts.total if counts else 0))
    return Page(items, rows[limit - 1].seq if len(rows) > limit else None)


def draft_of(row: Row) -> TeamDraft:
    """What was asked for."""
    return msgspec.json.decode(row.draft, type=TeamDraft)


def names_of(row: Row) -> list[str]:
    """The workers of a run."""
    return msgspec.json.decode(row.workers, type=list[str])


def _run(row: Row, draft: TeamDraft, done: int, total: int) -> TeamRun:
    return TeamRun(
        team_id=row.id,
        goal=draft.goal,
        type=draft.type,
        mode=draft.mode,
        state=row.state,
        success=row.state == "done",
        quality_score=row.quality or 0.0,
        summary=row.summary or "",
        why=row.why,
        note=row.note,
        done=done,
        total=total,
        planned_by=row.planned_by,
        supervisor=draft.supervisor,
        created_by=row.created_by,
        created_at=row.created_at,
        ended_at=row.ended_at,
    )


def steps_of(tx: Transaction, ident: str, *, results: bool = True, bound: Bound = EVERYTHING) -> list[TeamStep]:
    """The steps of a run in order; their results word for word as far as the bound allows, what is beyond it is not read."""
    rows = tx.all(STEPS, run_id=ident)
    room, last = bound.whole, 0
    for row in rows if results else []:
        room -= min(row.size, bound.each)
        if room < 0:
            break
        last = row.place if row.size else last
    found = {row.place: row.result for row in tx.all(RESULTS, run_id=ident, last=last, each=bound.each)} if last else {}
    return [_step(row, found.get(row.place)) for row in rows]


def _step(row: Row, result: str | None) -> TeamStep:
    cut = result is not None and len(result) < row.size
    return TeamStep(
        step=row.place,
        type=row.kind,
        description=row.description,
        state=row.state,
        worker=row.holder or row.agent or row.worker,
        task_id=row.task_id,
        needs=msgspec.json.decode(row.needs),
        attempts=row.attempts or 0,
        failed_by=msgspec.json.decode(row.failed_by) if row.failed_by else [],
        started_at=row.claimed_at,
        finished_at=row.finished_at,
        progress=row.progress,
        result={"summary": head_of(result)} if cut and result else msgspec.json.decode(result) if result else None,
        result_chars=row.size,
        left_out=row.size > 0 and (result is None or cut),
        error=row.error or row.task_error,
    )


def _workers(tx: Transaction, names: Sequence[str], steps: Sequence[TeamStep]) -> list[TeamWorker]:
    mine: dict[str, Counter[str]] = {name: Counter() for name in names}
    for step in steps:
        if step.worker:
            mine.setdefault(step.worker, Counter())[step.state] += 1
    known = {each.name: each for each in choosing.workers(tx, list(mine))}
    return [
        TeamWorker(
            agent=name,
            done=states["done"],
            failed=states["failed"],
            open=states["out"],
            tasks_completed=known[name].completed if name in known else 0,
            average_response_s=known[name].task_s if name in known else 0.0,
        )
        for name, states in mine.items()
    ]


def result_of(step: TeamStep) -> dict[str, Any]:
    """A step as the pure rules take it."""
    summary = str((step.result or {}).get("summary", ""))
    return {"success": step.success, "summary": summary, "worker": step.worker, "subtask_type": step.type, "error": step.error}


def _part(group: Group, steps: Sequence[TeamStep]) -> TeamPart:
    inside = [_part(each, steps) for each in group.groups]
    names = {*group.workers, *(name for part in inside for name in _all_workers(part))}
    mine = [step for step in steps if step.worker in names]
    whole = aggregated([result_of(step) for step in mine])
    return TeamPart(
        supervisor=group.lead,
        workers=list(group.workers),
        teams=inside,
        steps=[step.step for step in mine],
        quality_score=whole["quality_score"],
        summary=whole["summary"],
    )


def _all_workers(part: TeamPart) -> list[str]:
    return [*part.workers, *(name for each in part.teams for name in _all_workers(each))]


def compared(steps: Sequence[TeamStep]) -> dict[str, Any]:
    """The results of a broadcast side by side: each different answer with who gave it, and the share of the most frequent one. Pure.

    Answers that look alike, whatever their spaces and case, are one.
    """
    given: dict[str, list[TeamStep]] = {}
    for step in steps:
        if step.success:
            given.setdefault(" ".join(same(str((step.result or {}).get("summary", ""))).casefold().split()), []).append(step)
    ranked = sorted(given.values(), key=lambda each: (-len(each), each[0].step))
    total = sum(map(len, ranked))
    answers = [{"answer": (each[0].result or {}).get("summary", ""), "workers": [step.worker for step in each]} for each in ranked]
    return {"agreement": len(ranked[0]) / total if total else 0.0, "answers": answers}
