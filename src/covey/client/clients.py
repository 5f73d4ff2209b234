"""`Client` and `AsyncClient`: a fleet's API as methods, the same ones, blocking or awaited.

What is done carries an Idempotency-Key, so that a call whose connection breaks is made again, and done once.
"""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from covey.base import token_file
from covey.base.errors import CoveyError, Invalid, NotRunning
from covey.base.roundtrip import RoundTrip
from covey.client import calls
from covey.client.async_lines import AsyncLine
from covey.client.lines import Line
from covey.client.place import Place
from covey.client.request import Request, error_in, with_query
from covey.client.stream import Event, Following

P = ParamSpec("P")
T = TypeVar("T")
URL = "http://127.0.0.1:8000"
PATIENCE_S = 35.0
"""An answer comes within so long, beside what it was asked to wait for: a store waits 30 s for its turn."""
AGAIN_S = 0.2
OWN_S = 10.0


def _blocking(ask: Callable[P, Request[T]]) -> Callable[Concatenate[Client, P], T]:
    """The call as a method that blocks."""

    @wraps(ask)
    def method(client: Client, /, *args: P.args, **words: P.kwargs) -> T:
        return client.do(ask(*args, **words))

    return method


def _awaited(ask: Callable[P, Request[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """The call as a method that is awaited."""

    @wraps(ask)
    async def method(client: AsyncClient, /, *args: P.args, **words: P.kwargs) -> T:
        return await client.do(ask(*args, **words))

    return method


class _Caller:
    """Where the fleet is, by which token it is called, and for how long a fleet that is away is tried again."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        agent: str = "operator",
        home: Path | str | None = None,
        again_s: float = OWN_S,
    ) -> None:
        self.place = Place(url or os.environ.get("COVEY_URL") or URL)
        self._token = token or _token(agent, Path(home) if home is not None else None)
        self._again_s = again_s

    def _trip(self, request: Request[T], key: str) -> RoundTrip:
        return self.place.trip(request.method, request.path, self._token, request.body, idempotency_key=key)

    def _stream(self, path: str, following: Following) -> RoundTrip:
        following.begun()
        return self.place.trip("GET", path, self._token, accept="text/event-stream", last_event_id=following.since or "")


def _token(agent: str, home: Path | None) -> str:
    """The token to show: that of COVEY_TOKEN, else what the file of the fleet's folder has for this name."""
    given = os.environ.get("COVEY_TOKEN", "")
    if given and home is None:
        return given
    known = token_file.read(home) if home is not None else {}
    if agent not in known:
        raise Invalid(
            f"a token for {agent} is needed: give `token`, or put it into COVEY_TOKEN, or give as `home` the fleet's data folder (.covey)"
            " on its machine. `covey token show NAME` prints it.",
            field="token",
        )
    return known[agent]


def _key(request: Request[T]) -> str:
    return str(uuid.uuid4()) if request.method == "POST" else ""


def _story(kinds: str, agent: str | None, subject: str | None) -> str:
    return with_query("/api/v1/events", {"kinds": kinds or None, "agent": agent, "subject": subject})


class Client(_Caller):
    """A fleet's API. Each method's answer is of the type that its API path gives; what goes wrong is raised as one of `covey.errors`.

    Safe to share between threads. `url`: COVEY_URL, else the default fleet of this machine. `token`: COVEY_TOKEN, else with `home`
    (the fleet's data folder) the one of `agent`. While the fleet can't be reached a call is tried again for `again_s`.
    """

    def do(self, request: Request[T]) -> T:
        """The answer to a request.

        Raises:
            NotRunning: Nobody answered, however often it was tried.
            CoveyError: The fleet refused it; the class and its `code` say why.
        """
        key, until, pause = _key(request), time.monotonic() + self._again_s, AGAIN_S
        while True:
            try:
                answer = Line(self.place).call(self._trip(request, key), PATIENCE_S + request.wait_s)
            except NotRunning:
                if time.monotonic() + pause > until:
                    raise
                time.sleep(pause)
                pause *= 2
            else:
                return request.read(answer.status, answer.body)

    def follow(self, since: str | None = None, *, kinds: str = "", agent: str | None = None, subject: str | None = None) -> Iterator[Event]:
        """The fleet's story without end, after the event `since` or from now on: of these kinds (`task.,vote.closed`), one agent, one id.

        A stream that breaks is taken up again where it was. Kind `resync`: events were missed; read anew what was built from them.

        Raises:
            CoveyError: The fleet refuses it, or can't be reached at the first try.
        """
        following, first = Following(since), True
        while True:
            try:
                for part in Line(self.place).stream(self._stream(_story(kinds, agent, subject), following), error_in):
                    first = False
                    yield from following.read(part)
            except CoveyError as error:
                if first or not _may_pass(error):
                    raise
            time.sleep(following.pause_s())

    send = _blocking(calls.send)
    send_draft = _blocking(calls.send_draft)
    reply = _blocking(calls.reply)
    ask = _blocking(calls.ask)
    replies = _blocking(calls.replies)
    message = _blocking(calls.message)
    inbox = _blocking(calls.inbox)
    acknowledge = _blocking(calls.acknowledge)
    thread = _blocking(calls.thread)
    search = _blocking(calls.search)
    agents = _blocking(calls.agents)
    agent = _blocking(calls.agent)
    why = _blocking(calls.why)
    glance = _blocking(calls.glance)
    recall = _blocking(calls.recall)
    add_task = _blocking(calls.add_task)
    tasks = _blocking(calls.tasks)
    task = _blocking(calls.task)
    cancel_task = _blocking(calls.cancel_task)
    claim = _blocking(calls.claim)
    renew = _blocking(calls.renew)
    progress = _blocking(calls.progress)
    finish = _blocking(calls.finish)
    fail = _blocking(calls.fail)
    give_back = _blocking(calls.give_back)
    offer_handoff = _blocking(calls.offer_handoff)
    handoff = _blocking(calls.handoff)
    handoffs = _blocking(calls.handoffs)
    accept_handoff = _blocking(calls.accept_handoff)
    decline_handoff = _blocking(calls.decline_handoff)
    open_vote = _blocking(calls.open_vote)
    cast_ballot = _blocking(calls.cast_ballot)
    vote = _blocking(calls.vote)
    close_vote = _blocking(calls.close_vote)


class AsyncClient(_Caller):
    """As `Client`, its methods awaited. A call that is cancelled leaves no connection behind."""

    async def do(self, request: Request[T]) -> T:
        """As `Client.do`."""
        now = asyncio.get_running_loop().time
        key, until, pause = _key(request), now() + self._again_s, AGAIN_S
        while True:
            try:
                answer = await AsyncLine(self.place).call(self._trip(request, key), PATIENCE_S + request.wait_s)
            except NotRunning:
                if now() + pause > until:
                    raise
                await asyncio.sleep(pause)
                pause *= 2
            else:
                return request.read(answer.status, answer.body)

    async def follow(
        self, since: str | None = None, *, kinds: str = "", agent: str | None = None, subject: str | None = None
    ) -> AsyncIterator[Event]:
        """As `Client.follow`."""
        following, first = Following(since), True
        while True:
            try:
                async for part in AsyncLine(self.place).stream(self._stream(_story(kinds, agent, subject), following), error_in):
                    first = False
                    for event in following.read(part):
                        yield event
            except CoveyError as error:
                if first or not _may_pass(error):
                    raise
            await asyncio.sleep(following.pause_s())

    send = _awaited(calls.send)
    send_draft = _awaited(calls.send_draft)
    reply = _awaited(calls.reply)
    ask = _awaited(calls.ask)
    replies = _awaited(calls.replies)
    message = _awaited(calls.message)
    inbox = _awaited(calls.inbox)
    acknowledge = _awaited(calls.acknowledge)
    thread = _awaited(calls.thread)
    search = _awaited(calls.search)
    agents = _awaited(calls.agents)
    agent = _awaited(calls.agent)
    why = _awaited(calls.why)
    glance = _awaited(calls.glance)
    recall = _awaited(calls.recall)
    add_task = _awaited(calls.add_task)
    tasks = _awaited(calls.tasks)
    task = _awaited(calls.task)
    cancel_task = _awaited(calls.cancel_task)
    claim = _awaited(calls.claim)
    renew = _awaited(calls.renew)
    progress = _awaited(calls.progress)
    finish = _awaited(calls.finish)
    fail = _awaited(calls.fail)
    give_back = _awaited(calls.give_back)
    offer_handoff = _awaited(calls.offer_handoff)
    handoff = _awaited(calls.handoff)
    handoffs = _awaited(calls.handoffs)
    accept_handoff = _awaited(calls.accept_handoff)
    decline_handoff = _awaited(calls.decline_handoff)
    open_vote = _awaited(calls.open_vote)
    cast_ballot = _awaited(calls.cast_ballot)
    vote = _awaited(calls.vote)
    close_vote = _awaited(calls.close_vote)


def _may_pass(error: CoveyError) -> bool:
    """Whether a stream that ended so is worth another try: the fleet is away or busy. Pure."""
    return error.face.http >= 500
