"""The stream of hints, one for each browser: its pages look again at what a hint names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from covey.console.console import console_of
from covey.console.hints import Ear
from covey.doors.answer import Stream
from covey.doors.call import Call
from covey.doors.operations import Nothing, get

HEARTBEAT_S = 15.0
"""A quiet stream says so often that it lives, and looks whether its sign-in still holds."""
RETRY_MS = 1000


async def get_live(call: Call[Nothing, Nothing]) -> Stream:
    """Hints as server-sent events, after the one that the browser saw last."""
    return Stream(_told(call, call.headers.get(b"last-event-id", b"").decode("latin-1")))


async def _told(call: Call[Nothing, Nothing], since: str) -> AsyncIterator[bytes]:
    """What there is to tell, until the browser is gone, its sign-in has ended, or the port closes."""
    hints = console_of(call).hints
    ear = hints.join(since)
    watch = asyncio.create_task(_until_gone(call, ear))
    try:
        yield b"retry: %d\n\n" % RETRY_MS
        while not (call.left or call.door.closing.is_set()):
            text = ear.take()
            if not text and await ear.hears(HEARTBEAT_S):
                continue
            if await call.recognise() is None:
                yield b"event: signed-out\ndata: {}\n\n"
                return
            yield text or b": still here\n\n"
    finally:
        watch.cancel()
        hints.leave(ear)


async def _until_gone(call: Call[Any, Any], ear: Ear) -> None:
    await call.gone()
    ear.prick()


OPERATIONS = (get("/live", get_live, "operator", "Hints that something has happened.", gives=str, media="text/event-stream"),)
