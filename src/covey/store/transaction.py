"""What a verb works on: one open transaction with its time, its rows, its news and whom to wake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from covey.base import tracing
from covey.base.errors import CoveyError
from covey.base.ids import Ids
from covey.base.tracing import UNRECORDED, NewSpan, Spans, Trace
from covey.store.statements import Statement

Row = Any
"""A named tuple whose fields are the statement's columns."""

T = TypeVar("T")
CALLERS = ""
"""In the place of a traceparent: that of whoever called the verb."""
encode_json = msgspec.json.Encoder().encode


class Connection(Protocol):
    """One database connection, as a transaction uses it."""

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        ...

    def run(self, statement: Statement, params: dict[str, Any]) -> int:
        """Run it; how many rows it changed."""
        ...

    def lock(self, kind: str, item: str) -> float:
        """Lock a thing; store time once the lock was there, or 0 where nobody could have held it."""
        ...

    def control(self, command: str) -> None:
        """Run a SAVEPOINT command."""
        ...


class Event(NamedTuple):
    """One line of the fleet's story, before the store numbers it."""

    at: float
    kind: str
    agent: str | None
    subject: str | None
    data: str


class Retry(Exception):
    """The database gave up this batch for reasons of its own (a deadlock, a lost connection) and stored nothing; run it again."""


class Broken(Exception):
    """The database can't go on with this transaction: every verb of it fails with `error`. No verb may catch it."""

    def __init__(self, error: CoveyError) -> None:
        super().__init__(error.message)
        self.error = error


class ReadOnly(CoveyError):
    """A verb called by `read` tried to write: a fault of ours."""

    code = "failed"


Mark = tuple[float, int, int, int, int, int]
"""Where a transaction stands before a verb: its time, and how many writes, quiet writes, events, bells and locks it has."""


class Transaction:
    """An open transaction, handed to each verb.

    `now` is store time in Unix seconds: it never stands still between commits and never goes back (T2).
    """

    __slots__ = ("_bells", "_connection", "_held", "_ids", "_quiet", "_read_only", "events", "now", "spans", "trace", "writes")

    def __init__(
        self, connection: Connection, now: float, ids: Ids, *, read_only: bool = False, held: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.now = now
        self.events: list[Event] = []
        self.writes = 0
        self._quiet = 0
        self.trace: Trace | None = None
        """The span that called the verb; None if it belongs to no trace."""
        self.spans: Spans = UNRECORDED
        self._connection = connection
        self._ids = ids
        self._read_only = read_only
        # both in order, so that what a verb added can be taken off again
        self._bells: dict[str, None] = {}
        self._held = dict.fromkeys(held)

    @property
    def bells(self) -> set[str]:
        """Whom to wake after the commit."""
        return set(self._bells)

    @property
    def changed(self) -> bool:
        """Whether it changes anything that somebody may wait for; quiet writes alone do not."""
        return self.writes > self._quiet or bool(self.events or self._bells)

    def one(self, statement: Statement, **params: Any) -> Row | None:
        """The first row the statement answers with, or None."""
        rows = self.all(statement, **params)
        return rows[0] if rows else None

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        """All rows the statement answers with."""
        if statement.writes:
            self._about_to_write(statement)
        return self._connection.rows(statement, params)

    def run(self, statement: Statement, **params: Any) -> int:
        """How many rows the statement changed."""
        self._about_to_write(statement)
        return self._connection.run(statement, params)

    def _about_to_write(self, statement: Statement) -> None:
        if self._read_only:
            raise ReadOnly(f"{statement.name} writes inside a read; call it by write")
        self.writes += 1
        self._quiet += statement.is_quiet

    def lock(self, kind: str, item: str) -> None:
        """Nobody else checks and acts on this thing until the commit. Call it before the check, and read `now` after it.

        On SQLite the whole store is locked already; on PostgreSQL it is a row lock, and `now` moves on to when it was there.
        """
        if (kind, item) not in self._held:
            self.now = max(self.now, self._connection.lock(kind, item))
            self._held[kind, item] = None

    def happened(
        self, kind: str, *, agent: str | None = None, subject: str | None = None, trace: str | None = CALLERS, **data: Any
    ) -> None:
        """Write news: `kind` like `task.finished`, the agent it concerns, the id of the message, task … it is about.

        `trace` is the traceparent of the span that they belong to, the caller's unless told otherwise.
        """
        if trace == CALLERS:
            trace = self.trace.header if self.trace is not None else None
        if trace is not None:
            data["trace"] = trace
        self.events.append(Event(self.now, kind, agent, subject, encode_json(data).decode()))

    def span(self, above: str | None = None) -> NewSpan | None:
        """The span of something that this work makes and others go on from: below `above`, a traceparent, or else the work's own span."""
        parent = tracing.parse(above) or self.trace
        trace = self.spans.child(parent)
        return NewSpan(trace, parent if parent != trace else None) if trace is not None else None

    @contextmanager
    def at(self, span: NewSpan | None) -> Iterator[None]:
        """What is said and made in here belongs to this span."""
        before, self.trace = self.trace, span.trace if span is not None else self.trace
        try:
            yield
        finally:
            self.trace = before

    def ring(self, name: str) -> None:
        """Wake who listens under this name (an agent, `node`, `files` …) after the commit. It is a hint and may be lost."""
        self._bells[name] = None

    def new_id(self, prefix: str) -> str:
        """A new id like `msg_…`."""
        return self._ids.new(prefix, self.now)

    def new_token(self) -> str:
        """A new lease token that nobody can guess."""
        return self._ids.token()

    def attempt(self) -> Attempt:
        """A part that may fail: its error undoes just this part, and goes on to the caller."""
        return Attempt(self, self._connection)

    def mark(self) -> Mark:
        """Where it stands, so that `forget` can go back to it."""
        return self.now, self.writes, self._quiet, len(self.events), len(self._bells), len(self._held)

    def forget(self, mark: Mark) -> None:
        """Drop the news, bells and locks of a verb whose rows were undone."""
        self.now, self.writes, self._quiet, events, bells, locks = mark
        del self.events[events:]
        self._bells = dict.fromkeys(list(self._bells)[:bells])
        self._held = dict.fromkeys(list(self._held)[:locks])


class Attempt:
    """The block of `Transaction.attempt`; a class, for there is one in each turn and each is half as dear as a generator's."""

    __slots__ = ("_connection", "_mark", "_tx")

    def __init__(self, tx: Transaction, connection: Connection) -> None:
        self._tx = tx
        self._connection = connection
        self._mark = tx.mark()

    def __enter__(self) -> None:
        self._connection.control("SAVEPOINT part")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and (isinstance(error, Retry | Broken) or not isinstance(error, Exception)):
            return
        if error is not None:
            self._connection.control("ROLLBACK TO SAVEPOINT part")
        self._connection.control("RELEASE SAVEPOINT part")
        if error is not None:
            self._tx.forget(self._mark)


Verb = Callable[..., T]
F = TypeVar("F", bound=Callable[..., Any])


def relaxed(verb: F) -> F:
    """Mark a verb whose loss in a power cut does no harm (a claim, a heartbeat): it alone needs no sync to disk."""
    verb.relaxed = True  # type: ignore[attr-defined]
    return verb


def locking(keys: Callable[..., Sequence[tuple[str, str]]]) -> Callable[[F], F]:
    """Tell beforehand which rows a verb locks, from its arguments, so that a batch takes all its locks once, sorted."""

    def mark(verb: F) -> F:
        verb.locks = keys  # type: ignore[attr-defined]
        return verb

    return mark
