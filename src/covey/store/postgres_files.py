"""Backup files of a PostgreSQL store: its rows, as one moment of them, in an SQLite database; and back from there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import psycopg
from psycopg import sql

from covey.base.progress import Tell, silent
from covey.store import snapshots
from covey.store.migrate import migrations
from covey.store.sqlite_errors import plain_errors

_ROWS = 2000
_PLACES = "CREATE TEMP TABLE ordered AS SELECT xid, seq, row_number() OVER (ORDER BY xid, seq) AS place FROM events"
_MARKS = "UPDATE bookmarks SET xid = 0, seq = (SELECT count(*) FROM ordered o WHERE (o.xid, o.seq) <= (bookmarks.xid, bookmarks.seq)) + ?"
_RENUMBER = """
INSERT INTO events (seq, xid, at, kind, agent, subject, data)
SELECT o.place + ?, 0, e.at, e.kind, e.agent, e.subject, e.data FROM events e JOIN ordered o USING (seq) ORDER BY o.place
"""
_RESET = "SELECT setval(pg_get_serial_sequence(%s, 'seq'), coalesce((SELECT max(seq) FROM {}), 0) + 1)"


def write(db: psycopg.Connection[Any], path: Path, tell: Tell = silent) -> None:
    """Write what a PostgreSQL store holds at this moment to a file, which is there whole or not at all."""
    with snapshots.fresh_file(path) as part, plain_errors(part), contextlib.closing(apsw.Connection(str(part))) as copy:
        for migration in migrations():
            copy.execute(migration.sqlite)
        with copy, db.transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            db.execute("SET LOCAL statement_timeout = 0")
            found = tables(copy)
            for place, (table, columns) in enumerate(found, 1):
                _fetch(db, copy, table, columns)
                tell("copying the store's tables", place, len(found))
            _straighten(copy)


def tables(copy: apsw.Connection) -> list[tuple[str, list[str]]]:
    """The tables of a store and their columns, but for the indexes of words, which each database keeps in its own way."""
    names = [row[0] for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    plain = [name for name in names if not name.startswith(("sqlite_", "message_words", "entry_words"))]
    return [(name, [row[1] for row in copy.execute(f"PRAGMA table_info({name})")]) for name in plain]


def _fetch(db: psycopg.Connection[Any], copy: apsw.Connection, table: str, columns: list[str]) -> None:
    marks = ", ".join("?" for _ in columns)
    copy.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of our own schema
    order = sql.SQL(" ORDER BY xid, seq") if table == "events" else sql.SQL("")
    with db.cursor(name="backup") as cursor:
        cursor.itersize = _ROWS
        cursor.execute(
            sql.SQL("SELECT {} FROM {}{}").format(sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table), order)
        )
        for rows in _parts(iter(cursor)):
            copy.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608 - names of our own schema


def _parts(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while part := list(islice(rows, _ROWS)):
        yield part


def _straighten(copy: apsw.Connection) -> None:
    """Number the events in the order of their commits, and the bookmarks with them: a number of a transaction means nothing elsewhere."""
    (last,) = copy.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone() or (0,)
    copy.execute(_PLACES)
    copy.execute(_MARKS, (last,))
    copy.execute(_RENUMBER, (last,))
    copy.execute("DELETE FROM events WHERE seq <= ?", (last,))
    copy.execute("DROP TABLE ordered")
    copy.execute("UPDATE entries SET indexed = 0")


def put_in_place(db: psycopg.Connection[Any], path: Path, tell: Tell = silent) -> None:
    """Make a PostgreSQL store one with a backup file, in one transaction; the schema must be there already."""
    with snapshots.opened(path, tell) as copy, plain_errors(path), db.transaction():
        db.execute("SET LOCAL statement_timeout = 0")
        found = tables(copy)
        names = sql.SQL(", ").join(sql.Identifier(table) for table, _ in found)
        db.execute(sql.SQL("TRUNCATE message_words, entry_words, {}").format(names))
        for place, (table, columns) in enumerate(found, 1):  # as they were created: what is referred to comes first
            _send(db, copy, table, columns)
            if "seq" in columns and table != "bookmarks":
                db.execute(sql.SQL(_RESET).format(sql.Identifier(table)), (table,))
            tell("copying the store's tables", place, len(found))
        db.execute("UPDATE entries SET indexed = 0")
        db.execute("UPDATE clock SET boot_id = '', ahead = 0, floor = coalesce((SELECT max(at) FROM events), 0)")


def _send(db: psycopg.Connection[Any], copy: apsw.Connection, table: str, columns: list[str]) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    with db.cursor() as cursor, cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)) as rows:
        for row in copy.execute(f"SELECT {', '.join(columns)} FROM {table}"):  # noqa: S608 - names of our own schema
            rows.write_row(row)


def faults_of(db: psycopg.Connection[Any], tell: Tell = silent) -> list[str]:
    """What is not sound in a PostgreSQL store, a sentence each."""
    there = {row[0] for row in db.execute("SELECT name FROM migrations")} if _exists(db, "migrations") else set()
    missing = [
        f"the step {each.name} of the schema is missing; `covey db migrate` does it" for each in migrations() if each.name not in there
    ]
    return missing or _unreadable(db, tell)


def _unreadable(db: psycopg.Connection[Any], tell: Tell) -> list[str]:
    found = []
    db.execute("SET statement_timeout = 0")
    names = _names(db)
    for place, name in enumerate(names, 1):
        try:
            db.execute(sql.SQL("SELECT count(t.*) FROM {} t").format(sql.Identifier(name)))
        except psycopg.errors.DatabaseError as error:
            found.append(f"the table {name} can't be read: {error}")
        tell("reading the store's tables", place, len(names))
    return found


def vacuum(db: psycopg.Connection[Any], tell: Tell = silent) -> None:
    """Make room that is no longer used free in each table of a PostgreSQL store, and count anew for the planner."""
    db.execute("SET statement_timeout = 0")
    names = _names(db)
    for place, name in enumerate(names, 1):
        db.execute(sql.SQL("VACUUM (ANALYZE, SKIP_LOCKED) {}").format(sql.Identifier(name)))
        tell("giving room back", place, len(names))


def _names(db: psycopg.Connection[Any]) -> list[str]:
    rows = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
    return [name for (name,) in rows.fetchall()]


def _exists(db: psycopg.Connection[Any], table: str) -> bool:
    row = db.execute("SELECT to_regclass(%s)", (table,)).fetchone()
    return row is not None and row[0] is not None
