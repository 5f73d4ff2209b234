"""The package's own client does a whole job with our fleet, over a gateway that is started anew in the middle."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)

from covey.agents import configuring
from covey.api import agent_port
from covey.api.door import Door
from covey.base.clock import SystemClock
from tests.a2a.test_streaming import talking
from tests.a2a.world import gateway, on_free_ports, served
from tests.api.world import Process, bearer, give_tokens
from tests.conftest import Database, opened
from tests.runner.office import office, until


def asked(ident: str, text: str = "Go through the list") -> SendMessageRequest:
    return SendMessageRequest(message=Message(message_id=ident, role=Role.ROLE_USER, parts=[Part(text=text)]))


@asynccontextmanager
async def client_of(url: str, binding: str, version: str = "1.0") -> AsyncIterator[Client]:
    async with httpx.AsyncClient(headers=bearer("operator"), timeout=20) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        only = [each for each in card.supported_interfaces if (each.protocol_binding, each.protocol_version) == (binding, version)]
        mine = AgentCard()
        mine.CopyFrom(card)
        del mine.supported_interfaces[:]
        mine.supported_interfaces.extend(only)
        yield ClientFactory(ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])).create(mine)


@pytest.mark.parametrize(("binding", "version"), [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")])
async def test_a_client_sends_streams_is_cut_off_subscribes_again_and_cancels(
    database: Database, tmp_path: Path, binding: str, version: str
) -> None:
    settings, brain = on_free_ports(), talking()
    coder = settings.agent("coder")
    assert coder is not None
    async with opened(database, tmp_path, SystemClock()) as store:
        await store.write(configuring.configure, settings)
        await give_tokens(store)
        card_port = agent_port.make_app(Door(store=store, settings=settings, agent="coder", local=Process(store, "coder")))
        async with office(store, brain, settings=settings) as here, served(card_port, coder.port):
            url = f"http://127.0.0.1:{coder.port}"
            async with client_of(url, binding, version) as client:
                async with gateway(store, settings):
                    stream = client.send_message(asked("m1"))
                    task = (await anext(stream)).task
                    await brain.began.wait()
                    brain.go_on.set()
                    async for event in stream:
                        if event.status_update.status.message.parts:
                            break
                # the gateway is gone; its task is not
                with pytest.raises(A2AClientError):
                    await client.get_task(GetTaskRequest(id=task.id))
                brain.go_on.set()
                await until_said(here, task.id, "two")
                async with gateway(store, settings):
                    found = await client.get_task(GetTaskRequest(id=task.id))
                    assert found.status.state == TaskState.TASK_STATE_WORKING
                    again = client.subscribe(SubscribeToTaskRequest(id=task.id))
                    assert (await anext(again)).task.id == task.id
                    brain.go_on.set()
                    told = [event async for event in again]
                    assert told[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
                    assert [event.artifact_update.artifact.name for event in told if event.HasField("artifact_update")] == ["list"]
                    second = (await anext(client.send_message(asked("m2")))).task
                    cancelled = await client.cancel_task(CancelTaskRequest(id=second.id))
                    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
                    if version == "1.0":
                        listed = await client.list_tasks(ListTasksRequest())
                        assert [each.id for each in listed.tasks] == [second.id, task.id]


async def until_said(here: object, ident: str, word: str) -> None:
    """Return once the task's progress is this word."""

    async def is_said() -> bool:
        return bool((await here.task(ident)).progress == word)  # type: ignore[attr-defined]

    await until(is_said)
