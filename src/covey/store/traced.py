"""What a commit comes to in a trace: the commit itself, and what its verbs say happened. Pure.

A verb knows nothing of spans: it says what happened, and a span that is its own (a message, a task) it had from `tx.span`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from covey.base import tracing
from covey.base.tracing import Kind, Span, Trace, Value
from covey.store.transaction import Event


class Committed(NamedTuple):
    """One verb that is committed."""

    verb: str
    trace: Trace | None
    """The span that called it."""
    news: Sequence[Event]
    start: float
    end: float
    verbs: int
    """How many verbs shared the commit."""
    system: str
    """The kind of database."""


NAMES: dict[str, str] = {
    "message.sent": "send",
    "message.deferred": "defer",
    "message.delivered": "deliver",
    "message.refused": "refuse",
    "message.dead": "bury",
    "message.retried": "retry",
    "quota.throttled": "throttle",
    "task.added": "create_task",
    "task.retried": "retry",
    "task.split": "split",
    "task.waits": "wait",
    "handoff.offered": "handoff offer",
    "handoff.accepted": "handoff accept",
    "handoff.declined": "handoff decline",
    "handoff.expired": "handoff expire",
    "vote.opened": "vote open",
    "vote.cast": "vote cast",
    "vote.closed": "vote close",
    "team.started": "team start",
    "team.assigned": "team assign",
    "team.done": "team end",
    "team.failed": "team end",
    "team.cancelled": "team end",
}
"""The kinds of event that are spans, and what those are called."""
_MADE = frozenset({"message.sent", "task.added", "team.started"})
"""Those that have a span of their own, which others go on from."""


def spans_of(done: Committed, child: Callable[[Trace | None], Trace | None]) -> Iterator[Span]:
    """The spans of a committed verb; none if it belongs to no trace."""
    found = [span for event in done.news if (span := _of_event(done, event, child)) is not None]
    yield from found
    under = done.trace or (found[0].trace if found else None)
    trace = child(under) if under is not None else None
    if trace is not None:
        attributes: dict[str, Value] = {"db.system.name": done.system, "db.operation.name": done.verb}
        if done.verbs > 1:
            attributes["db.operation.batch.size"] = done.verbs
        yield Span(f"commit {done.verb}", "client", trace, under, done.start, done.end, attributes)


def _of_event(done: Committed, event: Event, child: Callable[[Trace | None], Trace | None]) -> Span | None:
    name = NAMES.get(event.kind)
    data: dict[str, Any] = msgspec.json.decode(event.data) if name is not None else {}
    told = tracing.parse(data.get("trace"))
    if name is None or told is None:
        return None
    if event.kind in _MADE:
        trace: Trace | None = told
        parent = tracing.parse(data.get("above"))
    else:
        trace, parent = child(told), told
    if trace is None:
        return None
    kind: Kind = "producer" if event.kind in _MADE else "internal"
    return Span(_named(name, event, data), kind, trace, parent, done.start, done.end, _attributes(event, data))


def _named(name: str, event: Event, data: dict[str, Any]) -> str:
    """Names are few: an agent's stands in it, an id never."""
    to = _receivers(data) if event.kind == "message.sent" else event.agent or "" if event.kind == "task.added" else ""
    return f"{name} {to}" if to else name


def _receivers(data: dict[str, Any]) -> str:
    names = list(data.get("to") or ())
    return names[0] if len(names) == 1 else "several"


def _attributes(event: Event, data: dict[str, Any]) -> dict[str, Value]:
    """What a span says of its event: names, ids and states, never a text that somebody wrote."""
    found: dict[str, Value] = {"covey.event": event.kind}
    if event.agent:
        found["covey.agent"] = event.agent
    if event.subject:
        found[_ID_OF.get(event.kind.partition(".")[0], "covey.subject")] = event.subject
    if event.kind == "message.sent":
        found |= {"messaging.system": "covey", "messaging.operation.type": "send", "messaging.destination.name": _receivers(data)}
        found["messaging.message.conversation_id"] = str(data.get("thread", ""))
    for name in ("status", "deliverAt", "retryAt", "priority", "type", "state", "again_in_s", "outcome"):
        if isinstance(value := data.get(name), str | int | float | bool):
            found[f"covey.{name}"] = value
    return found


_ID_OF = {
    "message": "messaging.message.id",
    "quota": "covey.link.id",
    "task": "covey.task.id",
    "handoff": "covey.handoff.id",
    "vote": "covey.vote.id",
    "team": "covey.team.id",
}
