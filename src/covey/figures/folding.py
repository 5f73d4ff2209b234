"""Events, added up by agent and stretch of time. Pure: the same events come to the same figures wherever and whenever they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from covey.agents.model import RESERVED, STALLS
from covey.figures.model import KEPT_S, WHOLE_FLEET, Stretch, Tally
from covey.figures.sketches import Sketch, bucket_of
from covey.store.events import Event

COUNTED = {
    "message.sent": "sent",
    "message.deferred": "deferred",
    "message.dead": "dead",
    "quota.throttled": "throttled",
    "task.failed": "failed",
    "task.cancelled": "cancelled",
    "task.retried": "retried",
    "context.compressed": "compressions",
    "context.emergency": "overflows",
    "breaker.opened": "breakers",
}
"""The kinds of event that add one to a count, and to which."""
UNHEALED = frozenset({"given_up", "nobody_able", "failed", "cancelled", "closed", "removed"})
"""A stall that ended so was not healed: nothing helped, or a person did."""
NO_AGENTS = RESERVED | {"controller"}
"""Who sends and checks without being an agent of the fleet."""


def fold(events: Iterable[Event], now: float) -> dict[Stretch, Tally]:
    """What these events add to each stretch of time; those too old to be kept add nothing."""
    found: dict[Stretch, Tally] = {}
    for event in events:
        tally = tally_of(event)
        if tally is None:
            continue
        names = {WHOLE_FLEET, _agent_of(event) or WHOLE_FLEET}
        for span_s, kept_s in KEPT_S.items():
            if event.at > now - kept_s:
                at = event.at // span_s * span_s
                for name in names:
                    found.setdefault(Stretch(name, span_s, at), Tally()).add(tally)
    return found


def _agent_of(event: Event) -> str | None:
    """Whose figures it belongs to: a check is its checker's, anything else its agent's; nobody's if that is no agent."""
    name = event.subject if event.kind in ("buddy.checked", "buddy.missed") else event.agent
    return name if name not in NO_AGENTS else None


def tally_of(event: Event) -> Tally | None:
    """What one event adds; None if it does not count."""
    if event.data.get("imported") or event.data.get("between"):
        return None
    if (told := _TOLD.get(event.kind)) is not None:
        return told(event.data)
    if (field := COUNTED.get(event.kind)) is not None:
        tally = Tally()
        setattr(tally, field, 1)
        return tally
    return None


def _handled(data: dict[str, Any]) -> Tally:
    return Tally(handled=1, response=_one(data.get("took_s")))


def _done(data: dict[str, Any]) -> Tally:
    return Tally(done=1, work=_one(data.get("took_s")))


def _one(took_s: float | None) -> Sketch:
    return {bucket_of(took_s): 1} if took_s is not None else {}


def _checked(_: dict[str, Any]) -> Tally:
    return Tally(checks=1, answered=1)


def _missed(_: dict[str, Any]) -> Tally:
    return Tally(checks=1)


def _opened(data: dict[str, Any]) -> Tally:
    return Tally(incidents=1, stalls=int(data.get("incident") in STALLS))


def _ended(data: dict[str, Any]) -> Tally:
    return Tally(healed=int(data.get("incident") in STALLS and data.get("outcome") not in UNHEALED))


def _priced(data: dict[str, Any]) -> Tally:
    return Tally(runs=1, usd=data.get("usd") or 0.0, tokens=data.get("tokens") or 0)


_TOLD: dict[str, Callable[[dict[str, Any]], Tally]] = {
    "message.handled": _handled,
    "task.done": _done,
    "buddy.checked": _checked,
    "buddy.missed": _missed,
    "incident.opened": _opened,
    "incident.ended": _ended,
    "run.priced": _priced,
}
"""The kinds of event whose words count too."""
