"""Who holds a port, asked before it is bound, so that the answer is a sentence and not a crash loop (A10).

Reads /proc; sends nothing to the holder and ends nobody.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from covey.base.errors import Invalid, PortTaken
from covey.base.markers import Marker, markers
from covey.base.processes import pids

EX_OWN_INSTANCE = 73
"""Exit code of a process whose port or name its own fleet's running process holds: no supervisor may retry it (A10)."""
TIME_WAIT = "06"


@dataclass(frozen=True)
class Free:
    """Nobody holds it."""


@dataclass(frozen=True)
class Ours:
    """A live process of this fleet holds it."""

    name: str
    pid: int


@dataclass(frozen=True)
class Stranger:
    """Somebody else holds it; `pid` is None where the kernel does not show us (another user's process)."""

    pid: int | None
    command: str


def probe(host: str, port: int, run_dir: Path | None = None) -> Free | Ours | Stranger:
    """Who holds the port on that address; processes of the fleet are known by the markers in `run_dir`.

    Raises:
        Invalid: No process could bind it: the host is not an address of this machine, or the port needs root.
    """
    for family, address in _addresses(host, port):
        if not _can_bind(family, address):
            found = _holders(_inodes(family, address))
            return _ours(markers(run_dir) if run_dir else [], found, port) or _stranger(found)
    return Free()


def why_taken(host: str, port: int, found: Ours | Stranger) -> PortTaken:
    """The error to raise or print for a port that is not free: who holds it, and what to do."""
    if isinstance(found, Ours):
        text = (
            f"port {port} on {host} is held by this fleet's own {found.name}, pid {found.pid}: it runs already, there is nothing to start"
        )
    elif found.pid is None:
        text = (
            f"port {port} on {host} is held by a process whose pid is not shown to us (another user's, as a rule); ask root for"
            f" `ss -ltnp 'sport = :{port}'`, or give covey another port (`port` in covey.toml, or `--base-port`)"
        )
    else:
        text = (
            f"port {port} on {host} is held by pid {found.pid} ({found.command}), which is not of this fleet;"
            " end it, or give covey another port (`port` in covey.toml, or `--base-port`)"
        )
    return PortTaken(text, field="port", port=port, pid=found.pid, own=isinstance(found, Ours))


def _addresses(host: str, port: int) -> Iterator[tuple[socket.AddressFamily, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as problem:
        raise Invalid(f"{host}:{port} is no address to listen on ({problem}); give an IP of this machine", field="host") from problem
    for family, _, _, _, address in found:
        yield family, (str(address[0]), port)


def _can_bind(family: socket.AddressFamily, address: tuple[str, int]) -> bool:
    """Whether a server could have it now. As servers do, it does not mind connections that linger from a former one."""
    with socket.socket(family, socket.SOCK_STREAM) as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            attempt.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            attempt.bind(address)
        except PermissionError as problem:
            raise Invalid(f"port {address[1]} may be bound by root only; give one above 1023", field="port") from problem
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                raise Invalid(
                    f"{address[0]} is no address to listen on here ({problem.strerror}); give one of this machine", field="host"
                ) from problem
            return False
    return True


def _inodes(family: socket.AddressFamily, address: tuple[str, int]) -> set[str]:
    """The sockets that stand in the way of binding this address, by inode."""
    wanted = socket.inet_pton(family, address[0])
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, local, _, state, *rest = line.split()
            host, port = local.split(":")
            if int(port, 16) == address[1] and state != TIME_WAIT and _clash(wanted, _packed(host)):
                found.add(rest[5])
    return found


def _packed(text: str) -> bytes:
    """An address of the kernel's tables, which are in words of the machine's byte order; IPv4 in IPv6 as plain IPv4."""
    words = bytes.fromhex(text)
    packed = b"".join(int.from_bytes(words[i : i + 4], sys.byteorder).to_bytes(4, "big") for i in range(0, len(words), 4))
    return packed.removeprefix(bytes(10) + b"\xff\xff") if len(packed) == 16 else packed


def _clash(one: bytes, other: bytes) -> bool:
    """Whether two addresses can't both have one port. An unspecified one has them all."""
    return one == other or not any(one) or not any(other)


def _holders(inodes: set[str]) -> list[int]:
    """The processes that have one of these sockets open, as far as we may look."""
    links = {f"socket:[{inode}]" for inode in inodes}
    return sorted(pid for pid in pids() if not links.isdisjoint(_open_files(pid)))


def _open_files(pid: int) -> list[str]:
    try:
        return [_target(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:  # it has ended, or is not ours to look into
        return []


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # closed meanwhile
        return ""


def _ours(known: list[Marker], found: list[int], port: int) -> Ours | None:
    """Which of the fleet's processes it is. One process may have many names; where no pid is shown, the port alone tells.

    The caller itself, which holds its name's lock already, is not meant unless it is seen to hold the port too.
    """
    right = [marker for marker in known if marker.pid in found or (not found and marker.pid != os.getpid())]
    for marker in sorted(right, key=lambda marker: marker.port != port):
        if found or marker.port == port:
            return Ours(marker.name, marker.pid)
    return None


def _stranger(found: list[int]) -> Stranger:
    if not found:
        return Stranger(None, "")
    try:
        command = Path(f"/proc/{found[0]}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        command = ""
    in_a_line = "".join(each for each in " ".join(command.split()) if each.isprintable())
    return Stranger(found[0], in_a_line[:80])
