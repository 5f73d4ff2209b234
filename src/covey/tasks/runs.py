"""Runs: each try of a brain on a task or message, with its process, so that it can be ended and told from its successor (K4c)."""

from __future__ import annotations

from typing import NamedTuple

from covey.store import Row, Transaction, relaxed, statement

OPEN = statement(__package__, "run_open")
STARTED = statement(__package__, "run_started")
CLOSE = statement(__package__, "run_close")
OPEN_OF = statement(__package__, "runs_open_of")
OF_ITEM = statement(__package__, "runs_of_item")
FIND = statement(__package__, "run_find")
PAGE = statement(__package__, "runs_page")

LAST = "~"
"""After every id."""


class Page(NamedTuple):
    """A part of all runs, and the cursor of the next one."""

    items: list[Row]
    cursor: str | None


def open_run(tx: Transaction, run_id: str, *, item: str, kind: str, agent: str, node: str, attempt: int) -> None:
    """Store a run before its brain starts. `kind` is message, digest, task, split or summary; `item` is the id of what it works on."""
    tx.run(OPEN, id=run_id, item=item, kind=kind, agent=agent, node=node, attempt=attempt, now=tx.now)


@relaxed
def started(tx: Transaction, run_id: str, *, pid: int, pgid: int, start_ticks: int, boot_id: str) -> None:
    """The process that thinks runs; stored before it gets its input."""
    tx.run(STARTED, id=run_id, pid=pid, pgid=pgid, start_ticks=start_ticks, boot_id=boot_id, now=tx.now)


def close(
    tx: Transaction, run_id: str, outcome: str, *, cost_usd: float | None = None, tokens: int | None = None, exit_code: int | None = None
) -> None:
    """The run has ended: done, failed, split, waiting, returned, lost. What it cost is told, if its brain named that."""
    row = tx.one(CLOSE, id=run_id, outcome=outcome, cost_usd=cost_usd, tokens=tokens, exit_code=exit_code, now=tx.now)
    if row is not None and (cost_usd or tokens):
        tx.happened("run.priced", agent=row.agent, subject=row.item, run=run_id, work=row.kind, usd=cost_usd, tokens=tokens)


def open_of(tx: Transaction, agent: str) -> list[Row]:
    """An agent's runs that have not ended: rows of id, item, kind, node, pid, pgid, start_ticks, boot_id."""
    return tx.all(OPEN_OF, agent=agent)


def of_item(tx: Transaction, item: str) -> list[Row]:
    """All tries on a task or message, in order."""
    return tx.all(OF_ITEM, item=item)


def find(tx: Transaction, run_id: str) -> Row | None:
    """One run, or None."""
    return tx.one(FIND, id=run_id)


def page(tx: Transaction, *, before: str = LAST, limit: int = 50) -> Page:
    """Runs, downwards by id from one on: nearly the latest first."""
    rows = tx.all(PAGE, before=before, limit=limit + 1)
    return Page(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)
