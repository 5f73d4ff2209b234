"""Where a piece of work stands in its trace, by W3C Trace Context, and what is recorded of it. No exporter and no I/O.

The trace goes along whether or not anybody records it: a message that came with a `traceparent` hands it on to all that it leads to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, Protocol

_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")

Kind = Literal["internal", "producer", "consumer", "client"]
Value = str | int | float | bool


class Trace(NamedTuple):
    """A place in a trace: one of its spans."""

    trace_id: str
    span_id: str
    sampled: bool = True

    @property
    def header(self) -> str:
        """The span as the text of a `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{int(self.sampled):02x}"


def parse(text: str | None) -> Trace | None:
    """The span that a `traceparent` names; None if it is none: then a trace begins anew, as the specification has it."""
    found = _FORM.fullmatch(text) if text is not None and len(text) <= 128 else None
    if found is None or (found[4] and text is not None and text.startswith("00")):
        return None
    return Trace(found[1], found[2], bool(int(found[3], 16) & 1))


def inherited(environ: Mapping[str, str]) -> Trace | None:
    """The span that started this program, as its environment says."""
    return parse(environ.get("TRACEPARENT"))


class NewSpan(NamedTuple):
    """The span of something that others go on from, a message or a task, and the one above it, if that is another."""

    trace: Trace
    above: Trace | None

    @property
    def header(self) -> str:
        """What the thing carries."""
        return self.trace.header


def told(span: NewSpan | None) -> dict[str, str]:
    """What the event that tells of something says of its span. Pure."""
    if span is None:
        return {}
    return {"trace": span.header} | ({"above": span.above.header} if span.above is not None else {})


_current: ContextVar[Trace | None] = ContextVar("covey_trace", default=None)


def current() -> Trace | None:
    """The span that this task or thread is at."""
    return _current.get()


@contextmanager
def entered(trace: Trace | None) -> Iterator[None]:
    """What is done in here belongs to this span."""
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


class Span(NamedTuple):
    """What is recorded of a span that is over; times are Unix seconds of this machine."""

    name: str
    kind: Kind
    trace: Trace
    parent: Trace | None
    start: float
    end: float
    attributes: dict[str, Value]
    error: str = ""
    """What kind of error it ended with; empty if with none."""


class Spans(Protocol):
    """Where spans go to be recorded, if anywhere. No call of it blocks or raises."""

    on: bool

    def child(self, parent: Trace | None) -> Trace | None:
        """A span of its own below another one, or the first of a trace. Where nothing is recorded: the other one, handed on."""
        ...

    def record(self, span: Span) -> None:
        """Have a span recorded; one that is not sampled is dropped."""
        ...

    def close(self) -> None:
        """Hand over what is not sent yet, for a moment at most."""
        ...


class Unrecorded:
    """Nothing is recorded."""

    on = False

    def child(self, parent: Trace | None) -> Trace | None:
        """The span handed on."""
        return parent

    def record(self, span: Span) -> None:
        """Dropped."""

    def close(self) -> None:
        """There is nothing to hand over."""


UNRECORDED: Spans = Unrecorded()
