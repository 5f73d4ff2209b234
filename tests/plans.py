"""What SQLite's planner does with a feature's statements: for tests that no hot query walks through a table that grows."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import apsw

from covey.base.clock import SystemClock
from covey.store.sqlite import SqliteEngine
from covey.store.statements import _PARAMETER, statement


def made(folder: Path) -> apsw.Connection:
    """An empty store of SQLite, open."""
    engine = SqliteEngine(folder / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    return engine.open()


def names(package: ModuleType) -> list[str]:
    """The statements of a feature."""
    assert package.__file__ is not None
    return sorted(path.stem for path in (Path(package.__file__).parent / "sql").glob("*.sql"))


def plan(db: apsw.Connection, package: ModuleType, name: str) -> list[str]:
    """The steps by which SQLite runs a statement."""
    text = statement(package.__name__, name).sqlite
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(_PARAMETER.findall(text), 1))]


def walked(steps: list[str], partial: frozenset[str]) -> set[str]:
    """The tables and whole indexes that a plan goes through from end to end; those that hold only what is open or odd don't count."""
    made = {step.split()[-1] for step in steps if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
    scans = [re.match(r"SCAN (\w+)(?: EXISTS)?(?: USING (?:COVERING )?INDEX (\w+))?", step) for step in steps]
    return {scan[1] for scan in scans if scan is not None and scan[2] not in partial} - made - {"message_words", "CONSTANT"}
