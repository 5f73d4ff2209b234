"""Covey: a fleet of AI agents on one server, held together by durable mail, tasks under leases, and self-healing.

The public API: `Fleet`, a fleet of this machine; `Client` and `AsyncClient`, one reached over HTTP; `Agent`, the base of a brain that is
a class, with what goes in and out of it (`Turn`, `Outcome`, `Task`, `Message`, `Ballot`, `Parcel`); and the classes of `errors`. Each is
loaded when first used, so that `import covey` loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from covey.version import __version__

if TYPE_CHECKING:
    from covey.app.fleet import Fleet
    from covey.base import errors
    from covey.brains.agent import Agent
    from covey.brains.model import Ballot, Outcome, Parcel, Turn
    from covey.client.clients import AsyncClient, Client
    from covey.messages.model import Message
    from covey.tasks.model import Task

_WHERE = {
    "Agent": "covey.brains.agent",
    "AsyncClient": "covey.client.clients",
    "Ballot": "covey.brains.model",
    "Client": "covey.client.clients",
    "Fleet": "covey.app.fleet",
    "Message": "covey.messages.model",
    "Outcome": "covey.brains.model",
    "Parcel": "covey.brains.model",
    "Task": "covey.tasks.model",
    "Turn": "covey.brains.model",
}

__all__ = ["Agent", "AsyncClient", "Ballot", "Client", "Fleet", "Message", "Outcome", "Parcel", "Task", "Turn", "__version__", "errors"]


if not TYPE_CHECKING:  # else a type checker would believe in every name

    def __getattr__(name: str) -> Any:
        if name == "errors":
            return import_module("covey.base.errors")
        if name in _WHERE:
            return getattr(import_module(_WHERE[name]), name)
        raise AttributeError(f"covey has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
