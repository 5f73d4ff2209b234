"""The shared files as a duty of the leading node: the JSON view, the logs, the drop folder (S1, S2, S3)."""

from __future__ import annotations

import asyncio

from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.files.drop import Drop
from covey.files.logs import Logs
from covey.files.view import View
from covey.nodes.node import Duty
from covey.store import Store

FILES_S = 0.7


class Files:
    """One round for all of them, since each waking costs; only the view is bound to be true within a second."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._view = View(store, settings, clock)
        self._logs = Logs(store, settings, clock)
        self._drop = Drop(store, settings, clock)
        self._even = False

    async def one_round(self, _fence: int = 0) -> None:
        """The view; every other time the logs and the drop folder too. An error of one holds up no other, and is raised at the end."""
        self._even = not self._even
        parts = (self._view.round, self._logs.round, self._drop.round) if self._even else (self._view.round,)
        found = await asyncio.gather(*(part() for part in parts), return_exceptions=True)
        for error in found:
            if isinstance(error, BaseException):
                raise error


def file_duties(store: Store, settings: Settings, clock: Clock) -> list[Duty]:
    """The shared files, kept by whoever leads."""
    return [Duty("files", FILES_S, True, Files(store, settings, clock).one_round)]
