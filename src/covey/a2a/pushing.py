"""Pushes news of exchanges to where their givers want them: in order, at least once, tried again with growing pauses (A2A)."""

from __future__ import annotations

import asyncio
import json
import logging

import httpx
from a2a.compat.v0_3.conversions import to_compat_task
from a2a.types.a2a_pb2 import StreamResponse
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict

from covey.a2a import encoding, following
from covey.a2a.visiting import PROTOCOL_VERSION_0_3
from covey.agents.model import THE_OPERATOR
from covey.base.errors import CoveyError, Failed
from covey.base.outward import Allowed
from covey.base.pinned import client
from covey.doors.door import FleetDoor
from covey.exchanges import pushing, reading
from covey.exchanges.model import Exchange, News
from covey.exchanges.pushing import Push
from covey.store import events

log = logging.getLogger("covey.a2a")
TIMEOUT = httpx.Timeout(10.0, connect=5.0)
CALL_S = 15.0
"""One call may take so long altogether: a place that answers a byte at a time is in time with each of them."""
LOOK_S = 1.0
"""How often it looks for what is to be tried again."""
AT_ONCE = 48
"""So many places are called side by side."""
OF_ONE = 8
"""So many of one giver, so that one whose places hang holds up nobody else."""


class Pusher:
    """Pushes for as long as it runs."""

    def __init__(self, door: FleetDoor) -> None:
        self._door = door
        self._allowed = door.settings.a2a.allow_private
        self._client = client(Allowed(self._allowed), timeout=TIMEOUT)
        self._rung = asyncio.Event()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._of_one: dict[str, asyncio.Semaphore] = {}
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}

    def wake(self) -> None:
        """There is a new place to push to."""
        self._rung.set()

    async def run(self) -> None:
        """Push whenever there is news, until cancelled; while there is nowhere to push to, nothing is looked at.

        A blanket except, so that one bad round is not the last.
        """
        while not self._door.closing.is_set():
            try:
                self._rung.clear()
                if not await self._door.store.read(pushing.is_any):
                    await self._rung.wait()
                at = await self._door.store.read(events.last)
                await self.one_round()
                await following.something(self._door, at, LOOK_S)
            except Exception:
                log.exception("a round of pushes failed; the next comes in a second")
                await self._door.clock.sleep(1.0)

    async def one_round(self) -> None:
        """Begin to push to each place for which there is news, unless it is being pushed to already."""
        await self._heed_settings()
        for push in await self._door.store.read(pushing.due):
            key = push.task_id, push.id
            if key not in self._busy:
                task = asyncio.create_task(self._push_all(push))
                self._busy[key] = task
                task.add_done_callback(lambda _, key=key: self._busy.pop(key, None))  # type: ignore[misc]

    async def _heed_settings(self) -> None:
        """Where may be pushed to is as the settings say now; what is under way is tried again."""
        allowed = self._door.settings.a2a.allow_private
        if allowed != self._allowed:
            before, self._allowed, self._client = self._client, allowed, client(Allowed(allowed), timeout=TIMEOUT)
            await before.aclose()

    async def idle(self) -> None:
        """Return once nothing is being pushed."""
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def close(self) -> None:
        """Stop pushing; what was not told is told by the next one."""
        for task in list(self._busy.values()):
            task.cancel()
        await self.idle()
        await self._client.aclose()

    async def _push_all(self, push: Push) -> None:
        """Tell one place its news, step by step."""
        own = self._of_one.setdefault(push.giver, asyncio.Semaphore(OF_ONE))
        async with own, self._at_once:
            try:
                await self._tell(push)
            except CoveyError as error:
                await self._door.store.write(pushing.failed, push, error.message, permanent=error.code in ("forbidden", "invalid"))
            except httpx.HTTPError as error:
                await self._door.store.write(pushing.failed, push, f"{type(error).__name__}: {error}")

    async def _tell(self, push: Push) -> None:
        parcel = await self._door.store.read(pushing.parcel, push)
        if parcel is None:
            return
        ended = False
        for step in parcel.news:
            for body in await self._bodies(push, parcel.exchange.agent, step):
                await self._post(push, body)
            ended = step.phase in encoding.TERMINAL
            await self._door.store.write(pushing.moved, push, step.cursor, ended=ended)
        if not ended:
            await self._door.store.write(pushing.moved, push, parcel.bookmark, ended=False)

    async def _bodies(self, push: Push, agent: str, step: News) -> list[dict[str, object]]:
        """What is posted for one step: in 0.3 the task, else what a stream would say."""
        if push.version == PROTOCOL_VERSION_0_3 or step.first:
            found = await self._door.store.read(reading.show, agent, push.task_id, THE_OPERATOR)
            return [_shown(push, found)]
        exchange = await self._door.store.read(reading.show, agent, push.task_id, THE_OPERATOR, history=0)
        return [_json(to_stream_response(each)) for each in encoding.steps_of(step, push.task_id, exchange.thread_id)]

    async def _post(self, push: Push, body: dict[str, object]) -> None:
        headers = {"Content-Type": "application/json"}
        if push.token:
            headers["X-A2A-Notification-Token"] = push.token
        if push.scheme and push.credentials:
            headers["Authorization"] = f"{push.scheme} {push.credentials}"
        try:
            async with asyncio.timeout(CALL_S):
                response = await self._client.post(push.url, content=json.dumps(body).encode(), headers=headers)
        except TimeoutError as error:
            raise Failed(f"the place did not answer in full within {CALL_S:.0f} s.") from error
        if response.status_code >= 300:
            raise Failed(f"the place answered {response.status_code}; 2xx is wanted.")


def _shown(push: Push, found: Exchange) -> dict[str, object]:
    task = encoding.task_of(found)
    if push.version == PROTOCOL_VERSION_0_3:
        shown: dict[str, object] = to_compat_task(task).model_dump(mode="json", by_alias=True, exclude_none=True)
        return shown
    return _json(StreamResponse(task=task))


def _json(response: StreamResponse) -> dict[str, object]:
    found: dict[str, object] = MessageToDict(response)
    return found
