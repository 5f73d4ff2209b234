"""An agent of another system as a brain: sends it the work, streams its progress, finds it again after a break, cancels it (A2A)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import httpx
from a2a.client.client import Client
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
)
from a2a.utils.errors import A2AError

from covey.base.errors import CoveyError
from covey.base.outward import Allowed
from covey.base.settings import AgentSettings
from covey.brains.launching import Site
from covey.brains.model import Hands, Outcome, Turn, failure
from covey.brains.remote import mapping
from covey.brains.remote.calling import Line, headers_of, is_final
from covey.brains.telling import Teller
from covey.exchanges import abroad
from covey.exchanges.abroad import Abroad
from covey.tasks import reading as tasks

log = logging.getLogger("covey.brains")
POLL_S = 2.0
"""How often an agent that does not stream is asked."""
LONGEST_S = 30.0
"""The pause between tries grows to this."""
TRIES = 20
"""So often in a row a broken line is taken up again."""
CANCEL_S = 3.0
NOT_HERE = "its brain is an agent of another system, which is asked for tasks and messages alone"


class A2aBrain:
    """A remote agent by its card's address."""

    kind = "a2a"

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        headers_of(settings)  # a wrong option is found at the start
        self._settings = settings
        self._site = site
        self._line = Line(settings, Allowed(site.allow_private))

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the other agent made of it; a failed outcome if it can't be reached."""
        if turn.kind == "digest":
            return Outcome()
        if turn.kind not in ("task", "message"):
            return failure(NOT_HERE, permanent=True)
        errand = Errand(self._line, turn, hands, self._settings.id)
        teller = Teller(hands, self._site.clock)
        try:
            return await errand.run(teller)
        except asyncio.CancelledError:
            await errand.call_off()
            raise
        except CoveyError as error:
            return failure(error.message, permanent=is_final(error), not_started=is_final(error))
        except (A2AError, httpx.HTTPError) as error:
            return failure(f"the agent at {self._line.url} did not do it: {error}")
        finally:
            teller.close()

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Nobody can tell what another system's agent is able to do."""
        return True

    async def close(self) -> None:
        """Hang up."""
        await self._line.close()


class Errand:
    """One turn's work with the other agent, from its sending to its end, over any number of broken lines."""

    def __init__(self, line: Line, turn: Turn, hands: Hands, agent: str) -> None:
        self._line = line
        self._turn = turn
        self._hands = hands
        self._agent = agent
        self._at: Abroad | None = None

    async def run(self, teller: Teller) -> Outcome:
        """What it came to."""
        self._at = await self._where(mapping.key_of(self._turn))
        is_sent = self._at is not None and self._at.task_id != "" and self._turn.answer is None
        if self._at is None and self._turn.message is not None:
            self._at = await self._where(self._turn.message.message.thread_id)
        broken = 0
        while True:
            client = await self._line.client()
            try:
                outcome = await self._follow(self._again(client) if is_sent else self._send(client), teller)
                if outcome is not None:
                    return outcome
                broken = 0
            except (A2AClientError, httpx.HTTPError) as error:
                broken += 1
                if self._at is None or not self._at.task_id or broken > TRIES:
                    raise
                log.info("%s: the line to %s broke (%s); it is taken up again", self._agent, self._line.url, error)
                await self._line.close()
                await asyncio.sleep(min(2.0 ** (broken - 1), LONGEST_S))
            is_sent = self._at is not None and self._at.task_id != ""
            if not is_sent:
                return failure("the agent's answer ended without a task or a message.")

    async def _where(self, key: str) -> Abroad | None:
        """Where the work is already, or the conversation that it belongs to."""
        found: Abroad | None = await self._hands.read(abroad.find, key, self._agent, self._line.url)
        return found

    def _send(self, client: Client) -> AsyncIterator[StreamResponse]:
        task_id, context_id = (self._at.task_id, self._at.context_id) if self._at is not None else ("", "")
        return client.send_message(SendMessageRequest(message=mapping.message_of(self._turn, task_id, context_id)))

    async def _again(self, client: Client) -> AsyncIterator[StreamResponse]:
        """The task as it stands, then its stream, or a look at it each two seconds where there is none to be had."""
        assert self._at is not None
        found = await client.get_task(GetTaskRequest(id=self._at.task_id))
        yield StreamResponse(task=found)
        if found.status.state in mapping.TERMINAL | mapping.PAUSED:
            return
        try:
            async for each in client.subscribe(SubscribeToTaskRequest(id=self._at.task_id)):
                yield each
        except (A2AClientError, httpx.HTTPError):
            raise
        except (A2AError, NotImplementedError):
            await asyncio.sleep(POLL_S)

    async def _follow(self, stream: AsyncIterator[StreamResponse], teller: Teller) -> Outcome | None:
        """What the stream comes to; None if it ended before the work did."""
        shown = Task()
        async for each in stream:
            if each.HasField("message"):
                await self._keep("", each.message.context_id)
                return mapping.answered(each.message)
            _merge(shown, each)
            if self._at is None or self._at.task_id != shown.id:
                await self._keep(shown.id, shown.context_id)
            said = mapping.words_of(shown.status.message.parts)
            if said and shown.status.state not in mapping.TERMINAL:
                teller.say(said)
            outcome = mapping.outcome_of(shown, self._turn)
            if outcome is not None:
                await self._settled(shown)
                return outcome
        return None

    async def _keep(self, task_id: str, context_id: str) -> None:
        """Remember where the work is, before anything can break."""
        self._at = Abroad(self._line.url, task_id, context_id)
        await self._hands.write(abroad.keep, mapping.key_of(self._turn), self._agent, self._at)

    async def _settled(self, task: Task) -> None:
        """The conversation goes on in that context; in that task too, if the agent asked something."""
        if self._turn.message is not None:
            open_task = task.id if task.status.state in mapping.PAUSED else ""
            where = Abroad(self._line.url, open_task, task.context_id)
            await self._hands.write(abroad.keep, self._turn.message.message.thread_id, self._agent, where)

    async def call_off(self) -> None:
        """Cancel the work there if it is cancelled here; if our process only goes down, it goes on and is asked for again."""
        if self._at is None or not self._at.task_id:
            return
        try:
            async with asyncio.timeout(CANCEL_S):
                if await self._is_off():
                    client = await self._line.client()
                    await client.cancel_task(CancelTaskRequest(id=self._at.task_id))
        except (TimeoutError, A2AError, CoveyError, httpx.HTTPError) as error:
            log.info("%s: %s could not be cancelled at %s: %s", self._agent, self._at.task_id, self._line.url, error)

    async def _is_off(self) -> bool:
        if self._turn.task is None:
            return False
        row = await self._hands.read(tasks.seek, self._turn.task.task_id)
        return row is None or row.state in ("cancelled", "failed", "done")


def _merge(task: Task, news: StreamResponse) -> None:
    """Bring the task up to date."""
    if news.HasField("task"):
        task.CopyFrom(news.task)
    elif news.HasField("status_update"):
        task.id, task.context_id = news.status_update.task_id, news.status_update.context_id
        task.status.CopyFrom(news.status_update.status)
    elif news.HasField("artifact_update"):
        update = news.artifact_update
        task.id, task.context_id = update.task_id, update.context_id
        known = next((each for each in task.artifacts if each.artifact_id == update.artifact.artifact_id), None)
        if known is None:
            task.artifacts.append(update.artifact)
        elif update.append:
            known.parts.extend(update.artifact.parts)
        else:
            known.CopyFrom(update.artifact)
