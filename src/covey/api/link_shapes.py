"""What goes in and out at the HTTP doors about links, peer states, deferred mail and paused threads. Data with its bounds, nothing else."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from covey.api.shapes import Asking, Cursor, Given, Ident, Limit
from covey.links.model import LinkChange
from covey.links.reading import LinkShown, PeerState


class LinksQuery(Asking):
    """Which part of the list: the `cursor` of the part before, and how many; of one agent, with those that the mesh implies."""

    agent: Ident | None = None
    cursor: Annotated[str, Meta(max_length=128)] | None = None
    limit: Limit = 50


class Links(Given):
    """Links, and what the configuration says of all: whether there is a mesh, and whether limits are on."""

    items: list[LinkShown]
    links: str
    limits: str
    cursor: str | None = None


class NewLink(LinkChange, kw_only=True):
    """Two agents to be linked, and the limits that are not the usual ones."""

    agents: Annotated[list[Ident], Meta(min_length=2, max_length=2)]

    @property
    def limits_of_it(self) -> LinkChange:
        """The limits alone."""
        named = {name: getattr(self, name) for name in LinkChange.__struct_fields__}
        return LinkChange(**named)


class StatesQuery(Asking):
    """Which part of the list."""

    cursor: Annotated[str, Meta(max_length=300)] | None = None
    limit: Limit = 50


class PeerStates(Given):
    """What is stored of each direction, for inspection."""

    items: list[PeerState]
    cursor: str | None = None


class DeferredQuery(Asking):
    """Which part of the list."""

    cursor: Cursor | None = None
    limit: Limit = 50


class PausesQuery(Asking):
    """Which part of the list."""

    cursor: Annotated[str, Meta(max_length=128)] | None = None
    limit: Limit = 50


class PausedThread(Given):
    """A thread in which no agent may send, since when, and why."""

    thread_id: str
    at: float
    reason: str


class Pauses(Given):
    """Paused threads."""

    items: list[PausedThread]
    cursor: str | None = None


class Resumed(Given):
    """The thread that agents may send in again."""

    thread_id: str
    resumed: bool = True
