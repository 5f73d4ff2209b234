"""One kind of table for every list of the console: columns, filters, sorting, pages by cursor; the same rows as CSV and JSON.

A page declares a `Table` and takes its `operations`; `downloads` and `bulk` work on the same declaration. Pure, but for the handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console.rendering import render
from covey.console.routes import shared
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction

SHOWN = 100
"""Rows of one page."""
MOST = 10_000
"""A file holds so many rows at most."""


class Query(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What every table can be asked: words to look for, a column to sort by (`-name` downwards), where to go on. A table adds its own."""

    q: str = ""
    sort: str = ""
    cursor: str = ""


R = TypeVar("R")
Q = TypeVar("Q", bound=Query)


@dataclass(frozen=True, kw_only=True)
class Column(Generic[R]):
    """One column: what files hold of a row (`value`), and what the page shows of it (`cell`), if that differs."""

    name: str
    title: str
    value: Callable[[R], Any]
    cell: Callable[[R], Any] | None = None
    sorts: bool = False
    number: bool = False
    words: bool = False
    """Whether it is somebody's text, which takes the room that is left."""
    spare: bool = False
    """Whether a narrow screen does without it."""

    @property
    def look(self) -> str:
        """The classes of its cells."""
        return " ".join(name for name in ("number", "words", "spare") if getattr(self, name))

    def shown(self, row: R) -> Any:
        """What stands in the cell."""
        return (self.cell or self.value)(row)


class Filter(NamedTuple):
    """One field of the query that a person may set: free words, or one of these options (empty is any)."""

    name: str
    label: str
    options: Sequence[str] = ()
    any: str = "any"


class Slice(NamedTuple, Generic[R]):
    """Some rows, where the next ones begin (None at the end), and how many there are in all, where that is known."""

    items: Sequence[R]
    cursor: str | None = None
    total: int | None = None


Read = Callable[[Transaction, Q, Settings, int], Slice[R]]
"""What reads the rows that a query asks for: so many at most, from its cursor on."""


@dataclass(frozen=True, kw_only=True)
class Table(Generic[Q, R]):
    """A list of the console. `path` is its page; its rows are below `path/~rows`."""

    name: str
    path: str
    caption: str
    query: type[Q]
    read: Read[Q, R]
    columns: Sequence[Column[R]]
    filters: Sequence[Filter] = ()
    live: str = "*"
    """The beginnings of the kinds of events that change it."""
    about: str = ""
    empty: str = "Nothing here."
    """What to do next where there are no rows."""
    open: Callable[[R], str] | None = None
    """The page of a row, which its first cell leads to."""
    mark: Callable[[R], str] = field(default=lambda _: "")
    acts: Sequence[tuple[str, str]] = ()
    """What can be done to all rows that match: the name of a bulk action, and what its button says."""

    @property
    def rows_path(self) -> str:
        """Where its rows are fetched. No id has a tilde, so that no row's page can stand there."""
        return f"{self.path.rstrip('/')}/~rows"


def text_of(query: Query, **changed: Any) -> str:
    """A query as it stands in an address, what is as by default left out. Pure."""
    found = msgspec.to_builtins(query) | changed
    return urlencode({name: value for name, value in found.items() if value not in ("", None, False)})


def rows_of(table: Table[Q, R], query: Q, found: Slice[R]) -> Markup:
    """The rows as a part of a page. Pure."""
    return render("rows.html", table=table, query=query, found=found, address_of=lambda **changed: text_of(query, **changed))


async def table_rows(call: Call[Any, Any], table: Table[Q, R], query: Q) -> Markup:
    """The rows that a query asks for, read and rendered."""
    return rows_of(table, query, await call.door.store.read(table.read, query, call.door.settings, SHOWN))


async def get_rows(call: Call[Q, Nothing], table: Table[Q, R]) -> Answer:
    """The rows as their page fetches them; a change of the filter goes into the page's own address."""
    answer = await shared(call, lambda: table_rows(call, table, call.query))
    if call.headers.get(b"hx-source", b"").startswith(b"div#"):  # the part itself, fetching itself again
        return answer
    here = table.path + (f"?{text}" if (text := text_of(call.query)) else "")
    return answer._replace(headers=(*answer.headers, (b"hx-replace-url", here.encode())))


def sliced(found: Sequence[R], query: Query, columns: Sequence[Column[R]], limit: int) -> Slice[R]:
    """The rows of a list that is there as a whole: sorted by a column of the query, from its cursor on. Pure.

    Raises:
        Invalid: There is no such column, or no such cursor.
    """
    name = query.sort.removeprefix("-")
    if name:
        column = next((each for each in columns if each.name == name and each.sorts), None)
        if column is None:
            raise Invalid(
                f"sort is {query.sort[:60]!r}; rows sort by {', '.join(each.name for each in columns if each.sorts)}.", field="sort"
            )
        found = sorted(found, key=lambda row: _rank(column.value(row)), reverse=query.sort.startswith("-"))
    start = cursor_of(query)
    end = start + limit
    return Slice(found[start:end], str(end) if end < len(found) else None, len(found))


def cursor_of(query: Query) -> int:
    """The cursor as a number; 0 where there is none.

    Raises:
        Invalid: It is no number.
    """
    if query.cursor and not (query.cursor.isascii() and query.cursor.isdecimal() and len(query.cursor) < 19):
        raise Invalid(f"cursor is {query.cursor[:60]!r}; take it from the page before.", field="cursor")
    return int(query.cursor or 0)


def _rank(value: Any) -> tuple[int, Any]:
    """Rows without a value come first; numbers before words."""
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, int | float) else (2, str(value).casefold())
