"""Who listens at a desk: streams of current clients, and sessions of older ones that subscribed to an address."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection

from mcp import types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

from covey.base.errors import Invalid
from covey.mcp.connection import Context

STREAMS = 32
"""So many streams of news a caller may have open at once."""
SESSIONS = 64
URIS = 100
"""So many sessions may subscribe, each to so many addresses; the session that did so longest ago gives way."""


class Subscriptions:
    """The listeners of one desk. `begun` is set whenever one more listens."""

    def __init__(self, begun: asyncio.Event) -> None:
        self._begun = begun
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus, max_subscriptions=STREAMS)
        self._streams = 0
        self._sessions: OrderedDict[str, tuple[ServerSession, set[str]]] = OrderedDict()

    @property
    def any_there(self) -> bool:
        """Whether somebody listens."""
        return self._streams > 0 or bool(self._sessions)

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        """Be a stream of news until its client leaves."""
        asked = params.notifications.resource_subscriptions or []
        if len(asked) > URIS:
            raise MCPError(types.INVALID_PARAMS, f"resourceSubscriptions names {len(asked)} addresses; at most {URIS} are followed.")
        self._streams += 1
        self._begun.set()
        try:
            return await self._handler(ctx, params)
        finally:
            self._streams -= 1

    def add(self, session_id: str, session: ServerSession, uri: str) -> None:
        """The session hears of this address.

        Raises:
            Invalid: It follows too many already.
        """
        _, uris = self._sessions.pop(session_id, (session, set()))
        if len(uris) >= URIS:
            raise Invalid(f"this session follows {URIS} addresses already; unsubscribe from one.", field="uri")
        self._sessions[session_id] = (session, uris | {uri})
        self._begun.set()
        if len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)

    def drop(self, session_id: str, uri: str) -> None:
        """The session hears of this address no more."""
        if session_id in self._sessions:
            uris = self._sessions[session_id][1]
            uris.discard(uri)
            if not uris:
                del self._sessions[session_id]

    async def tell(self, uris: Collection[str], *, tools: bool) -> None:
        """Tell all who follow one of these addresses; who is gone hears nothing."""
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri))
            for session, followed in list(self._sessions.values()):
                if uri in followed:
                    await session.send_resource_updated(uri)
        if tools:
            await self._bus.publish(ToolsListChanged())

    def close(self) -> None:
        """End the streams in good order."""
        self._handler.close()
        self._sessions.clear()
