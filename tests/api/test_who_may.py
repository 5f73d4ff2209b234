"""Who may call what: every line of both route tables, by nobody, a wrong token, agents, the lead and the operator."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from covey.agents.model import as_agent
from covey.api import agent_port, fleet_port
from covey.doors.operations import Operation
from covey.messages import sending
from covey.messages.model import draft
from covey.nodes import records
from covey.store import Store
from tests.api.world import World, bearer, problem_of
from tests.rules import rule

CALLERS = (None, "wrong", "sales", "devops", "coder", "chief", "operator", "owner:ann")
"""coder is the agent that paths name and whose port it is; devops its buddy, chief the lead; ann owns none of them."""
ALLOWED: dict[str, set[str | None]] = {
    "anyone": set(CALLERS),
    "status": {None, "sales", "devops", "coder", "chief", "operator", "owner:ann"},
    "metrics": {None, "sales", "devops", "coder", "chief", "operator", "owner:ann"},
    "caller": {"sales", "devops", "coder", "chief", "operator"},
    "buddy": {"devops", "operator"},
    "lead": {"chief", "operator"},
    "self": {"coder", "operator"},
    "operator": {"operator"},
    "links": {"sales", "devops", "coder", "chief", "operator", "owner:ann"},
    "owner": {"operator", "owner:ann"},
}
BODIES: dict[str, dict[str, Any]] = {
    "post_message": {"content": {"body": "x"}},
    "send_message": {"to": "devops", "content": {"body": "x"}},
    "ask": {"to": "devops", "content": {"body": "x"}},
    "add_link": {"agents": ["coder", "ops"]},
    "post_task": {"description": "x"},
    "add_task": {"description": "x"},
    "split_task": {"parts": [{"description": "x"}]},
    "reassign_task": {"to": "ops"},
    "prioritise_task": {"priority": "high"},
    "open_vote": {"topic": "x", "voters": ["coder"], "options": ["y"]},
    "cast_ballot": {"selection": "y"},
    "argue_in_vote": {"argument": "x"},
    "acknowledge": {"messageId": "m1"},
    "claim": {},
    "renew": {"token": "t1"},
    "progress": {"token": "t1", "text": "x"},
    "finish": {"token": "t1"},
    "fail": {"token": "t1", "error": "x"},
    "give_back": {"token": "t1"},
}
TABLES = {"agent": agent_port.OPERATIONS, "fleet": fleet_port.OPERATIONS}
EVERY = [(door, operation) for door, table in TABLES.items() for operation in table]


def path_of(operation: Operation[Any, Any]) -> str:
    path = operation.path.replace("{name}", "coder").replace("{id}", "x1")
    return path + {
        "search": "?q=x",
        "ask": "?wait=0",
        "get_replies": "?wait=0",
        "wait_for_task": "?wait=0",
        "wait_for_vote": "?wait=0",
    }.get(operation.ident, "")


async def call(world: World, door: str, operation: Operation[Any, Any], who: str | None) -> httpx.Response:
    client: httpx.AsyncClient = getattr(world, door)
    body = BODIES.get(operation.ident, {}) if operation.method == "POST" else None
    return await client.request(operation.method, path_of(operation), json=body, headers=bearer(who))


@rule("A7", "M11")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("door", "operation"), EVERY, ids=[f"{door} {each.method} {each.path}" for door, each in EVERY])
async def test_each_route_is_for_those_whom_its_line_names(world: World, door: str, operation: Operation[Any, Any]) -> None:
    await world.store.write(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="0")
    for who in CALLERS:
        answer = await call(world, door, operation, who)
        refused = answer.status_code in (401, 403) and answer.json()["code"] in ("unauthorized", "forbidden")
        if who == "owner:ann" and operation.ident == "add_link":
            assert answer.status_code == 403, "the verb decides, and these are not its agents"
        elif who in ALLOWED[operation.who]:
            assert not refused, (who, answer.text)
            assert answer.status_code < 500, answer.text
        else:
            assert answer.status_code == (401 if who in (None, "wrong") else 403), (who, answer.text)
            if answer.status_code == 401:
                assert answer.headers["www-authenticate"].startswith("Bearer")


def test_whatever_changes_state_needs_a_token() -> None:
    assert [each.path for _, each in EVERY if each.method == "POST" and each.who in ("anyone", "status", "metrics")] == []


def test_without_a_token_nobody_reads_anything_of_the_api() -> None:
    assert [each.path for _, each in EVERY if each.path.startswith("/api/") and each.who in ("anyone", "status", "metrics")] == []


def test_no_handler_is_a_closure() -> None:
    for _, operation in EVERY:
        assert re.fullmatch(r"\w+", operation.handler.__qualname__), operation.path


async def tell(store: Store, sender: str, to: str, words: str) -> str:
    receipt = await store.write(sending.send, draft(to, words, subject="secret"), as_agent(sender))
    return receipt.message_id


@rule("M13")
async def test_an_agent_reads_its_own_mail_and_no_other(world: World) -> None:
    mine, theirs = await tell(world.store, "coder", "sales", "for sales"), await tell(world.store, "devops", "ops", "for ops")

    async def get(path: str, who: str) -> httpx.Response:
        return await world.fleet.get(path, headers=bearer(who))

    assert (await get(f"/api/v1/messages/{mine}", "coder")).json()["items"][0]["content"]["body"] == "for sales"
    assert (await get(f"/api/v1/messages/{mine}", "sales")).status_code == 200
    for path in (
        f"/api/v1/messages/{theirs}",
        f"/api/v1/messages/{theirs}/replies",
        "/api/v1/threads/dm:devops:ops",
        f"/api/v1/why/{theirs}",
    ):
        refused = await get(path, "coder")
        assert (refused.status_code, problem_of(refused)["code"]) == (403, "forbidden"), path
        assert "coder" in problem_of(refused)["detail"]
        assert (await get(path, "operator")).status_code == 200
    inbox = await get("/api/v1/agents/ops/inbox", "coder")
    assert "ops" in problem_of(inbox)["detail"]
    threads = (await get("/api/v1/threads", "coder")).json()["items"]
    assert [each["threadId"] for each in threads] == ["dm:coder:sales"]
    assert len((await get("/api/v1/threads", "operator")).json()["items"]) == 2


async def test_an_agent_hears_of_its_own_mail_and_of_everybodys_work(world: World) -> None:
    await tell(world.store, "coder", "sales", "for sales")
    await tell(world.store, "devops", "ops", "for ops")
    await world.fleet.post("/api/v1/tasks", json={"description": "for all", "agent": "ops"}, headers=bearer("operator"))

    async def heard(who: str) -> list[str]:
        items = (await world.fleet.get("/api/v1/events?kinds=message.,task.", headers=bearer(who))).json()["items"]
        return [f"{each['kind']} {each['agent']}" for each in items]

    assert await heard("coder") == ["message.sent coder", "task.added ops"]
    assert await heard("sales") == ["message.sent coder", "task.added ops"]
    assert await heard("operator") == ["message.sent coder", "message.sent devops", "task.added ops"]
