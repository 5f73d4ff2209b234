"""One look at a run, locked before: its rows, and what is read of it when it is needed."""

from __future__ import annotations

from functools import cached_property

import msgspec

from covey.agents.model import OPERATOR, Caller
from covey.store import Row, Transaction, statement
from covey.teams.runs import choosing, reading
from covey.teams.runs.choosing import Worker
from covey.teams.runs.model import Step

STATES = statement(__package__, "states")


class Look:
    """A run within one transaction."""

    def __init__(self, tx: Transaction, row: Row, workers: list[Worker] | None = None) -> None:
        self.tx = tx
        self.row = row
        self.draft = reading.draft_of(row)
        if workers is not None:
            self.workers = workers
        self.by = Caller("operator" if row.created_by == OPERATOR else "agent", row.created_by)

    @cached_property
    def names(self) -> list[str]:
        """Its workers' names."""
        return reading.names_of(self.row)

    @cached_property
    def workers(self) -> list[Worker]:
        """Its workers as they stand now; who was removed from the fleet is left out."""
        return choosing.workers(self.tx, self.names)

    @cached_property
    def states(self) -> dict[int, str]:
        """How each step stands; to be asked once what has ended is collected."""
        return {row.place: row.state for row in self.tx.all(STATES, run_id=self.row.id)}


def step_of(row: Row) -> Step:
    """The step of a row."""
    capabilities, needs = msgspec.json.decode(row.capabilities), msgspec.json.decode(row.needs)
    return Step(row.place, row.kind, row.description, tuple(capabilities), row.wanted, tuple(needs))
