"""What a caller may be told that takes several features at once: one verb each, for every door. Read only."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import SYSTEM, Caller
from covey.base.settings import Settings
from covey.messages import reading, seeing, waiting
from covey.messages.model import Message
from covey.reports import why
from covey.reports.model import Why
from covey.store import Transaction


def why_of(tx: Transaction, ident: str, by: Caller, settings: Settings) -> Why:
    """Where an agent, task or message stands, told to whoever may know it (K8)."""
    seeing.check_subject(tx, ident, by)
    return why.why(tx, ident, stale_s=settings.stale_s, digest_s=settings.digest_s)


class RepliesNow(NamedTuple):
    """The replies of who was asked so far, what the protocol had to say of them, and whether one is still waited for."""

    items: list[Message]
    waiting: bool

    def is_over(self) -> bool:
        """Whether there is one, or none is to be waited for any more."""
        return bool(self.items) or not self.waiting


def replies(tx: Transaction, ident: str, by: Caller) -> RepliesNow:
    """The replies that the caller may see. A wait ends with the answer, or when it is given up (M7).

    The word of a third about the message is no answer: it stands in the thread and in the asker's mailbox alone.
    """
    sender = seeing.show(tx, ident, by)[0].from_
    asked = {copy.receiver for copy in reading.show(tx, ident)}
    waits = any(row.message_id == ident for row in waiting.open_waits(tx, sender))
    return RepliesNow([each for each in seeing.replies(tx, ident, by) if each.from_ in asked or each.from_ == SYSTEM], waits)
