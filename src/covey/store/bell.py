"""The doorbell: a hint that something is there to fetch. It may be lost or doubled; a poll stands behind it (M4b).

On one machine a datagram goes to the receiver's UNIX socket in the run directory. Sends never block.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

NEWS = "news"
GATEWAY_NEWS = "gateway.news"
STORY = frozenset({NEWS, GATEWAY_NEWS})
"""Rung with every other bell: the API's process and the gateway's follow the fleet's story here (one of each a machine)."""


Hint = tuple[asyncio.AbstractEventLoop, Callable[[], None]]
"""Whom to call, and on which loop."""


class Bell(Protocol):
    """How processes wake each other."""

    def near(self, names: Iterable[str]) -> dict[str, Hint]:
        """Who of these listens in this process."""
        ...

    def ring(self, names: Iterable[str]) -> None:
        """Hint to all who listen under these names."""
        ...

    def listen(self, name: str, hint: Callable[[], None], *, far_after_s: float = 0.0) -> Callable[[], None]:
        """Call `hint` on the running loop at each ring; the answer stops listening.

        `far_after_s`: who listens for a moment only may hear other processes after so long, which spares most of them the cost of it.
        """
        ...

    def close(self) -> None:
        """Give back what it holds; a second time does nothing. The store closes its bell."""
        ...


class DatagramBell:
    """Doorbells of one machine. A socket's path may have 107 bytes at most, so it is reached through the folder's descriptor."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder_fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        self._near: dict[str, Hint] = {}

    def _address(self, name: str) -> str:
        return f"/proc/self/fd/{self._folder_fd}/{name}"

    def near(self, names: Iterable[str]) -> dict[str, Hint]:
        """Who of these listens in this process."""
        return {name: self._near[name] for name in names if name in self._near}

    def ring(self, names: Iterable[str]) -> None:
        """Send a hint to each name; nobody there, or a full socket, is as good as a lost hint."""
        for name in names:
            near = self._near.get(name)
            if near is not None:
                with contextlib.suppress(RuntimeError):
                    near[0].call_soon_threadsafe(near[1])
                continue
            with contextlib.suppress(OSError):
                self._sender.sendto(b"!", self._address(name))

    def listen(self, name: str, hint: Callable[[], None], *, far_after_s: float = 0.0) -> Callable[[], None]:
        """Bind the socket of this name, in the place of an earlier one, and call `hint` once for all rings that wait."""
        near = (asyncio.get_running_loop(), hint)
        far: list[Callable[[], None]] = []

        def hear_far() -> None:
            with contextlib.suppress(OSError):  # then rings are lost, as they may be
                far.append(self._listen_far(name, near))

        timer = near[0].call_later(far_after_s, hear_far) if far_after_s else None
        if timer is None:
            far.append(self._listen_far(name, near))
        self._near[name] = near

        def stop() -> None:
            if self._near.get(name) is near:
                del self._near[name]
            if timer is not None:
                timer.cancel()
            for each in far:
                each()

        return stop

    def _listen_far(self, name: str, near: Hint) -> Callable[[], None]:
        """Hear other processes too; the answer stops it."""
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        mine = self._bind(receiver, name)

        def drain() -> None:
            with contextlib.suppress(BlockingIOError):
                while receiver.recv(16):
                    pass
            near[1]()

        def stop() -> None:
            self._unbind(name, mine)
            with contextlib.suppress(RuntimeError):  # its loop has ended before
                near[0].remove_reader(receiver)
            receiver.close()

        near[0].add_reader(receiver, drain)
        return stop

    def _bind(self, receiver: socket.socket, name: str) -> int:
        """Bind under a name of its own first: after the rename nobody was deaf for a moment, whoever was there before."""
        own = self._own(name)
        receiver.bind(self._address(own))
        self._rename(own, name)
        return self._inode(name)

    def _unbind(self, name: str, mine: int) -> None:
        """Remove the socket if it is still ours. A successor's, which may have come this very moment, is put back."""
        with contextlib.suppress(OSError):
            if self._inode(name) != mine:
                return
            taken = self._own(name)
            self._rename(name, taken)
            if self._inode(taken) != mine:
                with contextlib.suppress(FileExistsError):
                    os.link(taken, name, src_dir_fd=self._folder_fd, dst_dir_fd=self._folder_fd)
            os.unlink(taken, dir_fd=self._folder_fd)

    def _own(self, name: str) -> str:
        return f".{name}.{os.urandom(4).hex()}"

    def _rename(self, old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=self._folder_fd, dst_dir_fd=self._folder_fd)

    def _inode(self, name: str) -> int:
        return os.stat(name, dir_fd=self._folder_fd).st_ino

    def close(self) -> None:
        """Give back the descriptors; a second time does nothing."""
        if self._folder_fd >= 0:
            self._sender.close()
            os.close(self._folder_fd)
            self._folder_fd = -1
