"""SQL text: one statement a file beside its feature, one text for both databases.

A file `sql/claim.sql` is read once, by `statement(__package__, "claim")`. Parameters are `:name`. What only PostgreSQL
is to see stands in `/*postgres: … */`; what only SQLite is to see in `/*sqlite*/ … /*end*/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any

_FOR_POSTGRES = re.compile(r"/\*postgres:(.*?)\*/", re.DOTALL)
_FOR_SQLITE = re.compile(r"/\*sqlite\*/.*?/\*end\*/", re.DOTALL)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_WRITING = frozenset({"INSERT", "UPDATE", "DELETE"})
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class Statement:
    """One SQL statement in both spellings. `make` turns a row into a named tuple; the connection fills it in.

    `values` puts parameters into the order in which SQLite numbers them: bound by place they cost a fifth less than by name.
    `is_quiet`: it writes what nobody waits for (a sign of life, how far a reader has got), so that no poll looks because of it.
    """

    __slots__ = ("is_quiet", "make", "name", "postgres", "sqlite", "values", "writes")

    def __init__(self, name: str, text: str, *, is_quiet: bool = False) -> None:
        bare = _COMMENT.sub("", text).strip()
        self.name = name
        self.is_quiet = is_quiet
        self.sqlite = _FOR_POSTGRES.sub("", bare)
        self.postgres = to_postgres(bare)
        self.writes = _writes(_BLOCK.sub("", self.sqlite).upper())
        self.values = _in_order(dict.fromkeys(_PARAMETER.findall(self.sqlite)))
        self.make: Any = None

    def __repr__(self) -> str:
        return f"<Statement {self.name}>"


def _in_order(names: Iterable[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    match tuple(names):
        case ():
            return lambda _: ()
        case (name,):
            return lambda params: (params[name],)
        case several:
            return itemgetter(*several)


def _writes(text: str) -> bool:
    first = text.lstrip("( \n").split(None, 1)[0]
    return first in _WRITING or (first == "WITH" and not _WRITING.isdisjoint(re.findall(r"\w+", text)))


def to_postgres(text: str) -> str:
    """The text as psycopg takes it: `%(name)s` parameters, PostgreSQL's own parts in, SQLite's out."""
    text = _FOR_SQLITE.sub("", text)
    text = _FOR_POSTGRES.sub(r"\1", text).replace("%", "%%")
    return _PARAMETER.sub(r"%(\1)s", text)


def statement(package: str | None, name: str, *, is_quiet: bool = False) -> Statement:
    """The statement in `sql/NAME.sql` of a feature's package."""
    return Statement(f"{package}:{name}", (_folder(package) / f"{name}.sql").read_text(encoding="utf-8"), is_quiet=is_quiet)


def _folder(package: str | None) -> Path:
    spec = find_spec(package) if package else None
    if spec is None or spec.origin is None:
        raise LookupError(f"{package} is not a package on disk")
    return Path(spec.origin).parent / "sql"
