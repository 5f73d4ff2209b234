"""A node that has died is started again by the API's process, which outlives it as agents do (H9). Nothing else is started here.

Whoever else restarts nodes (systemd, an engine) is quicker; of two that come up, one gives way. A node that ended in good order has
ended this process too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

from covey.app.node_spec import NODE, node_spec
from covey.app.opening import run_dir
from covey.base.markers import marker
from covey.base.processes import Identity
from covey.base.settings import Settings
from covey.nodes.forkserver import Spec

log = logging.getLogger("covey.console")

MISSED = 3
"""So many rounds in a row without a node mean that it is gone: rounds and not seconds, as a suspended machine wakes up slowly (H8b)."""


class Reviver:
    """Looks whether a node holds its lock, and starts one if none has for some rounds."""

    def __init__(self, settings: Callable[[], Settings], spawn: Callable[[Spec], Awaitable[Identity]]) -> None:
        self._settings = settings
        self._spawn = spawn
        self._missed = 0
        self._started: Identity | None = None

    async def one_round(self) -> None:
        """Look, and start one if it is time."""
        self._reap()
        settings = self._settings()
        if marker(run_dir(settings) / f"{NODE}.lock") is not None:
            self._missed = 0
            return
        self._missed += 1
        if self._missed >= MISSED:
            self._missed = 0
            self._started = await self._spawn(node_spec(settings))
            log.warning("the node is gone, and is started again as process %d", self._started.pid)

    def _reap(self) -> None:
        """Let go of a node of ours that has died."""
        if self._started is not None:
            with suppress(ChildProcessError):
                os.waitpid(self._started.pid, os.WNOHANG)
