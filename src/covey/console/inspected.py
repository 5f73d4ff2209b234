"""Inspect: tables of what the store holds, to be read alone. One is a `Table` and a sentence; its page and files come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.routes import Operations, page
from covey.console.tables import Table, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing


@dataclass(frozen=True)
class Inspected:
    """A table to be inspected, and what stands in it."""

    table: Table[Any, Any]
    says: str

    async def whole(self, call: Call[Any, Nothing]) -> Answer:
        """The page."""
        rows = await table_rows(call, self.table, call.query)
        return console_of(call).whole(call, "inspect/table.html", table=self.table, says=self.says, query=call.query, rows=rows)

    @property
    def operations(self) -> Operations:
        """The page, its rows, its files."""
        return (page(self.table.path, self.whole, f"{self.table.caption}.", query=self.table.query), *operations_of(self.table))
