"""All operations of a table: its rows as a part of its page, and as files."""

from __future__ import annotations

from covey.console import downloads, tables
from covey.console.routes import Operations, page
from covey.console.tables import Q, R, Table
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing


def operations_of(table: Table[Q, R]) -> Operations:
    """What can be asked of a table."""

    async def rows(call: Call[Q, Nothing]) -> Answer:
        return await tables.get_rows(call, table)

    async def as_csv(call: Call[Q, Nothing]) -> Answer:
        return await downloads.get_csv(call, table)

    async def as_json(call: Call[Q, Nothing]) -> Answer:
        return await downloads.get_json(call, table)

    return (
        page(table.rows_path, rows, f"{table.caption}: the rows.", query=table.query),
        page(f"{table.rows_path}.csv", as_csv, f"{table.caption}: as CSV.", query=table.query),
        page(f"{table.rows_path}.json", as_json, f"{table.caption}: as JSON.", query=table.query),
    )
