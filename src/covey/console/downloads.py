"""The rows of a table as a file: CSV for a spreadsheet, JSON for a program. The same query, the same rows, one snapshot."""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec

from covey.base.settings import Settings
from covey.console.rendering import POLICY
from covey.console.tables import MOST, SHOWN, Q, R, Slice, Table
from covey.doors.answer import JSON, Answer, Headers
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction

CSV = b"text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def whole(tx: Transaction, table: Table[Q, R], query: Q, settings: Settings, most: int = MOST) -> Slice[R]:
    """All rows that a query asks for, whatever page it stands at; so many at most, and then where they would go on."""
    found: list[R] = []
    cursor: str | None = ""
    while cursor is not None and len(found) < most:
        page = table.read(tx, msgspec.structs.replace(query, cursor=cursor), settings, min(SHOWN * 5, most - len(found)))
        found += page.items
        cursor = page.cursor
    return Slice(found, cursor, len(found))


async def get_csv(call: Call[Q, Nothing], table: Table[Q, R]) -> Answer:
    """The rows for a spreadsheet, which must not take a text for a formula."""
    found = await call.door.store.read(whole, table, call.query, call.door.settings)
    out = io.StringIO()
    write = csv.writer(out).writerow
    write([column.name for column in table.columns])
    for row in found.items:
        write([_cell(column.value(row)) for column in table.columns])
    return Answer(200, out.getvalue().encode(), CSV, _as_file(table.name, "csv", found))


async def get_json(call: Call[Q, Nothing], table: Table[Q, R]) -> Answer:
    """The rows for a program; `more` says whether there are more than a file holds."""
    found = await call.door.store.read(whole, table, call.query, call.door.settings)
    items = [{column.name: column.value(row) for column in table.columns} for row in found.items]
    body = msgspec.json.encode({"items": items, "more": found.cursor is not None})
    return Answer(200, body, JSON, _as_file(table.name, "json", found))


def _as_file(name: str, end: str, found: Slice[Any]) -> Headers:
    more: Headers = ((b"x-covey-more", b"true"),) if found.cursor is not None else ()
    return (*POLICY, (b"content-disposition", f'attachment; filename="covey-{name}.{end}"'.encode()), *more)


def _cell(value: Any) -> str:
    """A value as a cell of a spreadsheet. Pure."""
    if isinstance(value, bool | int | float) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    elif not isinstance(value, str):
        value = msgspec.json.encode(value).decode()
    return f"'{value}" if value.startswith(_FORMULA) else value
