"""The doorbell over PostgreSQL: one coalesced NOTIFY a batch, on a connection of its own; one LISTEN a process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import psycopg

from covey.base.errors import CoveyError
from covey.store.bell import Hint

if TYPE_CHECKING:
    from covey.store.postgres import PostgresEngine

_CHANNEL = "covey"
_NAMES = 100
"""So many names go with one NOTIFY, whose text may have 8,000 bytes."""
_AGAIN_S = 2.0


class NotifyBell:
    """Doorbells of many machines. Behind a pooler only those of this process ring; the poll makes good the rest."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._sender: psycopg.Connection[Any] | None = None
        self._lock = threading.Lock()
        self._hints: dict[str, Hint] = {}
        self._listener: threading.Thread | None = None
        self._stopping = threading.Event()

    def near(self, names: Iterable[str]) -> dict[str, Hint]:
        """Who of these listens in this process."""
        return {name: self._hints[name] for name in names if name in self._hints}

    def ring(self, names: Iterable[str]) -> None:
        """Hint to all names; an error is as good as a lost hint."""
        far = [name for name in names if not self._ring_near(name)]
        if not far or self._engine.pooler:
            return
        with self._lock, contextlib.suppress(CoveyError, psycopg.Error):
            if self._sender is None or self._sender.closed:
                self._sender = self._engine.open()
                self._sender.execute("SET synchronous_commit = off")  # a hint needs no sync to disk
            for start in range(0, len(far), _NAMES):
                self._sender.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, " ".join(far[start : start + _NAMES])))

    def _ring_near(self, name: str) -> bool:
        there = self._hints.get(name)
        if there is None:
            return False
        with contextlib.suppress(RuntimeError):
            there[0].call_soon_threadsafe(there[1])
        return True

    def listen(self, name: str, hint: Callable[[], None], *, far_after_s: float = 0.0) -> Callable[[], None]:  # noqa: ARG002 - all are heard at once
        """Call `hint` at each ring for this name."""
        mine = (asyncio.get_running_loop(), hint)
        self._hints[name] = mine
        if self._listener is None and not self._engine.pooler:
            self._listener = threading.Thread(target=self._hear, name="covey-bell", daemon=True)
            self._listener.start()

        def stop() -> None:
            if self._hints.get(name) is mine:
                del self._hints[name]

        return stop

    def _hear(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(CoveyError, psycopg.Error), self._engine.open() as db:
                db.execute(f"LISTEN {_CHANNEL}")
                for name in list(self._hints):  # what rang while nobody listened
                    self._ring_near(name)
                while not self._stopping.is_set():
                    for notice in db.notifies(timeout=1.0):
                        for name in notice.payload.split():
                            self._ring_near(name)
            self._stopping.wait(_AGAIN_S)

    def close(self) -> None:
        """Stop listening and close the connections."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.join(timeout=5)
        if self._sender is not None:
            self._sender.close()
