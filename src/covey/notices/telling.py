"""Tell the operator by the channels of the settings: a round reads what is new, sends it by Apprise, and moves the mark (extra `notify`).

Apprise is imported only here and only when a channel is named. What it logs is not ours to print: it may hold addresses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from covey.base.loops import Apart
from covey.notices import marking
from covey.notices.model import Batch, Words, channel_of, worded
from covey.store import Store
from covey.store.events import START, Bookmark

log = logging.getLogger("covey.notices")

SEND_S = 60.0
"""One channel may take so long for a batch."""

Send = Callable[[str, Sequence[Words]], bool]
"""Tells these by the channel of this address; whether all went out. It blocks."""


def is_installed() -> bool:
    """Whether the extra `notify` is there."""
    return find_spec("apprise") is not None


def is_known(url: str) -> bool:
    """Whether Apprise can make a channel of this address; nothing is sent."""
    return _channel(url) is not None


def _channel(url: str) -> Any:
    import apprise  # noqa: PLC0415 - 17 MB that only fleets with a channel pay, and an extra

    logging.getLogger("apprise").disabled = True
    channel = apprise.Apprise()
    return channel if channel.add(url) else None


def send(url: str, words: Sequence[Words]) -> bool:
    """Tell these by Apprise; whether all went out."""
    channel = _channel(url)
    return channel is not None and all(channel.notify(title=each.title, body=each.body, body_format="text") for each in words)


class Telling:
    """Rounds over the channels. A channel that hangs or fails holds up no other."""

    def __init__(self, store: Store, urls: Callable[[], Sequence[str]], sender: Send = send) -> None:
        self._store = store
        self._urls = urls
        self._sender = sender
        self._apart = Apart("channel")
        self._read_to: dict[str, Bookmark] = {}
        """How far there was nothing to tell: kept in memory, so that an idle fleet writes nothing."""

    async def one_round(self, _fence: int = 0) -> None:
        """Tell what is new by each channel that is not still at it."""
        urls = self._urls()
        if not urls or not is_installed():
            return
        channels = {channel_of(place, url): url for place, url in enumerate(urls)}
        await self._apart.round({name: partial(self._one_channel, name, url) for name, url in channels.items()}, SEND_S)

    async def _one_channel(self, channel: str, url: str) -> None:
        if not await self._store.read(marking.is_begun, channel):
            await self._store.write(marking.begin, channel)
            return
        full = True
        while full:
            batch = await self._store.read(marking.batch, channel, self._read_to.get(channel, START))
            if batch is None:
                return
            if batch.notices:
                await self._send(channel, url, batch)
                return
            full = batch.full
            if full:
                await self._store.write(marking.told, channel, batch)
            self._read_to[channel] = batch.bookmark

    async def _send(self, channel: str, url: str, batch: Batch) -> None:
        why = "the channel did not take it"
        try:
            done = await asyncio.to_thread(self._sender, url, worded(batch.notices))
        except Exception as error:  # noqa: BLE001 - a plugin of the library may raise anything, and its words may hold the address
            done, why = False, f"{type(error).__name__} while it was told"
        if done:
            await self._store.write(marking.told, channel, batch)
            return
        given_up = await self._store.write(marking.in_vain, channel, batch, why)
        rest = "they stand in the inbox alone" if given_up else "it is tried again"
        log.warning("the operator could not be told of %d alerts by the channel %s: %s; %s", len(batch.notices), channel, why, rest)
