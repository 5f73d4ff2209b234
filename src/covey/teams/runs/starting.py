"""A run begins: its draft is checked, a plan is asked for or made by rule, and its first steps go out (Q2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from covey.agents import configuring, roster
from covey.agents.model import Caller
from covey.base import tracing
from covey.base.errors import Conflict, Forbidden, IdTaken, Invalid
from covey.messages.sending import lock_id
from covey.store import Row, Transaction, statement
from covey.teams.runs import asking, closing, collecting, driving, laying, reading
from covey.teams.runs.model import MOST_WORKERS, Step, TeamDraft, TeamRun, check

ADD_RUN = statement(__package__, "add_run")


class Begun(NamedTuple):
    """The id of a run, whether it was there before (`known`), and whether it was begun with other words then (`differs`)."""

    team_id: str
    known: bool = False
    differs: bool = False


def start(tx: Transaction, draft: TeamDraft, by: Caller) -> TeamRun:
    """As `begin`; the run as it stands then.

    Raises:
        CoveyError: As there.
    """
    begun = begin(tx, draft, by)
    run = reading.show(tx, begun.team_id)
    run.known, run.differs = begun.known, begun.differs
    return run


def begin(tx: Transaction, draft: TeamDraft, by: Caller) -> Begun:
    """The run, begun; a known id answers with the first one (T3).

    Raises:
        Invalid, TooLarge: The draft is of the wrong form.
        Unknown, Gone: There is no such worker or supervisor; the nearest names are said.
        NoWorker: Nobody of the workers is able to do a step; who in the fleet is, is said.
        IdTaken: Its id is somebody else's.
    """
    check(draft)
    known = _known(tx, draft, by)
    if known is not None:
        return known
    _check_workers(tx, draft)
    configuring.check_project(tx, draft.project_id, "projectId")
    ident = draft.team_id or tx.new_id("team")
    workers = draft.workers or []
    row = tx.one(
        ADD_RUN,
        id=ident,
        draft=msgspec.json.encode(draft).decode(),
        workers=msgspec.json.encode(workers).decode(),
        planned_by=None,
        created_by=by.name,
        now=tx.now,
    )
    span = tx.span()
    with tx.at(span):
        told = {"by": by.name, "head": draft.goal[:120], "mode": draft.mode} | tracing.told(span)
        tx.happened("team.started", agent=draft.supervisor, subject=ident, workers=workers, **told)
        if not asking.ask(tx, row, draft, by):
            driving.begin(laying.cut(tx, row, None, "caller" if draft.parts else "rules"))
    return Begun(ident)


def _known(tx: Transaction, draft: TeamDraft, by: Caller) -> Begun | None:
    if draft.team_id is None:
        return None
    lock_id(tx, draft.team_id)
    row = reading.seek(tx, draft.team_id)
    if row is None:
        return None
    if row.created_by != by.name:
        raise IdTaken(f"teamId {draft.team_id!r} is taken by a run of {row.created_by}; bring another one or none.", field="teamId")
    return Begun(row.id, known=True, differs=reading.draft_of(row) != draft)


def _check_workers(tx: Transaction, draft: TeamDraft) -> None:
    if draft.supervisor is not None:
        roster.find(tx, draft.supervisor, field="supervisor")
    for place, part in enumerate(draft.parts):
        if part.worker is not None:
            roster.find(tx, part.worker, field=f"parts[{place}].worker")
            if draft.workers is not None and part.worker not in draft.workers:
                raise Invalid(
                    f"parts[{place}].worker is {part.worker!r}; the workers are {', '.join(draft.workers)}.",
                    field=f"parts[{place}].worker",
                    nearest=draft.workers,
                )
    if draft.workers is None:
        return
    if not draft.workers:
        names = roster.all_names(tx)
        raise Invalid(
            f"workers is empty; name at least one of {', '.join(names[:20])}, or leave it out.", field="workers", nearest=names[:20]
        )
    if len(draft.workers) > MOST_WORKERS:
        raise Invalid(f"workers has {len(draft.workers)} names; at most {MOST_WORKERS} are taken.", field="workers")
    for name in draft.workers:
        roster.find(tx, name, field="workers")
    if len(set(draft.workers)) != len(draft.workers):
        raise Invalid(f"workers is {', '.join(draft.workers)}; name each once.", field="workers")


def take_plan(tx: Transaction, task_id: str, steps: Sequence[Step], planner: str) -> None:
    """A brain's plan is the run's from now on; its first steps go out.

    Raises:
        Conflict: The run does not wait for it any more.
        NoWorker: Nobody is able to do a step.
    """
    row = _awaiting(tx, task_id)
    driving.begin(laying.cut(tx, row, steps, planner))


def _awaiting(tx: Transaction, task_id: str) -> Row:
    ident = asking.run_of_plan(tx, task_id)
    if ident is not None:
        tx.lock("team", ident)
    if ident is None or asking.run_of_plan(tx, task_id) != ident:
        raise Conflict(f"no team run waits for the plan that {task_id} makes.", task=task_id)
    return reading.found(tx, ident)


def cancel(tx: Transaction, ident: str, by: Caller, reason: str = "") -> TeamRun:
    """The run, cancelled with its open tasks.

    Raises:
        NotFound, Forbidden, Conflict: No such run, not the caller's, or ended already.
    """
    tx.lock("team", ident)
    row = reading.found(tx, ident)
    if not by.commands and row.created_by != by.name:
        raise Forbidden(f"{ident} is a run of {row.created_by}, and the token is {by.name}'s.")
    if row.ended_at is not None:
        raise Conflict(f"{ident} has ended: it is {row.state}.", state=row.state)
    why = reason or f"cancelled by {by.name}"
    asking.drop(tx, row, why)
    collecting.give_up(tx, row, why)
    closing.end(tx, row, why, cancelled=True)
    return reading.show(tx, ident)
