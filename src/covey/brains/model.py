"""The one contract of all brains: a Turn goes in, an Outcome comes out. No I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

import msgspec

from covey.agents.model import SYSTEM
from covey.messages.model import Draft, Message
from covey.tasks.model import Task, TaskDraft

TurnKind = Literal["message", "digest", "task", "split", "summary"]
OutcomeKind = Literal["done", "failed", "split", "handoff", "waiting"]


class Asked(msgspec.Struct, rename="camel", omit_defaults=True):
    """A message within a turn: its fields for programs, and `enveloped`, the only form in which a model may read it (M12)."""

    message: Message
    enveloped: str


class Turn(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What a brain is asked to do, once.

    `kind` message: handle `message`. digest: take note of `also`. task: do `task`. split: propose parts of `task`.
    summary: put `context` into fewer words, with every id, URL and path word for word.
    `also` is quiet mail that rides along. At least once: `attempt` says which try this is (M3).
    """

    run_id: str
    kind: TurnKind
    agent: str
    role: str
    attempt: int
    max_attempts: int
    now: float
    message: Asked | None = None
    task: Task | None = None
    also: list[Asked] = []
    answer: Asked | None = None
    """The reply that a waiting task waited for, or the notice that it was given up."""
    parts: list[Task] = []
    guidance: list[str] = []
    """Sentences of the protocol that the brain's instructions carry word for word (L11)."""
    context: list[dict[str, Any]] = []
    """The agent's live context, oldest first: kind, text, at."""
    session: str = ""
    """The name of the session that a brain with a context of its own is to work in; a new name is a new session (C5a)."""
    fresh: bool = False
    """Whether nothing has been done in that session yet: it begins from `checkpoint` and `context`, not from an older session."""
    own_session: str = ""
    """The id by which the brain itself knows that session, as an outcome of its told it; empty: it has none yet."""
    own_since: float | None = None
    """When its last turn in `own_session` began: what the context has of later may be news to it."""
    checkpoint: str = ""
    """Where the agent stood last and what is open, in words; only for a fresh session."""
    colleagues: list[dict[str, Any]] = []
    """The other agents: id, role, capabilities."""
    project: dict[str, Any] | None = None
    handoff: dict[str, Any] | None = None
    """Of a message that offers a task: the offer. Of a task that was handed over: by whom and what came with it."""
    deadline_s: float | None = None
    """How long the turn may take."""


class Cost(msgspec.Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """What a turn cost, as far as the brain knows."""

    usd: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    context_tokens: int | None = None
    context_limit: int | None = None


class Passed(msgspec.Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """One thing that whoever takes a task over is to remember; `at` is when it was so, in Unix seconds, now if not given."""

    text: str
    kind: Literal["message", "decision", "result", "note", "summary"] = "note"
    at: float | None = None


class Parcel(msgspec.Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """A task handed over: to whom (an agent, or `@capability`), and what that one needs to go on with it (Q3)."""

    to: str
    reason: str = ""
    task_state: dict[str, Any] = {}
    """Where the work stands, as JSON; 64 KiB at most."""
    progress: float | None = None
    """How much of it is done, 0 to 1."""
    context: list[Passed] = []


class Ballot(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The agent's ballot in a vote that it was asked for (Q4). A `selection` of None abstains; `confidence` is 0 to 1."""

    vote_id: str
    selection: str | None
    confidence: float = 1.0
    argument: str = ""
    """Why; shown to the other voters when the round is over."""


class Outcome(msgspec.Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What a brain made of a turn.

    done: `summary` is the result, and the reply where one was asked for. failed: `error` says why; `permanent` means that
    trying again is no use, `not_started` that the brain itself could not start, whatever it was given. split: `tasks` stand for
    the task. waiting: for the answer to the first of `messages`. handoff: the task is offered as `handoff` says.
    `accept` answers the offer of a task: yes, or no with `summary` saying why; without it the agent accepts if it is able to do it.
    """

    kind: OutcomeKind = "done"
    summary: str = ""
    error: str = ""
    permanent: bool = False
    not_started: bool = False
    data: dict[str, Any] = {}
    decisions: list[str] = []
    notes: list[str] = []
    """What the agent wants to remember beside its decisions."""
    messages: list[Draft] = []
    tasks: list[TaskDraft] = []
    votes: list[Ballot] = []
    handoff: Parcel | None = None
    accept: bool | None = None
    consent: bool = False
    """With `accept`: also if the task was the agent's own before."""
    session: str = ""
    """The id by which the brain itself knows the session that it worked in; its next turn comes with it (C5a)."""
    cost: Cost | None = None
    exit_code: int | None = None


def failure(error: str, *, permanent: bool = False, not_started: bool = False) -> Outcome:
    """An outcome that failed."""
    return Outcome(kind="failed", error=error, permanent=permanent, not_started=not_started)


def asked_for_vote(message: Message) -> str | None:
    """The id of the vote that this message asks for a ballot in; only the protocol itself asks so (Q4)."""
    found = message.content.get("data", {}).get("voteId") if message.from_ == SYSTEM and message.type == "request" else None
    return found if isinstance(found, str) else None


class Hands(Protocol):
    """What a running brain may do while it works; given to it beside the turn."""

    async def progress(self, text: str) -> None:
        """Say how far it is; counts as life for the idle timeout (K4a)."""
        ...

    async def started(self, *, pid: int, pgid: int) -> None:
        """Record the process that does the thinking, before it gets its input (K4c)."""
        ...

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Read from the fleet's records."""
        ...

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb; brains of our own only."""
        ...


class Brain(Protocol):
    """Whatever does the thinking of an agent. It is cancelled to end a run: it must leave nothing behind."""

    kind: str

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """The outcome of one turn. An exception is a failed attempt."""
        ...

    def can(self, description: str) -> bool:
        """Whether it is able to do a task of this description; planning asks before it makes one (P1)."""
        ...

    async def close(self) -> None:
        """End what it holds."""
        ...


Answer = Outcome | str | dict[str, Any] | None
"""What the code of a python brain may answer: text is the result or reply, a dict is data, None is done with nothing to say."""
Answers = Answer | Awaitable[Answer]
