"""Covey: a fleet of AI agents on one server, held together by durable mail, tasks under leases, and self-healing.

The public API: `covey.Fleet`, `covey.Agent`, `covey.Client` and `covey.AsyncClient`, `covey.Ballot`, `covey.Message`,
`covey.Parcel`, `covey.Task`, and the errors of `covey.errors`. Each is loaded when first used, so that `import covey` costs nothing.
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


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("covey.base.errors")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"covey has no {name!r}; it has {', '.join(__all__)}")
