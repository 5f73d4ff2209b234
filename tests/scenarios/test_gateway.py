"""The gateway as a process of the fleet: started, watched, adopted and ended with it, known by its port, absent where nobody wants it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from covey.agents import roster
from covey.base.settings import GATEWAY_OFFSET
from tests.mcp.world import given
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, answers, fleet_in, wait_until

pytestmark = pytest.mark.scenario

CONFIG = """
[agents.chief]
brain = "external"
[agents.coder]
brain = "external"
[agents.devops]
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[RunningFleet]:
    """Two agents from outside and one of ours, with a gateway; not started."""
    (tmp_path / "covey.toml").write_text(CONFIG)
    with fleet_in(tmp_path) as found:
        found.env["COVEY_GATEWAY"] = "auto"
        yield found


def url_of(fleet: RunningFleet) -> str:
    return f"http://127.0.0.1:{fleet.base_port + GATEWAY_OFFSET}/mcp"


def in_client(fleet: RunningFleet, name: str, job: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """What a job of the official client, as this agent, comes to."""
    token = fleet.covey("token", "show", name).stdout.strip()

    @asynccontextmanager
    async def connected() -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(streamable_http_client(url_of(fleet), http_client=http), mode=mode) as client,
        ):
            yield client

    async def run() -> Any:
        async with asyncio.timeout(60), connected() as client:
            return await job(client)

    return asyncio.run(run())


@rule("H9", "A10", "A7a")
def test_it_lives_and_ends_with_the_fleet(fleet: RunningFleet) -> None:
    fleet.up()
    first = fleet.marker("gateway")
    assert first is not None
    assert f"gateway (pid {first.pid}, port {first.port})" in fleet.covey("ps").stdout
    assert re.search(r"gateway    MCP.* on port", fleet.covey("doctor").stdout)
    assert in_client(fleet, "devops", lambda client: given(client, "whoami"))["name"] == "devops"
    fleet.kill("gateway")
    fleet.serving_again("gateway", first)
    again = fleet.marker("gateway")
    fleet.kill("node")
    fleet.covey("up", "--detach")
    assert fleet.marker("gateway") == again, "a new node adopts it"
    done = fleet.covey("gateway", check=False)
    assert done.returncode == 73
    assert "runs already" in done.stderr
    fleet.down()
    assert fleet.processes() == []


@rule("A5b")
def test_a_client_goes_on_after_the_gateway_was_killed(fleet: RunningFleet) -> None:
    fleet.up()

    async def job(client: Client) -> dict[str, Any]:
        task = (await given(client, "add_task", description="Write it down", agent="chief"))["taskId"]
        taken = await given(client, "claim_task", lane="task")
        before = fleet.kill("gateway")
        await asyncio.to_thread(fleet.serving_again, "gateway", before)
        await given(client, "finish_task", token=taken["token"], summary="written")
        return (await given(client, "read", taskId=task))["task"]  # type: ignore[no-any-return]

    assert in_client(fleet, "chief", job)["state"] == "done"


@rule("A5b", "K4")
def test_the_same_tools_are_there_over_standard_input_and_output(fleet: RunningFleet) -> None:
    fleet.covey("task", "add", "coder", "Paint the fence", "--id", "fence")

    async def run(mode: str) -> tuple[list[str], dict[str, Any]]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "covey", "mcp", "--as", "coder"], cwd=str(fleet.folder), env=fleet.env
        )
        async with asyncio.timeout(60), Client(stdio_client(server), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert (await given(client, "whoami"))["name"] == "coder"
            taken = await given(client, "claim_task", lane="task")
            if taken["kind"] == "task":
                await given(client, "finish_task", token=taken["token"], summary="blue")
            return names, taken

    names, taken = asyncio.run(run("auto"))
    assert "claim_task" in names
    assert taken["item"] == "fence"
    assert asyncio.run(run("legacy"))[1]["kind"] == "nothing"
    assert fleet.task("fence").state == "done"
    assert fleet.read(roster.vitals, "coder").seen_at is not None


def test_standard_output_carries_the_protocol_alone_and_a_wrong_name_is_said(fleet: RunningFleet) -> None:
    for words, code, said in (
        (("mcp",), 2, "--as"),
        (("mcp", "--as", "nobody"), 4, "no token"),
        (("mcp", "--as", "owner:ann"), 4, "no token"),
    ):
        done = fleet.covey(*words, check=False)
        assert (done.returncode, done.stdout) == (code, "")
        assert said in done.stderr
    fleet.env["COVEY_TOKEN"] = "nobodys-token-0123456789"
    assert fleet.covey("mcp", check=False).returncode == 3
    del fleet.env["COVEY_TOKEN"]
    bad = subprocess.run(
        [sys.executable, "-m", "covey", "mcp", "--as", "coder"],
        cwd=fleet.folder, env=fleet.env, input="{nonsense\n", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in bad.stdout.splitlines())


def test_where_it_is_switched_off_there_is_none(fleet: RunningFleet) -> None:
    fleet.env["COVEY_GATEWAY"] = "off"
    fleet.up()
    assert fleet.marker("gateway") is None
    assert "switched off" in fleet.covey("doctor").stdout
    assert not answers(fleet.base_port + GATEWAY_OFFSET)


@rule("A10")
def test_a_stranger_on_its_port_is_named_before_anything_starts(fleet: RunningFleet) -> None:
    import socket

    with socket.create_server(("127.0.0.1", fleet.base_port + GATEWAY_OFFSET)):
        done = fleet.covey("up", "--detach", check=False)
    assert done.returncode == 1
    assert str(fleet.base_port + GATEWAY_OFFSET) in done.stderr
    assert fleet.marker("node") is None
    wait_until(lambda: not fleet.processes(), 20, "something was started all the same")
