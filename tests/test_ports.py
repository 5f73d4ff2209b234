"""A port that is not free is explained before it is bound (A10)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from covey.base.errors import Invalid
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE, Free, Ours, Stranger, probe, why_taken
from tests.rules import rule

HOST = "127.0.0.1"
SERVER = """
import socket, sys
from pathlib import Path
from covey.base.markers import NameLock
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
if len(sys.argv) > 3:
    assert NameLock(Path(sys.argv[3])).take("coder", server.getsockname()[1])
print(server.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Servers:
    """Processes that listen, each ended with the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, host: str = HOST, lock: Path | None = None) -> tuple[int, int]:
        """The pid and the port of a process that listens. Its command has line breaks."""
        argv = [sys.executable, "-c", SERVER, host, "0", *([str(lock)] if lock else [])]
        server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._stack.callback(server.communicate, timeout=10)
        assert server.stdout is not None
        return server.pid, int(server.stdout.readline())


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


def free_port() -> int:
    with socket.socket() as attempt:
        attempt.bind((HOST, 0))
        return int(attempt.getsockname()[1])


@rule("A10")
def test_a_port_that_nobody_holds_is_free_also_while_a_former_connection_lingers() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((HOST, port)) as client:
            server.accept()[0].close()
            assert client.recv(1) == b""
    assert probe(HOST, port) == Free()
    assert probe("localhost", port) == Free()
    assert probe("0.0.0.0", port) == Free()


@rule("A10")
def test_a_strangers_port_names_its_pid_and_command(servers: Servers, tmp_path: Path) -> None:
    pid, port = servers.start()
    found = probe(HOST, port, tmp_path)
    assert isinstance(found, Stranger)
    assert found.pid == pid
    assert found.command.startswith(sys.executable)
    assert "\n" in SERVER
    assert "\n" not in found.command, "it is told in a sentence"
    error = why_taken(HOST, port, found)
    assert error.code == "port_taken"
    assert f"port {port} on {HOST} is held by pid {pid}" in error.message
    assert "--base-port" in error.message
    assert error.problem()["pid"] == pid


@rule("A10")
def test_a_strangers_command_is_told_in_one_line_that_a_terminal_can_show(servers: Servers) -> None:
    _, port = servers.start()
    found = probe(HOST, port)
    assert isinstance(found, Stranger)
    assert found.command.isprintable()


@rule("A10")
@pytest.mark.parametrize("host", ["0.0.0.0", "localhost"])
def test_a_port_held_on_one_address_stands_in_the_way_of_all(servers: Servers, host: str) -> None:
    pid, port = servers.start()
    found = probe(host, port)
    assert isinstance(found, Stranger)
    assert found.pid == pid


@rule("A10")
def test_a_port_held_on_another_address_is_free(servers: Servers) -> None:
    _, port = servers.start("127.0.0.2")
    assert probe(HOST, port) == Free()


@rule("A10")
def test_the_holder_is_found_in_either_family() -> None:
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        for host in (HOST, "::1"):
            found = probe(host, server.getsockname()[1])
            assert isinstance(found, Stranger)
            assert found.pid == os.getpid()


@rule("A10")
def test_of_two_holders_of_one_port_the_one_in_the_way_is_named(servers: Servers) -> None:
    pid, port = servers.start()
    with socket.create_server(("127.0.0.2", port)):
        for host, holder in ((HOST, pid), ("127.0.0.2", os.getpid())):
            found = probe(host, port)
            assert isinstance(found, Stranger)
            assert found.pid == holder


@rule("A10")
def test_the_fleets_own_process_is_known_by_its_marker_and_not_retried(servers: Servers, tmp_path: Path) -> None:
    pid, port = servers.start(lock=tmp_path / "coder.lock")
    found = probe(HOST, port, tmp_path)
    assert found == Ours("coder", pid)
    assert isinstance(probe(HOST, port, tmp_path / "another fleet"), Stranger)
    error = why_taken(HOST, port, Ours("coder", pid))
    assert "this fleet's own coder" in error.message
    assert error.problem()["own"] is True
    assert EX_OWN_INSTANCE == 73


@rule("A10")
def test_of_the_names_of_one_process_the_one_with_the_port_is_given(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        locks = [NameLock(tmp_path / f"{name}.lock") for name in ("chief", "coder", "sales")]
        for lock, held, name in zip(locks, (1, port, 2), ("chief", "coder", "sales"), strict=True):
            assert lock.take(name, held)
        assert probe(HOST, port, tmp_path) == Ours("coder", os.getpid())
        for lock in locks:
            lock.release()


@rule("A10")
def test_a_strangers_port_is_not_ours_because_others_of_the_fleet_live(servers: Servers, tmp_path: Path) -> None:
    servers.start(lock=tmp_path / "coder.lock")
    pid, port = servers.start()
    found = probe(HOST, port, tmp_path)
    assert isinstance(found, Stranger)
    assert found.pid == pid


@rule("A10")
def test_a_marker_of_a_dead_agent_does_not_make_a_strangers_port_ours(servers: Servers, tmp_path: Path) -> None:
    pid, port = servers.start()
    (tmp_path / "coder.lock").write_text(f'{{"pid": {pid}, "startTicks": 1, "bootId": "x", "name": "coder", "port": {port}}}')
    found = probe(HOST, port, tmp_path)
    assert isinstance(found, Stranger)


@rule("A10")
def test_a_holder_whose_pid_is_not_shown_is_said_so() -> None:
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        port = bound.getsockname()[1]
        found = probe(HOST, port)
        assert found == Stranger(None, "")
        message = why_taken(HOST, port, Stranger(None, "")).message
        assert "pid is not shown" in message
        assert f"ss -ltnp 'sport = :{port}'" in message


@pytest.mark.parametrize("host", ["192.0.2.1", "a" * 70])
def test_an_address_that_is_not_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(Invalid) as refused:
        probe(host, free_port())
    assert refused.value.field == "host"
