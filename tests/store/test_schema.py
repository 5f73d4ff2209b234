"""Stores that earlier versions made are brought up to date, with all that is in them."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg
import pytest

from covey.store.postgres import PostgresEngine
from covey.store.sqlite import SqliteEngine
from covey.version import __version__
from tests import schemas
from tests.conftest import ManualClock
from tests.postgres import Databases
from tests.rules import rule

AGENT = "INSERT INTO agents (id, place, role, host, port, buddy, owner, organisation, brain, capabilities, settings, created_at) VALUES"
ROW = " ('coder', 1, 'Coder', '127.0.0.1', 8002, 'ops', '', '', 'rules', '[]', '{}', 7)"


def shape_of_sqlite(path: Path) -> list[tuple[object, ...]]:
    """All tables and indexes, word for word."""
    db = apsw.Connection(str(path))
    found = [
        tuple(row) for row in db.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")
    ]
    db.close()
    return found


def shape_of_postgres(url: str) -> list[tuple[object, ...]]:
    """All columns and indexes."""
    with psycopg.connect(url) as db:
        columns = db.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns"
            " WHERE table_schema = 'public' ORDER BY table_name, column_name"
        ).fetchall()
        return [
            *columns,
            *db.execute("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname").fetchall(),
        ]


@rule("N4")
@pytest.mark.parametrize("old", schemas.released("sqlite"), ids=lambda path: path.name)
def test_an_earlier_sqlite_store_is_brought_up_to_date(old: Path, tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "old.db"
    db = apsw.Connection(str(path))
    db.execute(old.read_text())
    db.execute(AGENT + ROW)
    db.close()
    SqliteEngine(path, clock).migrate(clock.wall)
    SqliteEngine(tmp_path / "new.db", clock).migrate(clock.wall)
    assert shape_of_sqlite(path) == shape_of_sqlite(tmp_path / "new.db")
    db = apsw.Connection(str(path))
    assert db.execute("SELECT id, created_at FROM agents").fetchall() == [("coder", 7.0)]
    db.close()


@rule("N4")
@pytest.mark.parametrize("old", schemas.released("postgres"), ids=lambda path: path.name)
def test_an_earlier_postgres_store_is_brought_up_to_date(old: Path, postgres: Databases, clock: ManualClock) -> None:
    with postgres.fresh() as url, postgres.fresh() as other:
        with psycopg.connect(url) as db:
            db.execute(old.read_text().encode())
            db.execute((AGENT + ROW).encode())
        PostgresEngine(url, clock=clock).migrate(clock.wall)
        PostgresEngine(other, clock=clock).migrate(clock.wall)
        assert shape_of_postgres(url) == shape_of_postgres(other)
        with psycopg.connect(url) as db:
            assert db.execute("SELECT id, created_at FROM agents").fetchall() == [("coder", 7.0)]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_released_schema_is_not_changed_any_more(kind: schemas.Kind) -> None:
    assert schemas.path_of(__version__, kind).read_text() == schemas.dump(kind), "add a migration; the ones of a released version stay"
