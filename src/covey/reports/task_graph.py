"""What a task hangs together with: what it needs, what needs it, parts and wholes, some steps in each direction. Read only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from covey.reports.phrases import head
from covey.store import Transaction, statement
from covey.tasks import reading

EDGES = statement(__package__, "task_edges")

MOST = 40
"""So many tasks at most."""
TIES = 60
"""So many ties of one task at most."""


class Knot(NamedTuple):
    """A task in the graph."""

    id: str
    text: str
    state: str


class Tie(NamedTuple):
    """`earlier` comes before `later`: it is needed by it, or is a part of it."""

    earlier: str
    later: str
    is_part: bool
    met: bool


class Graph(NamedTuple):
    """Tasks and what ties them; `more` if there are others beyond."""

    knots: list[Knot]
    ties: list[Tie]
    more: bool


def around(tx: Transaction, ident: str) -> Graph:
    """The tasks that hang together with one, the nearest first."""
    ties: dict[Tie, None] = {}
    seen, line, more = {ident: None}, [ident], False
    while line:
        found = tx.all(EDGES, id=(here := line.pop(0)), limit=TIES)
        more = more or len(found) == TIES
        for row in found:
            other = row.earlier if row.later == here else row.later
            if other not in seen:
                if len(seen) == MOST:
                    more = True
                    continue
                seen[other] = None
                line.append(other)
            ties[Tie(row.earlier, row.later, row.tie == "part", bool(row.met))] = None
    rows = [row for each in seen if (row := reading.seek(tx, each)) is not None]
    return Graph([Knot(row.id, head(row.description, 120), row.state) for row in rows], _told_once(ties), more)


def _told_once(ties: Iterable[Tie]) -> list[Tie]:
    """The ties without those that a whole has to its parts twice: it needs them, too. Pure."""
    found = list(ties)
    parts = {(tie.earlier, tie.later) for tie in found if tie.is_part}
    return [tie for tie in found if tie.is_part or (tie.earlier, tie.later) not in parts]
