"""Send the events of each webhook: a round reads what is new, sends it in order, and moves the place. The leader's duty.

Neither an address nor a secret is ever logged: both may open something.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from covey.base.clock import Clock
from covey.base.errors import CoveyError
from covey.base.loops import Apart
from covey.base.outward import Allowed, connect
from covey.base.roundtrip import RoundTrip, over
from covey.base.settings import WebhookSettings
from covey.base.target import target_of
from covey.store import Store
from covey.store.events import START, Bookmark, Event
from covey.webhooks import marking
from covey.webhooks.marking import Batch
from covey.webhooks.model import Verdict, body_of, headers_of, key_of, verdict_of

log = logging.getLogger("covey.webhooks")

CALL_S = 15.0
"""One request may take so long."""
ROUND_S = 60.0
ANSWER_BYTES = 65_536
"""What a receiver answers is read so far, and passed over."""
FROM_ENVIRONMENT = "env:"

Send = Callable[[WebhookSettings, Event, float], Verdict]
"""Sends one event at a time; what came of it. It blocks, and raises nothing that the receiver may cause."""


def secret_of(hook: WebhookSettings, environ: Mapping[str, str]) -> str:
    """The secret, from the environment if the settings say so.

    Raises:
        ValueError: The variable is not set.
    """
    if not hook.secret.startswith(FROM_ENVIRONMENT):
        return hook.secret
    name = hook.secret.removeprefix(FROM_ENVIRONMENT)
    if name not in environ:
        raise ValueError(f"the environment has no {name}, which is to hold its secret")
    return environ[name]


def send(hook: WebhookSettings, event: Event, now: float) -> Verdict:
    """Send one event by HTTP, to an address that may be called."""
    try:
        target = target_of(hook.url)
        key = key_of(secret_of(hook, os.environ))
        body = body_of(event)
        headers = headers_of(f"evt_{event.cursor}", int(now), body, key)
        with connect(target, Allowed(hook.allow_private), timeout_s=CALL_S) as sock:
            answer = over(sock, RoundTrip(target, "POST", target.path, headers, body), timeout_s=CALL_S, most_bytes=ANSWER_BYTES)
        return verdict_of(answer.status, answer.retry_after)
    except CoveyError as error:
        return Verdict(False, error.message.rstrip("."))
    except ValueError as error:
        return Verdict(False, f"its secret can't be used: {error}")
    except OSError as error:
        return Verdict(False, f"the connection broke ({error.strerror or type(error).__name__})")


class Sending:
    """Rounds over the webhooks. One that hangs or fails holds up no other."""

    def __init__(self, store: Store, clock: Clock, hooks: Callable[[], Sequence[WebhookSettings]], sender: Send = send) -> None:
        self._store = store
        self._clock = clock
        self._hooks = hooks
        self._sender = sender
        self._apart = Apart("webhook")
        self._read_to: dict[str, Bookmark] = {}
        """How far there was nothing to tell: kept in memory, so that an idle fleet writes nothing."""

    async def one_round(self, _fence: int = 0) -> None:
        """Send what is new of each webhook that is not still at it."""
        await self._apart.round({hook.name: partial(self._one, hook) for hook in self._hooks()}, ROUND_S)

    async def _one(self, hook: WebhookSettings) -> None:
        if not await self._store.read(marking.is_begun, hook.name):
            await self._store.write(marking.begin, hook.name)
            return
        full = True
        while full:
            batch = await self._store.read(marking.batch, hook.name, hook.kinds, self._read_to.get(hook.name, START))
            if batch is None or not await self._send(hook, batch):
                return
            self._read_to[hook.name], full = batch.bookmark, batch.full

    async def _send(self, hook: WebhookSettings, batch: Batch) -> bool:
        """Send a batch in order; whether all of it was taken. What was taken before a failure is marked."""
        for count, event in enumerate(batch.events):
            verdict = await asyncio.to_thread(self._sender, hook, event, self._clock.wall())
            if not verdict.taken:
                if count:
                    await self._store.write(marking.told, hook.name, batch.events[count - 1].cursor, count)
                await self._store.write(marking.in_vain, hook.name, event, verdict)
                log.warning("the webhook %s could not tell an event: %s; it is tried again", hook.name, verdict.said)
                return False
        if batch.events or batch.full:
            await self._store.write(marking.told, hook.name, batch.bookmark, len(batch.events))
        return True
