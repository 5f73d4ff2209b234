"""Every SQL statement of every feature: both databases take it, and none walks through a table that grows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import covey
from covey.base.clock import SystemClock
from covey.store.postgres import PostgresEngine
from covey.store.sqlite import SqliteEngine
from covey.store.statements import Statement, statement, to_postgres
from tests import postgres as servers

FILES = sorted(Path(covey.__file__).parent.rglob("sql/*.sql"))
STATEMENTS = [Statement(f"{file.parts[-3]}:{file.stem}", file.read_text()) for file in FILES]

GROWING = frozenset(
    {
        *("events", "messages", "copies", "tasks", "needs", "runs", "entries", "answered_requests"),
        *("votes", "voters", "ballots", "vote_arguments"),
        *("exchanges", "exchange_messages", "pushes", "abroad"),
    }
)
AT_WORK = frozenset({"tasks_leased", "copies_leased", "runs_open", "entries_to_index", "votes_due", "votes_open_of", "pushes_open"})
"""Indexes of what is at work right now, which is never much: walking through one of these is no scan."""
ALLOWED = {
    "messages:deferred_directions": "what waits for credit, over its own small index",
    "messages:counts": "a count of everything, asked for by people",
    "reports:amounts": "a count of every row, once for an export, which reads them all",
    "messages:latest": "the last N by number",
    "messages:threads": "from id to id over an index, N at most",
    "reports:approvals_wanted": "what waits for a person, over its own small index",
    "reports:called_incidents": "what waits for a person, over its own small index",
    "reports:happened": "among the last N by number",
    "reports:latest_ids": "the last N by number",
    "reports:mail_times": "among the last N by number",
    "reports:open_things": "what waits, over partial indexes, N at most",
    "reports:open_work": "what is open, N at most",
    "reports:task_times": "among the last N by number",
    "store:events_before": "the last N by number",
    "store:events_last": "the last one by number",
    "store:events_prune": "the first N by number",
    "store:events_size": "the first, the last and the last N by number",
    "tasks:counts": "a count of everything, over a small index",
    "tasks:list_open": "what is open, where that is a few thousand at most",
    "tasks:open_up_to": "what is open, N at most",
    "tasks:leases": "once, after a restore",
    "tasks:queues": "a count of what is ready, over its index",
    "tasks:waiting": "what is ready, in its order, N at most",
}
"""The statements that may walk through a growing table or a whole index of it, each with the reason."""

PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
NAMED = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|,)\s+([a-z_]+)(?:\s+(?:AS\s+)?([a-z_]+))?", re.IGNORECASE)
SCAN = re.compile(r"SCAN ([a-z_]+)(?:.* INDEX (\w+))?")


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """An empty embedded store."""
    engine = SqliteEngine(tmp_path_factory.mktemp("plans") / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    db = engine.open()
    yield db
    db.close()


@pytest.fixture(scope="module")
def server(postgres: servers.Databases) -> Iterator[psycopg.Connection[Any]]:
    """An empty store on a server that avoids scans where it can."""
    with postgres.fresh() as url:
        PostgresEngine(url).migrate(SystemClock().wall)
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
            yield db


def tables_of(text: str) -> dict[str, str]:
    """What each name and alias in a statement stands for."""
    found = {}
    for table, alias in NAMED.findall(text):
        found[table] = table
        if alias:
            found[alias] = table
    return found


def numbered(each: Statement) -> tuple[str, int]:
    """The statement with PostgreSQL's own `$1` parameters, and how many there are."""
    names = list(dict.fromkeys(re.findall(r"%\(([a-z_0-9]+)\)s", each.postgres)))
    return re.sub(r"%\(([a-z_0-9]+)\)s", lambda found: f"${names.index(found[1]) + 1}", each.postgres).replace("%%", "%"), len(names)


