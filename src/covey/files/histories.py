"""What an export writes beside mail, tasks, entries, links and events, as the operator sees it (S4).

Incidents, votes, handoffs and team runs, newest first; and in one file how the fleet stood: budgets, checkpoints, breakers, paused
threads, who watches whom. They are records for people and programs. An import leaves them alone: what was open in one fleet is not open
in another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple

from covey.agents import breaking, roster
from covey.agents.model import THE_OPERATOR
from covey.buddies import reading as buddies
from covey.contexts import checkpoints
from covey.healing import reading as incidents
from covey.messages import pausing
from covey.reports import spending
from covey.store import Store, Transaction
from covey.teams.handoffs import reading as handoffs
from covey.teams.runs import reading as runs
from covey.teams.votes import reading as votes

PAGE = 100


class Part(NamedTuple):
    """Some records of one kind, and the cursor of those before them (None: there are none)."""

    items: Sequence[Any]
    cursor: int | None


Paged = Callable[[Transaction, int | None], Part]


def _incidents(tx: Transaction, before: int | None) -> Part:
    return Part(*incidents.page(tx, before=before, limit=PAGE))


def _votes(tx: Transaction, before: int | None) -> Part:
    return Part(*votes.listed(tx, THE_OPERATOR, before=before, limit=PAGE))


def _handoffs(tx: Transaction, before: int | None) -> Part:
    return Part(*handoffs.listed(tx, THE_OPERATOR, before=before, limit=PAGE))


def _teams(tx: Transaction, before: int | None) -> Part:
    page = runs.listed(tx, before=before, limit=PAGE)
    return Part([runs.show(tx, each.team_id) for each in page.items], page.cursor)


HISTORIES: dict[str, Paged] = {"incidents": _incidents, "votes": _votes, "handoffs": _handoffs, "teams": _teams}
"""What each file `NAME.jsonl` holds."""


async def pages(store: Store, part_of: Paged) -> AsyncIterator[Sequence[Any]]:
    """All records of one kind, newest first, each page from a snapshot of its own."""
    before: int | None = None
    while True:
        found = await store.read(part_of, before)
        if found.items:
            yield found.items
        if found.cursor is None:
            return
        before = found.cursor


def standing(tx: Transaction) -> dict[str, Any]:
    """How the fleet stood: what belongs to no one list."""
    saved = {name: checkpoints.load(tx, name) for name in roster.all_names(tx)}
    return {
        "budgets": spending.overview(tx),
        "checkpoints": {name: found._asdict() for name, found in saved.items() if found is not None},
        "breakers": [found._asdict() for found in breaking.opened(tx).values()],
        "pausedThreads": [row._asdict() for row in pausing.pauses(tx, limit=10_000).items],
        "buddies": buddies.everyone(tx),
    }
