"""What comes in over the A2A door is checked as at our other doors: form, bounds, tokens, names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc

from covey.a2a import grpc_server
from tests.a2a.conftest import MakeWorld
from tests.a2a.test_giving import message
from tests.a2a.world import World, call
from tests.api.world import bearer, until
from tests.rules import rule
from tests.runner.office import done, held_up

HEADERS = {"Content-Type": "application/json", "A2A-Version": "1.0"}


async def chunks(count: int) -> AsyncIterator[bytes]:
    """A body whose length nobody knows beforehand, in parts of 64 KiB."""
    for _ in range(count):
        yield b"x" * 65_536


async def post(url: str, body: bytes | AsyncIterator[bytes], **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=20) as client:
        return await client.post(url, content=body, headers={**HEADERS, **bearer("operator"), **headers})


def rpc(method: Any, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@rule("M10")
async def test_malformed_json_rpc_is_answered_with_the_code_of_its_fault_and_fills_no_log(
    world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = [
        (b'{"jsonrpc": ', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "GetTask"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": NaN}}', -32700),
        (b"[" * 200 + b"]" * 200, -32700),
        (b"[1]", -32600),
        (b'"text"', -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}]', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ListTasks"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ListTasks"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (rpc("NoSuchMethod", {}), -32601),
        (rpc("GetTask", {"id": 7}), -32602),
        (rpc("GetTask", []), -32602),
        (rpc("GetTask", {}), -32602),
        (rpc("SendMessage", {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{}]}}), -32602),
        (rpc("SendMessage", {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}), -32602),
        (rpc("SendMessage", message("m", contextId="no good id")), -32602),
        (rpc("SendMessage", message("m" * 300)), -32602),
        (rpc("ListTasks", {"pageSize": 1000}), -32602),
        (rpc("GetTask", {"id": "t", "historyLength": -1}), -32602),
    ]
    async with world(done()) as here:
        for body, code in wrong:
            answer = await post(here.url, body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (200, code), body[:80]
        listed = await call(here.url, "ListTasks", {}, headers=bearer("operator"))
        old = await call(here.url, "message/send", {"message": 7}, headers=bearer("operator"), version="0.3")
    assert listed["result"]["tasks"] == []
    assert old["error"]["code"] == -32602
    assert [record for record in caplog.records if record.exc_info] == []


@rule("M10")
async def test_what_is_too_large_is_refused_and_nothing_stored(world: MakeWorld) -> None:
    async with world(done()) as here:
        huge = await post(here.url, b'{"a": "' + b"x" * (1024 * 1024) + b'"}')
        endless = await post(here.url, chunks(17))
        long = (await call(here.url, "SendMessage", message("m1", text="x" * 300_000), headers=bearer("operator")))["error"]
        data = message("m2", parts=[{"data": {"text": "x" * 70_000}}])
        much = (await call(here.url, "SendMessage", data, headers=bearer("operator")))["error"]
        many = (await call(here.url, "SendMessage", message("m3", parts=[{"text": "x"}] * 201), headers=bearer("operator")))["error"]
        listed = await call(here.url, "ListTasks", {}, headers=bearer("operator"))
    assert (huge.status_code, endless.status_code) == (413, 413)
    assert [each["code"] for each in (long, much, many)] == [-32602] * 3
    assert listed["result"]["tasks"] == []


@rule("M11")
async def test_nobody_and_a_wrong_token_are_turned_away(world: MakeWorld) -> None:
    async with world(done()) as here:
        for by, status in ((None, 401), ("wrong", 401), ("owner:ann", 403)):
            for url in (here.url, f"{here.url}/message:send"):
                async with httpx.AsyncClient() as client:
                    answer = await client.post(url, content=rpc("ListTasks", {}), headers={**HEADERS, **bearer(by)})
                assert answer.status_code == status, (by, url)
                assert ("www-authenticate" in answer.headers) == (status == 401)
        missing = await post(here.url.replace("/coder", "/nobody"), rpc("ListTasks", {}))
    assert missing.status_code == 404


async def test_a_web_page_and_a_foreign_name_are_turned_away(world: MakeWorld) -> None:
    async with world(done()) as here:
        page = await post(here.url, rpc("ListTasks", {}), Origin="https://evil.example")
        name = await post(here.url, rpc("ListTasks", {}), Host="evil.example")
        form = await post(here.url, rpc("ListTasks", {}), **{"Content-Type": "text/plain"})
        below = await post(f"{here.url}/message:send", json.dumps(message("m")).encode(), **{"Content-Type": "text/plain"})
    assert (page.status_code, name.status_code) == (403, 403)
    assert form.json()["error"]["code"] == -32005
    assert below.status_code == 415


async def test_versions_that_are_not_spoken_are_refused_on_all_three(world: MakeWorld) -> None:
    async with world(done()) as here:
        over_rpc = await call(here.url, "ListTasks", {}, headers=bearer("operator"), version="99.0")
        async with httpx.AsyncClient() as client:
            over_http = await client.get(f"{here.url}/tasks", headers={**bearer("operator"), "A2A-Version": "99.0"})
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await list_over_grpc(here, "operator", version="99.0")
    assert over_rpc["error"]["code"] == -32009
    assert over_http.status_code == 400
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION


async def list_over_grpc(here: World, by: str | None, *, tenant: str = "coder", version: str = "1.0") -> Any:
    metadata = [("a2a-version", version), *((key.lower(), value) for key, value in bearer(by).items())]
    async with grpc.aio.insecure_channel(here.grpc) as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        return await stub.ListTasks(a2a_pb2.ListTasksRequest(tenant=tenant), metadata=metadata, timeout=20)


async def read_on(stream: Any) -> None:
    """Read to the end, also what came of the task before it was cut."""
    while await stream.read() is not grpc.aio.EOF:
        pass


async def test_a_connection_over_grpc_lasts_so_long_only_whether_its_reader_reads_or_not(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpc_server, "AGE_S", 0.5)
    monkeypatch.setattr(grpc_server, "AGE_GRACE_S", 0.5)
    brain = held_up()
    async with world(brain) as here:
        ident = (
            await call(here.url, "SendMessage", {**message("m1"), "configuration": {"returnImmediately": True}}, headers=bearer("operator"))
        )["result"]["task"]["id"]
        metadata = [("a2a-version", "1.0"), *((key.lower(), value) for key, value in bearer("operator").items())]
        async with grpc.aio.insecure_channel(here.grpc) as channel:
            stub = a2a_pb2_grpc.A2AServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
            stream = stub.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id=ident, tenant="coder"), metadata=metadata, timeout=20)
            assert (await stream.read()).task.id == ident
            await until(lambda: here.waiting() == 1, "the stream waits")
            await until(lambda: here.waiting() == 0, "nobody waits any more")
            with pytest.raises(grpc.aio.AioRpcError) as cut:
                await read_on(stream)
            assert cut.value.code() == grpc.StatusCode.UNAVAILABLE
        brain.go_on.set()


async def test_grpc_knows_its_callers_and_its_agents(world: MakeWorld) -> None:
    async with world(done()) as here:
        await call(here.url, "SendMessage", message("m1"), headers=bearer("operator"))
        assert len((await list_over_grpc(here, "operator")).tasks) == 1
        assert len((await list_over_grpc(here, "operator", tenant="")).tasks) == 0  # the lead's
        for by, tenant, code in (
            (None, "coder", grpc.StatusCode.UNAUTHENTICATED),
            ("wrong", "coder", grpc.StatusCode.UNAUTHENTICATED),
            ("owner:ann", "coder", grpc.StatusCode.PERMISSION_DENIED),
            ("operator", "nobody", grpc.StatusCode.NOT_FOUND),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await list_over_grpc(here, by, tenant=tenant)
            assert refused.value.code() == code, (by, tenant)


async def test_a_required_extension_must_be_named(world: MakeWorld) -> None:
    wanted = "urn:example:audit"
    async with world(done(), required_extensions=(wanted,)) as here:
        without = await call(here.url, "SendMessage", message("m1"), headers=bearer("operator"))
        named = await call(here.url, "SendMessage", message("m1"), headers={**bearer("operator"), "A2A-Extensions": wanted})
    assert without["error"]["code"] == -32008
    assert named["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_what_the_card_does_not_offer_is_refused(world: MakeWorld) -> None:
    async with world(done(), streaming=False, push=False, extended_card=False) as here:
        codes = [
            (await call(here.url, method, params, headers=bearer("operator")))["error"]["code"]
            for method, params in (
                ("SendStreamingMessage", message("m1")),
                ("CreateTaskPushNotificationConfig", {"taskId": "t", "url": "https://example.org/"}),
                ("GetExtendedAgentCard", {}),
            )
        ]
    assert codes == [-32004, -32003, -32007]


async def test_a_client_that_vanishes_from_a_stream_leaves_its_task_at_work(world: MakeWorld) -> None:
    brain = held_up()
    async with world(brain) as here:
        async with httpx.AsyncClient(timeout=20, headers={**HEADERS, **bearer("operator")}) as client:
            async with client.stream("POST", here.url, content=rpc("SendStreamingMessage", message("m1"))) as stream:
                first = await anext(stream.aiter_lines())
            ident = json.loads(first.removeprefix("data: "))["result"]["task"]["id"]
        await asyncio.wait_for(brain.began.wait(), 20)
        brain.go_on.set()
        found = await here.office.in_state(ident, "done")
    assert found.state == "done"


async def test_nobody_waits_on_for_a_client_that_has_left(world: MakeWorld) -> None:
    brain = held_up()
    async with world(brain) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.settings.gateway_port)
        body = rpc("SendMessage", message("m1"))
        head = f"POST /a2a/coder HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Authorization: {bearer('operator')['Authorization']}\r\n\r\n".encode() + body)
        await asyncio.wait_for(brain.began.wait(), 20)
        await until(lambda: here.waiting() == 1, "the call waits")
        writer.close()
        await until(lambda: here.waiting() == 0, "nobody waits any more")
        brain.go_on.set()
    del reader


async def test_calls_of_0_3_are_answered_as_json_rpc_has_it(world: MakeWorld) -> None:
    async with world(done()) as here:
        given = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "Count"}]}
        task = (await call(here.url, "message/send", {"message": given}, headers=bearer("operator"), version="0.3"))["result"]
        params = {"id": task["id"], "pushNotificationConfigId": "x"}
        removed = await call(here.url, "tasks/pushNotificationConfig/delete", params, headers=bearer("operator"), version="0.3")
        wrong = await call(here.url, "message/send", {"message": {"kind": "message"}}, headers=bearer("operator"), version="0.3")
        missing = await call(here.url, "tasks/get", {"id": "nothing"}, headers=bearer("operator"), version="")
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    assert removed == {"id": 1, "jsonrpc": "2.0", "result": None}
    assert wrong["error"]["code"] == -32602
    assert missing["error"]["code"] == -32001
