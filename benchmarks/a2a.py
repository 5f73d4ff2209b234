"""SendMessage over 32 connections, stored for good before it is answered, beside a bare agent of the A2A package, in memory."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing as mp
import statistics
from pathlib import Path

import msgspec
from starlette.applications import Starlette

from benchmarks.doors import TOKEN, Serve, bare, rate, serving
from benchmarks.measuring import EIGHT, Figure, store_in
from covey.agents import tokens
from covey.doors.door import FleetDoor

REQUESTS = 3200
TEXT = "a message of an ordinary length, as agents write them. " * 4
_ids = itertools.count()


def _serve_ours(path: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    from covey.a2a.routes import routes  # noqa: PLC0415 - heavy, and not for the process that measures
    from covey.a2a.service import Service  # noqa: PLC0415 - as above

    async def run() -> None:
        async with store_in(Path(path), full=True) as store:
            await store.write(tokens.put, "operator", tokens.hash_of(TOKEN))
            door = FleetDoor(store=store, settings=EIGHT)
            await bare(Starlette(routes=routes(door, Service(door, lambda: None))), ready, stop)

    asyncio.run(run())


def _serve_bare(_: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    from a2a.server.agent_execution import AgentExecutor, RequestContext  # noqa: PLC0415 - as above
    from a2a.server.events import EventQueue  # noqa: PLC0415 - as above
    from a2a.server.request_handlers import DefaultRequestHandler  # noqa: PLC0415 - as above
    from a2a.server.routes import create_jsonrpc_routes  # noqa: PLC0415 - as above
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater  # noqa: PLC0415 - as above
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task  # noqa: PLC0415 - as above
    from a2a.types.a2a_pb2 import TaskState, TaskStatus  # noqa: PLC0415 - as above

    class Done(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            assert context.task_id is not None
            assert context.context_id is not None
            submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=submitted))
            updater = TaskUpdater(event_queue, context.task_id, context.context_id)
            await updater.complete(updater.new_agent_message([Part(text="done")]))

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise NotImplementedError

    card = AgentCard(
        name="bare",
        description="bare",
        version="1",
        supported_interfaces=[AgentInterface(url="http://127.0.0.1/", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="x", name="x", description="x", tags=["x"])],
    )
    handler = DefaultRequestHandler(agent_executor=Done(), task_store=InMemoryTaskStore(), agent_card=card)
    asyncio.run(bare(Starlette(routes=list(create_jsonrpc_routes(handler, "/a2a/coder"))), ready, stop))


def _request(port: int) -> bytes:
    message = {"role": "ROLE_USER", "messageId": f"m-{next(_ids)}", "parts": [{"text": TEXT}]}
    params = {"message": message, "configuration": {"returnImmediately": True}}
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params})
    head = f"POST /a2a/coder HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\nA2A-Version: 1.0\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _once(serve: Serve) -> float:
    with serving(serve) as port:
        return asyncio.run(rate(port, _request, REQUESTS, holds=b'"task"'))


def measure(runs: int = 5) -> list[Figure]:
    """The median of the ratio, run by run."""
    pairs = [(_once(_serve_ours), _once(_serve_bare)) for _ in range(runs)]
    ours, plain = (statistics.median(each[place] for each in pairs) for place in (0, 1))
    share = statistics.median(a / b for a, b in pairs)
    return [
        Figure(
            "A2A SendMessage, 32 connections, full",
            f"{ours:,.0f}/s ({share:.2f} of bare)",
            f"{plain:,.0f}/s bare agent, in memory",
            "≥ 0.8 of bare",
            share >= 0.8,
        )
    ]
