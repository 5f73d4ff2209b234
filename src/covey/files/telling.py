"""What the loops over files have to say, kept until the store takes it as events, and said in the log at once."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from covey.base.errors import CoveyError
from covey.store import Store, Transaction, relaxed

log = logging.getLogger("covey.files")
KEPT = 200
"""So much news waits at most while the store takes nothing."""


class News(NamedTuple):
    """One event to be: its kind, the file or id it is about, the rest."""

    kind: str
    subject: str
    data: dict[str, Any]


class Teller:
    """Says each thing once in the log and once in the fleet's story; a trouble once until it is over."""

    def __init__(self, store: Store, what: str) -> None:
        self._store = store
        self._what = what
        self._waiting: list[News] = []
        self._trouble: str | None = None

    def say(self, kind: str, subject: str, sentence: str, *, level: int = logging.WARNING, **data: Any) -> None:
        """Log the sentence, and keep the event for `flush`."""
        log.log(level, "%s", sentence)
        if len(self._waiting) < KEPT:
            self._waiting.append(News(kind, subject, {**data, "sentence": sentence[:1000].encode(errors="replace").decode()}))

    def trouble(self, subject: str, sentence: str) -> None:
        """Something does not work; the same thing again is not said again until `well`."""
        if self._trouble is None:
            self.say(f"{self._what}.failed", subject, sentence, level=logging.ERROR)
        self._trouble = sentence

    def well(self, sentence: str) -> None:
        """It works; said only if there was a trouble."""
        if self._trouble is not None:
            self._trouble = None
            self.say(f"{self._what}.restored", "", sentence, level=logging.INFO)

    async def flush(self) -> None:
        """Hand what waits to the store; what it does not take now waits on."""
        if not self._waiting:
            return
        going = self._waiting[:]
        try:
            await self._store.write(tell, going)
        except CoveyError as error:
            log.warning("events of the files wait: %s", error.message)
        else:
            del self._waiting[: len(going)]


@relaxed
def tell(tx: Transaction, news: list[News]) -> None:
    """Write it into the fleet's story."""
    for each in news:
        tx.happened(each.kind, subject=each.subject or None, **each.data)


def why(error: OSError) -> str:
    """The operating system's word, without a path that may be long."""
    return error.strerror or type(error).__name__
