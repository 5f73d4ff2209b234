"""What all tests share: a store to be had twice, as an SQLite file and as a PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests import postgres as server


@dataclass(frozen=True)
class Database:
    """An empty place for one test's store.

    `url` is what `Settings.store` takes: empty for the embedded file, which is `path`; `postgresql://…` otherwise.
    """

    kind: Literal["sqlite", "postgres"]
    url: str
    path: Path


@pytest.fixture(scope="session")
def postgres() -> Iterator[server.Databases]:
    """A real PostgreSQL for this session; each `fresh()` is a database of its own.

    Skips where there is none; fails instead when COVEY_REQUIRE_POSTGRES=1, which .ci/run sets.
    """
    with ExitStack() as stack:
        try:
            databases = stack.enter_context(server.databases())
        except server.NoPostgres as missing:
            if os.environ.get("COVEY_REQUIRE_POSTGRES") == "1":
                pytest.fail(str(missing), pytrace=False)
            pytest.skip(str(missing))
        yield databases


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database, of either kind in turn: a test that takes it runs on both (N1)."""
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        yield Database("sqlite", "", path)
        return
    databases: server.Databases = request.getfixturevalue("postgres")
    with databases.fresh() as url:
        yield Database("postgres", url, path)
