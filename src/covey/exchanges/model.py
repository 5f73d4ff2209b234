"""What an exchange is: a task with the messages it was given by, and the phase it shows to who gave it. Data and pure rules, no I/O."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, NamedTuple

import msgspec

from covey.base.errors import Conflict
from covey.messages.model import Message
from covey.store.events import Bookmark
from covey.tasks.model import Task

Phase = Literal["submitted", "working", "input-required", "completed", "failed", "canceled"]
"""How far an exchange is, in the words of A2A."""
OPEN: frozenset[str] = frozenset({"submitted", "working", "input-required"})

OUTSIDE = "a2a"
"""The key of a message's and a task's data under which stands what the giver's protocol has and ours has not."""
PAGE = 50
MOST = 100
"""So many exchanges are on one page, unless asked otherwise; and at most."""
HISTORY = 200
"""So many messages of one exchange are shown at most, the latest."""
NOTHING_SAID = "(There is no text; see the data.)"


class NotSent(Conflict):
    """The message was refused by a rule of its link; `details["outcome"]` says by which, and nothing was stored (L13)."""


class Given(msgspec.Struct, kw_only=True):
    """A message as it came from outside."""

    message_id: str
    text: str
    """All its text; what else it has stands in `outside`."""
    outside: dict[str, Any] = {}
    """Its id, and what ours has no place for: parts that are not text, metadata, extensions, references."""
    thread_id: str | None = None
    task_id: str | None = None
    """The exchange that it goes on with; None begins one."""
    traceparent: str | None = None


class Exchange(msgspec.Struct, kw_only=True):
    """A task that a message from outside began, as its giver may see it."""

    task: Task
    agent: str
    caller: str
    thread_id: str
    phase: Phase
    said: str = ""
    """What the agent says at this point: its question, its progress, why it failed."""
    question: str | None = None
    """The id of the message whose answer the task waits for, if its giver is the one to answer."""
    changed_at: float
    history: list[Message] = []
    bookmark: Bookmark
    """Up to which event this is true."""

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.phase in OPEN


class News(NamedTuple):
    """One step of an exchange, the same for whoever reads it."""

    cursor: Bookmark
    at: float
    phase: Phase
    said: str = ""
    question: str | None = None
    """The id of the message whose answer is waited for."""
    done: Task | None = None
    """The task with its result, once it is completed."""
    first: bool = False
    """Whether it is the exchange's beginning."""


class Names(NamedTuple):
    """The ids of what a message from outside begins."""

    message: str
    task: str
    thread: str


def names_of(caller: str, agent: str, message_id: str) -> Names:
    """The ids that follow from a giver's own id, so that the same message sent again meets what it began (T3). Pure."""
    words = f"{caller}\0{agent}\0{message_id}"
    digest = hashlib.blake2b(words.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return Names(f"msg_{digest}", f"task_{digest}", f"thread_{digest}")


def phase_of(state: str, attempts: int, *, asks: bool) -> Phase:
    """The phase of a task; `asks`: it waits for an answer of its giver. Pure."""
    if state == "blocked":
        return "input-required" if asks else "working"
    if state == "queued":
        return "working" if attempts else "submitted"
    return _PHASES[state]


_PHASES: dict[str, Phase] = {"running": "working", "done": "completed", "failed": "failed", "cancelled": "canceled"}