def plan_of(db: psycopg.Connection[Any], each: Statement) -> dict[str, Any]:
    """How PostgreSQL would run it, whatever its parameters."""
    text, count = numbered(each)
    db.execute(f"PREPARE it AS {text}".encode())
    try:
        given = f"({', '.join(['NULL'] * count)})" if count else ""
        row = db.execute(f"EXPLAIN (FORMAT JSON) EXECUTE it{given}".encode()).fetchone()
        assert row is not None
        plan: dict[str, Any] = row[0][0]["Plan"]
        return plan
    finally:
        db.execute("DEALLOCATE it")


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan's nodes, the top one first."""
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


@pytest.mark.parametrize("each", STATEMENTS, ids=[each.name for each in STATEMENTS])
def test_the_embedded_store_runs_it_over_an_index(embedded: apsw.Connection, each: Statement) -> None:
    given = dict.fromkeys(PARAMETER.findall(each.sqlite))
    named = tables_of(each.sqlite)
    scans = [SCAN.match(row[3]) for row in embedded.execute(f"EXPLAIN QUERY PLAN {each.sqlite}", given)]
    bad = [scan[0] for scan in scans if scan and named.get(scan[1], scan[1]) in GROWING and scan[2] not in AT_WORK]
    assert not bad or each.name in ALLOWED, f"{each.name}: {bad}"


@pytest.mark.parametrize("each", STATEMENTS, ids=[each.name for each in STATEMENTS])
def test_postgres_runs_it_over_an_index(server: psycopg.Connection[Any], each: Statement) -> None:
    bad = [
        node["Relation Name"]
        for node in nodes(plan_of(server, each))
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in GROWING
    ]
    assert not bad or each.name in ALLOWED, f"{each.name} walks through {bad}"


def test_what_is_allowed_to_walk_is_there() -> None:
    assert set(ALLOWED) <= {each.name for each in STATEMENTS}


def test_each_file_says_what_for_and_has_one_statement() -> None:
    for file in FILES:
        text = file.read_text()
        assert text.startswith("-- "), f"{file} does not begin with what it is for"
        assert text.endswith("\n"), file
        assert ";" not in re.sub(r"'[^']*'", "", Statement("x", text).sqlite), f"{file} has more than one statement"
        assert not re.search(r"(SELECT|RETURNING|,)\s*(\w+\.)?\*", text), f"{file} asks for columns that it does not name"


def test_a_statement_knows_whether_it_writes() -> None:
    reads = {"SELECT 1", "-- why\nSELECT 1", "VALUES (1)", "WITH a AS (SELECT 1) SELECT 1", "/*sqlite*/SELECT 1/*end*/", "(SELECT 1)"}
    writes = {
        "INSERT INTO t VALUES (1)",
        "WITH a AS (SELECT 1) DELETE FROM t",
        "/*sqlite*/INSERT OR REPLACE INTO t VALUES (1)/*end*/",
        "UPDATE t SET a = 1",
    }
    assert {text for text in reads | writes if Statement("x", text).writes} == writes


def test_a_statement_has_two_spellings() -> None:
    text = "SELECT a::text, '10%' FROM t WHERE b = :b AND /*sqlite*/c = :c/*end*/ /*postgres: d = :d */ LIMIT :b"
    each = Statement("x", text)
    assert each.postgres == "SELECT a::text, '10%%' FROM t WHERE b = %(b)s AND   d = %(d)s  LIMIT %(b)s"
    assert each.sqlite == "SELECT a::text, '10%' FROM t WHERE b = :b AND /*sqlite*/c = :c/*end*/  LIMIT :b"
    assert to_postgres("x") == "x"


def test_a_statement_is_read_from_beside_its_feature() -> None:
    assert statement("covey.store", "bookmark").sqlite == "SELECT xid, seq FROM bookmarks WHERE name = :name"
    with pytest.raises(LookupError):
        statement("covey.nowhere", "bookmark")
    with pytest.raises(LookupError):
        statement(None, "bookmark")
