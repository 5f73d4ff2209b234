"""The tests' own PostgreSQL: it is fresh for each test, survives a crash, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tests.conftest import Database

needs_programs = pytest.mark.skipif(postgres.find() is None, reason=postgres.NONE_HERE)


def test_each_test_gets_an_empty_place_of_its_own(database: Database) -> None:
    if database.kind == "sqlite":
        assert not database.path.exists()
        return
    with psycopg.connect(database.url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone()
    assert found == (0,)


def test_two_fresh_databases_are_not_the_same(postgres: postgres.Databases) -> None:
    with postgres.fresh() as one, postgres.fresh() as other:
        with psycopg.connect(one) as connection:
            connection.execute("CREATE TABLE only_here (n int)")
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT to_regclass('only_here')").fetchone() == (None,)


def test_a_fresh_database_goes_with_its_guests_still_there(postgres: postgres.Databases) -> None:
    with postgres.fresh() as url:
        guest = psycopg.connect(url)
    with pytest.raises(psycopg.OperationalError):
        guest.execute("SELECT 1")
    guest.close()


@needs_programs
def test_a_killed_server_comes_back_with_what_was_committed() -> None:
    with postgres.running(fsync=True) as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept (n int)")
        server.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url)
        server.start()
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT to_regclass('kept')::text").fetchone() == ("kept",)
    assert not server.folder.exists()


@needs_programs
def test_the_server_ends_with_the_process_that_started_it() -> None:
    program = (
        "import os, signal\n"
        "from tests import postgres\n"
        "with postgres.running() as server:\n"
        "    print(server.pid, server.folder, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60, check=False)
    pid, folder = done.stdout.split()
    postgres.wait_until(lambda: not Path("/proc", pid).exists(), "the server to end", lambda: pid)
    postgres.wait_until(lambda: not Path(folder).exists(), "its folder to go", lambda: folder)
