"""Something done to all rows that a filter matches. The question states how many and which; both are checked again before it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from covey.agents.model import Caller
from covey.base.errors import ChangedMeanwhile, CoveyError, Invalid
from covey.base.settings import Settings
from covey.base.wire import convert
from covey.console.asking import confirm, tell
from covey.console.downloads import whole
from covey.console.routes import Form, Operations, act, done, page
from covey.console.shown import many
from covey.console.tables import Q, R, Table, text_of
from covey.doors.answer import Answer
from covey.doors.call import Call, fields_of
from covey.doors.operations import Nothing
from covey.store import Transaction

AT_ONCE = 500
"""So many rows at most: it is one transaction, and others wait for it."""


class BulkForm(Form):
    """What the question's form sends back: how many, and the filter, as they were shown."""

    count: int
    filter: str


@dataclass(frozen=True, kw_only=True)
class Bulk(Generic[Q, R]):
    """An action on all rows of a table that match. `verb` does it to one row."""

    table: Table[Q, R]
    name: str
    title: str
    """With the number and noun put in at `{}`: `Cancel {}`."""
    noun: str
    explain: str
    past: str
    """What was done to them: `cancelled`."""
    verb: Callable[[Transaction, R, Caller], Any]
    grave: bool = True

    @property
    def operations(self) -> Operations:
        """The question, and what is done."""
        path = f"{self.table.rows_path}/{self.name}"
        return (
            page(path, self.ask, f"Ask before: {self.title.format('all that match')}.", query=self.table.query),
            act(path, self.do, self.title.format("all that match"), takes=BulkForm),
        )

    async def ask(self, call: Call[Q, Nothing]) -> Answer:
        """How many it would be, and which."""
        found = await call.door.store.read(whole, self.table, call.query, call.door.settings, AT_ONCE + 1)
        count = len(found.items)
        if count == 0:
            return tell(call, "Nothing to do", "No row matches this filter any more.")
        if count > AT_ONCE:
            return tell(call, "Too many at once", f"More than {AT_ONCE} rows match. Narrow the filter: so many are done at once at most.")
        return confirm(
            call,
            title=f"{self.title.format(many(count, self.noun))}?",
            lines=[f"Filter: {filter_in_words(self.table, call.query)}.", self.explain],
            action=f"{self.table.rows_path}/{self.name}",
            hidden={"count": count, "filter": text_of(call.query, cursor="", sort="")},
            go=self.title.format(many(count, self.noun)),
            grave=self.grave,
        )

    async def do(self, call: Call[Nothing, BulkForm]) -> Answer:
        """Do it to exactly those; if they are not as many as was said, to none."""
        query = convert(self.table.query, fields_of(call.body.filter.encode(), "filter"), strict=False)
        came = await call.door.store.write(self.to_all, query, call.door.settings, call.body.count, call.by)
        text = f"{many(came.done, self.noun)} {self.past}."
        if came.refused:
            text = f"{text} {came.refused:,} refused: {came.why}"
        return done(call, text, "good" if not came.refused else "bad", 200)

    def to_all(self, tx: Transaction, query: Q, settings: Settings, count: int, by: Caller) -> Came:
        """What came of it, row by row, in one transaction.

        Raises:
            ChangedMeanwhile: Not so many match now; nothing was done.
        """
        if not 0 < count <= AT_ONCE:
            raise Invalid(f"count is {count}; it is 1 to {AT_ONCE}.", field="count")
        rows = whole(tx, self.table, query, settings, AT_ONCE + 1).items
        if len(rows) != count:
            raise ChangedMeanwhile(
                f"{many(len(rows), self.noun)} match now, not {count:,}; nothing was done. Look again, then decide.", field="count"
            )
        refused = [why for row in rows if (why := self._to_one(tx, row, by)) is not None]
        return Came(count - len(refused), len(refused), refused[0] if refused else "")

    def _to_one(self, tx: Transaction, row: R, by: Caller) -> str | None:
        """Why it was refused; None if it was done."""
        try:
            with tx.attempt():
                self.verb(tx, row, by)
        except CoveyError as error:
            return error.message
        return None


class Came(NamedTuple):
    """What came of a bulk action."""

    done: int
    refused: int
    why: str


def filter_in_words(table: Table[Q, R], query: Q) -> str:
    """What a query asks for, as a person reads it. Pure."""
    asked = [(each.label.lower(), getattr(query, each.name)) for each in table.filters]
    return ", ".join(f"{label} “{value}”" for label, value in asked if value) or "none, so all rows"
