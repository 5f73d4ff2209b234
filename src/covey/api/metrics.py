"""Figures as JSON, or as Prometheus text when the Accept header asks for it (A6)."""

from __future__ import annotations

from typing import Any

from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.reports import metrics
from covey.version import __version__


def figures_shown(call: Call[Any, Any], figures: dict[str, Any]) -> Answer:
    """The figures in the form that is asked for, and what this process measured of itself."""
    figures["process"] = {"build": {__version__: 1}, "store": call.door.store.measured()}
    if not wants_text(call.headers.get(b"accept", b"").decode("latin-1")):
        return shown(figures)
    return Answer(200, metrics.prometheus(figures).encode(), metrics.CONTENT_TYPE.encode())


def wants_text(accept: str) -> bool:
    """Whether an Accept header prefers text to JSON; `*/*` and none at all do not. Pure."""
    best = {"text": 0.0, "json": 0.0}
    for part in accept.lower().split(","):
        media, *parameters = (word.strip() for word in part.split(";"))
        kind = (
            "text"
            if media in ("text/plain", "text/*", "application/openmetrics-text")
            else "json"
            if media in ("application/json", "application/*")
            else ""
        )
        if kind:
            best[kind] = max(best[kind], _weight(parameters))
    return best["text"] > best["json"]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0
