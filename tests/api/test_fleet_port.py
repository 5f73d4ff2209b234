"""The fleet's port: what the command line does, over HTTP; on both databases."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from covey.agents import configuring, roster
from covey.agents.model import as_agent
from covey.api import shapes
from covey.base.settings import AgentSettings, BrainSettings, ProjectSettings, Settings
from covey.messages import handling, indexing, sending
from covey.messages.model import MAX_ATTEMPTS, draft
from covey.nodes import records
from covey.reports import metrics
from covey.store import Store, events
from covey.tasks import working
from tests.api.world import World, bearer, problem_of, world_of
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule

TEN_S = 10.0


async def post(world: World, path: str, body: dict[str, Any] | None = None, *, who: str = "operator") -> httpx.Response:
    return await world.fleet.post(f"/api/v1{path}", json=body, headers=bearer(who))


async def get(world: World, path: str, *, who: str = "operator") -> Any:
    answer = await world.fleet.get(f"/api/v1{path}", headers=bearer(who))
    assert answer.status_code == 200, answer.text
    return answer.json()


# agents


@rule("A1", "A3")
async def test_all_agents_are_listed_in_the_fleets_order(world: World) -> None:
    items = (await get(world, "/agents"))["items"]
    assert [item["agentId"] for item in items] == [agent.id for agent in EIGHT.agents]
    assert (await get(world, "/agents/finance"))["buddyId"] == "intel"
    missing = await world.fleet.get("/api/v1/agents/finanse", headers=bearer("operator"))
    assert (missing.status_code, problem_of(missing)["nearest"][0]) == (404, "finance")


@rule("A7", "M5")
async def test_flags_are_set_and_cleared_by_the_operator_and_the_lead(world: World) -> None:
    assert (await post(world, "/agents/coder/pause", {"reason": "lunch"}, who="chief")).json() == {"agents": ["coder"]}
    found = await world.store.read(roster.find, "coder")
    assert (found.paused_at is not None, found.flag_reason) == (True, "lunch")
    await post(world, "/agents/coder/stop")
    assert (await world.store.read(roster.find, "coder")).stopped_at is not None
    await post(world, "/agents/coder/resume")
    assert (await world.store.read(roster.find, "coder")).takes_work


@rule("A7")
async def test_one_call_stops_the_whole_fleet_and_one_resumes_it(world: World) -> None:
    answer = await post(world, "/emergency-stop", {"reason": "fire"}, who="chief")
    assert answer.json()["agents"] == [agent.id for agent in EIGHT.agents]
    assert not any(agent.takes_work for agent in await world.store.read(roster.everyone))
    await post(world, "/resume")
    assert all(agent.takes_work for agent in await world.store.read(roster.everyone))


@rule("A7", "H7a")
async def test_a_stop_of_the_whole_fleet_may_ask_for_new_processes_where_a_node_runs(world: World) -> None:
    told = (await post(world, "/emergency-stop", {"restart": True})).json()
    assert (told["agents"], told["restartAsked"]) == ([agent.id for agent in EIGHT.agents], [])
    assert "`covey up`" in told["detail"]
    assert "agent.restart_asked" not in [event.kind for event in await world.store.read(events.of_agent, "coder")]
    await world.store.write(records.register, "here", host="here", pid=1, start_ticks=1, boot_id="b", version="1")
    told = (await post(world, "/emergency-stop", {"restart": True})).json()
    assert told == {"agents": [agent.id for agent in EIGHT.agents], "restartAsked": [agent.id for agent in EIGHT.agents]}
    assert "agent.restart_asked" in [event.kind for event in await world.store.read(events.of_agent, "coder")]


@rule("H7a")
async def test_a_restart_is_asked_of_the_node(world: World, clock: ManualClock) -> None:
    await world.store.write(records.register, "here", host="here", pid=1, start_ticks=1, boot_id="b", version="1")
    answer = await post(world, "/agents/coder/restart", {"reason": "new brain"})
    assert (answer.status_code, answer.json()) == (202, {"agent": "coder", "asked": True})
    (event, *_) = await world.store.read(events.of_agent, "coder")
    assert (event.kind, event.data["by"], event.data["reason"]) == ("agent.restart_asked", "operator", "new brain")
    clock.at += records.LOST_S
    assert (await post(world, "/agents/coder/restart")).status_code == 503, "a node that is lost starts nobody"


@rule("H7a")
async def test_a_restart_that_nobody_would_do_is_refused_and_nothing_is_stored(world: World) -> None:
    before = await world.store.read(events.last)
    down = await post(world, "/agents/coder/restart")
    assert (down.status_code, problem_of(down)["code"]) == (503, "not_running")
    assert "the fleet is down" in problem_of(down)["detail"]
    assert "`covey up`" in problem_of(down)["detail"]
    assert (await post(world, "/agents/nobody/restart")).status_code == 404
    assert (await post(world, "/agents/coder/restart", who="coder")).status_code == 403
    assert await world.store.read(events.last) == before


@rule("A5b", "H7a")
async def test_an_external_agent_is_not_restarted(fleet: Store, clock: ManualClock) -> None:
    outside = Settings(agents=(AgentSettings(id="guest", port=8001, brain=BrainSettings(kind="external")),))
    await fleet.write(configuring.configure, outside)
    await fleet.write(records.register, "here", host="here", pid=1, start_ticks=1, boot_id="b", version="1")
    async with world_of(fleet, clock, outside) as world:
        answer = await post(world, "/agents/guest/restart")
        assert (answer.status_code, problem_of(answer)["code"]) == (409, "conflict")


@rule("A1b")
async def test_projects_and_settings_are_shown_and_secrets_are_not(fleet: Store, clock: ManualClock) -> None:
    coder = msgspec.structs.replace(EIGHT.agents[1], env={"API_KEY": "hush-hush"})
    settings = msgspec.structs.replace(
        EIGHT,
        agents=(EIGHT.agents[0], coder),
        projects=(ProjectSettings(name="site", path="/srv/site", agents=("coder",)),),
        store="postgresql://u:hush@h/d",
    )
    await fleet.write(configuring.configure, settings)
    async with world_of(fleet, clock, settings) as world:
        assert (await get(world, "/projects"))["items"] == [{"name": "site", "path": "/srv/site", "agents": ["coder"]}]
        answer = await world.fleet.get("/api/v1/config", headers=bearer("operator"))
        assert answer.json()["agents"]["coder"]["env"] == {"API_KEY": "***"}
        assert "hush" not in answer.text


@rule("A6")
async def test_the_fleet_in_numbers_is_what_the_document_says(world: World) -> None:
    msgspec.convert(await world.store.read(metrics.of_fleet), shapes.FleetState)
    assert (await get(world, "/status"))["tasks"]["queued"] == 0
    text = await world.fleet.get("/metrics", headers={"Accept": "text/plain"})
    assert "covey_tasks_queued 0.0" in text.text
    assert 'covey_agent_able{agent="coder"}' in text.text
    assert "covey_store_commit_seconds_bucket" in text.text
    fleet_alone = await world.fleet.get("/metrics?agents=false", headers={"Accept": "text/plain"})
    assert "covey_tasks_queued 0.0" in fleet_alone.text
    assert "covey_agent_" not in fleet_alone.text
    targets = (await world.fleet.get("/metrics/targets")).json()
    assert targets[0] == {"targets": ["127.0.0.1:8001"], "labels": {"__meta_covey_agent": "chief"}}


# mail


@rule("M6", "L13")
async def test_each_receiver_has_its_own_outcome(world: World) -> None:
    answer = await post(world, "/messages", {"to": ["coder", "nobody"], "content": {"body": "x"}})
    assert answer.status_code == 207
    assert {name: each["status"] for name, each in answer.json()["outcomes"].items()} == {"coder": "delivered", "nobody": "unknown"}
    all_refused = await post(world, "/messages", {"to": ["nobody", "noone"], "content": {"body": "x"}})
    problem = problem_of(all_refused)
    assert (all_refused.status_code, problem["code"]) == (404, "unknown")
    assert problem["receipt"]["outcomes"].keys() == {"nobody", "noone"}


@rule("M4a")
async def test_an_inbox_is_read_in_parts_and_looking_is_not_acknowledging(world: World) -> None:
    for n in range(5):
        await post(world, "/messages", {"to": "coder", "content": {"body": f"m{n}"}})
    seen: list[str] = []
    cursor = ""
    page: dict[str, Any] = {}
    for _ in range(3):
        page = await get(world, f"/agents/coder/inbox?unread=true&limit=2{cursor}", who="coder")
        seen += [each["content"]["body"] for each in page["items"]]
        cursor = f"&cursor={page['cursor']}"
    assert seen == ["m4", "m3", "m2", "m1", "m0"]
    assert page["cursor"] is None
    ident = page["items"][0]["messageId"]
    assert (await post(world, "/agents/coder/ack", {"messageId": ident}, who="coder")).json() == {"done": True}
    left = await get(world, "/agents/coder/inbox?unread=true", who="coder")
    assert len(left["items"]) == 4
    assert (await get(world, f"/messages/{ident}"))["items"][0]["state"] == "handled"


@rule("M13")
async def test_threads_are_listed_and_read_in_order(world: World) -> None:
    for n in range(3):
        await post(world, "/messages", {"to": "coder", "content": {"body": f"m{n}"}, "context": {"threadId": "t.1"}})
    await post(world, "/messages", {"to": "ops", "content": {"body": "x"}})
    threads = await get(world, "/threads?limit=1")
    assert [each["threadId"] for each in threads["items"]] == ["dm:operator:ops"]
    rest = await get(world, f"/threads?limit=1&cursor={threads['cursor']}")
    assert [(each["threadId"], each["messages"]) for each in rest["items"]] == [("t.1", 3)]
    first = await get(world, "/threads/t.1?limit=2")
    second = await get(world, f"/threads/t.1?limit=2&cursor={first['cursor']}")
    assert [each["content"]["body"] for each in first["items"] + second["items"]] == ["m0", "m1", "m2"]


@rule("M13")
async def test_search_finds_words_of_subject_and_body_among_what_one_may_see(world: World) -> None:
    await world.store.write(sending.send, draft("sales", "the quick fox", subject="animals"), as_agent("coder"))
    await world.store.write(sending.send, draft("ops", "a quick dog"), as_agent("devops"))
    while await world.store.write(indexing.index_new):
        pass

    async def found(words: str, who: str) -> list[str]:
        return [each["content"]["body"] for each in (await get(world, f"/search?q={words}", who=who))["items"]]

    assert await found("quick", "operator") == ["a quick dog", "the quick fox"]
    assert await found("quick animals", "operator") == ["the quick fox"]
    assert await found("quick", "sales") == ["the quick fox"]
    assert await found("quick", "chief") == []
    assert await found("!!!", "sales") == await found("!!!", "operator") == []


@rule("M8")
async def test_dead_letters_are_listed_requeued_and_dropped(world: World, clock: ManualClock) -> None:
    ident = (await post(world, "/messages", {"to": "coder", "content": {"body": "poison"}})).json()["messageId"]
    for _ in range(MAX_ATTEMPTS):
        clock.at += 120
        claimed = await world.store.write(handling.claim, "coder", "r", lease_s=60, digest_s=0)
        assert claimed is not None
        await world.store.write(handling.failed, "coder", claimed.token, "it burns")
    (dead,) = (await get(world, "/dead"))["items"]
    assert (dead["messageId"], dead["state"], dead["reason"]) == (ident, "dead", "it burns")
    assert (await post(world, f"/dead/{ident}/requeue")).json() == {"id": ident, "copies": 1}
    assert (await get(world, "/dead"))["items"] == []
    gone = await post(world, f"/dead/{ident}/drop")
    assert (gone.status_code, problem_of(gone)["code"]) == (404, "not_found")


@rule("M7")
async def test_ask_gives_the_reply_as_soon_as_it_is_there(world: World) -> None:
    asking = asyncio.create_task(post(world, "/ask?wait=60", {"messageId": "q1", "to": "coder", "content": {"body": "how are you?"}}))
    async with asyncio.timeout(TEN_S):
        while (reply := await post(world, "/messages", {"inReplyTo": "q1", "content": {"body": "fine"}}, who="coder")).status_code == 404:
            assert problem_of(reply)["field"] == "inReplyTo"
        answer = await asking
    assert reply.status_code == 201
    found = answer.json()
    assert (answer.status_code, [each["content"]["body"] for each in found["replies"]]) == (201, ["fine"])
    again = await get(world, f"/messages/{found['receipt']['messageId']}/replies?wait=60")
    assert (again["items"][0]["content"]["body"], again["waiting"]) == ("fine", False)


@rule("M7")
async def test_ask_that_nobody_answers_says_that_it_still_waits(world: World) -> None:
    found = (await post(world, "/ask?wait=0", {"to": "coder", "content": {"body": "how are you?"}})).json()
    assert (found["replies"], found["waiting"]) == ([], True)
    (message,) = (await get(world, f"/messages/{found['receipt']['messageId']}"))["items"]
    assert message["content"]["requiresResponse"]


# tasks


@rule("K1", "K7")
async def test_tasks_are_added_listed_and_changed(world: World) -> None:
    async def add(**fields: Any) -> str:
        answer = await post(world, "/tasks", {"description": "x"} | fields)
        assert answer.status_code == 201
        ident: str = answer.json()["taskId"]
        return ident

    first, second, third = await add(agent="coder"), await add(agent="ops"), await add(agent="coder", approval=True)
    page = await get(world, "/tasks?limit=2")
    assert [each["taskId"] for each in page["items"]] == [third, second]
    assert [each["taskId"] for each in (await get(world, f"/tasks?limit=2&cursor={page['cursor']}"))["items"]] == [first]
    assert [each["taskId"] for each in (await get(world, "/tasks?state=open&agent=coder"))["items"]] == [third, first]
    assert [each["taskId"] for each in (await get(world, "/tasks?state=blocked"))["items"]] == [third]
    assert (await post(world, f"/tasks/{first}/reassign", {"to": "sales"})).json()["agent"] == "sales"
    assert (await post(world, f"/tasks/{first}/priority", {"priority": 2})).json()["priority"] == "urgent"
    assert (await post(world, f"/tasks/{third}/approve")).json()["state"] == "queued"
    parts = await post(
        world, f"/tasks/{second}/split", {"parts": [{"description": "a", "agent": "ops"}, {"description": "b", "agent": "ops"}]}
    )
    assert (parts.status_code, len(parts.json()["items"])) == (201, 2)
    cancelled = (await post(world, f"/tasks/{second}/cancel", {"reason": "no need"})).json()
    assert (cancelled["state"], cancelled["error"]) == ("cancelled", "no need")
    refused = await post(world, f"/tasks/{await add(approval=True)}/refuse", {"reason": "too dear"})
    assert refused.json()["state"] == "cancelled"


@rule("K5a")
async def test_a_task_is_not_a_strangers_to_change(world: World) -> None:
    ident = (await post(world, "/tasks", {"description": "x", "agent": "coder"})).json()["taskId"]
    for path, body in (("cancel", {}), ("reassign", {"to": "sales"}), ("priority", {"priority": "urgent"})):
        answer = await post(world, f"/tasks/{ident}/{path}", body, who="sales")
        assert (answer.status_code, problem_of(answer)["code"]) == (403, "forbidden")
    assert (await post(world, f"/tasks/{ident}/cancel", who="coder")).status_code == 200


async def test_waiting_for_a_task_ends_when_it_does(world: World) -> None:
    ident = (await post(world, "/tasks", {"description": "x", "agent": "coder"})).json()["taskId"]
    assert (await get(world, f"/tasks/{ident}/wait?wait=0"))["state"] == "queued"

    async def work() -> None:
        claimed = await world.store.write(working.claim, "coder", "r", lease_s=60)
        assert claimed is not None
        await world.store.write(working.finish, "coder", claimed[1], "done it")

    waiting = asyncio.create_task(get(world, f"/tasks/{ident}/wait?wait=60"))
    await asyncio.sleep(0)
    await work()
    async with asyncio.timeout(TEN_S):
        task = await waiting
    assert (task["state"], task["result"]["summary"]) == ("done", "done it")


@rule("K8")
async def test_why_says_where_something_stands(world: World) -> None:
    ident = (await post(world, "/tasks", {"description": "x", "agent": "coder"})).json()["taskId"]
    found = await get(world, f"/why/{ident}", who="sales")
    assert (found["id"], found["kind"]) == (ident, "task")
    assert "coder" in found["sentence"]
    missing = await world.fleet.get("/api/v1/why/nothing", headers=bearer("operator"))
    assert missing.status_code == 404


# health


@rule("H7b")
async def test_readyz_is_503_while_the_controllers_cycle_is_late_and_the_metric_grows(world: World, clock: ManualClock) -> None:
    await world.store.write(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="0")
    fence = await world.store.write(records.beat, "here")
    assert fence is not None
    await world.store.write(records.cycled, fence)
    ages = []
    for seconds, status in ((0.0, 200), (600.0, 200), (1.0, 503), (3600.0, 503)):
        clock.at += seconds
        answer = await world.fleet.get("/readyz")
        assert answer.status_code == status
        assert answer.json()["ready"] == (status == 200)
        assert (status == 200) == (answer.json().get("why") is None)
        ages.append((await world.fleet.get("/metrics", headers=bearer("operator"))).json()["leader"]["cycleAge"])
    assert ages == [0.0, 600.0, 601.0, 4201.0]
    assert "no controller cycle was done for 4201 s" in (await world.fleet.get("/readyz")).json()["why"]
    fence = await world.store.write(records.beat, "here")
    assert fence is not None
    await world.store.write(records.cycled, fence)
    assert (await world.fleet.get("/readyz")).status_code == 200


async def test_readyz_is_503_when_the_store_is_gone_and_health_is_not(world: World) -> None:
    assert (await world.fleet.get("/readyz")).status_code == 200
    await world.store.close()
    assert (await world.fleet.get("/readyz")).status_code == 503
    assert (await world.fleet.get("/healthz")).status_code == 200
    assert (await world.fleet.get("/health")).status_code == 200


@pytest.mark.parametrize("path", ["agents", "buddies"])
async def test_a_list_of_the_fleet_comes_whole_or_in_parts_as_asked(world: World, path: str) -> None:
    async def read(**query: int) -> tuple[list[str], str | None]:
        answer = await world.fleet.get(f"/api/v1/{path}", params=query, headers=bearer("operator"))
        return [each["agentId"] for each in answer.json()["items"]], answer.json()["cursor"]

    everybody = [agent.id for agent in EIGHT.agents]
    assert await read() == (everybody, None)
    assert await read(limit=8) == (everybody, None)
    first, cursor = await read(limit=5)
    assert (first, cursor is not None) == (everybody[:5], True)
    assert await read(limit=5, cursor=int(cursor or 0)) == (everybody[5:], None)
    assert await read(cursor=int(cursor or 0)) == (everybody[5:], None)
    whole = {each["agentId"]: each for each in (await get_items(world, path))}
    assert {each["agentId"]: each for each in await get_items(world, path, limit=3)} == {name: whole[name] for name in everybody[:3]}
    for wrong in ({"limit": 0}, {"limit": 201}, {"cursor": -1}):
        refused = await world.fleet.get(f"/api/v1/{path}", params=wrong, headers=bearer("operator"))
        assert (refused.status_code, problem_of(refused)["field"]) == (400, *wrong)


async def get_items(world: World, path: str, **query: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await world.fleet.get(f"/api/v1/{path}", params=query, headers=bearer("operator"))).json()["items"]
    return found


async def test_a_store_that_is_gone_is_a_problem_that_says_so(world: World) -> None:
    await world.store.close()
    answer = await world.fleet.get("/api/v1/agents", headers=bearer("operator"))
    assert (answer.status_code, problem_of(answer)["code"]) == (503, "store_unavailable")


# an external agent


@pytest.fixture
async def joined(fleet: Store, clock: ManualClock) -> Any:
    """The world in which sales is external."""
    outside = AgentSettings(id="sales", port=8003, brain=BrainSettings(kind="external"), buddy="comms")
    settings = msgspec.structs.replace(EIGHT, agents=tuple(outside if agent.id == "sales" else agent for agent in EIGHT.agents))
    await fleet.write(configuring.configure, settings)
    async with world_of(fleet, clock, settings) as found:
        yield found


@rule("A5b", "K4")
async def test_an_external_agent_claims_and_finishes_a_task_over_http(joined: World) -> None:
    task = (await post(joined, "/tasks", {"description": "call them", "agent": "sales"})).json()["taskId"]
    claimed = (await post(joined, "/agents/sales/claim", {"leaseS": 300}, who="sales")).json()
    assert (claimed["kind"], claimed["task"]["taskId"], claimed["leaseS"], claimed["attempt"]) == ("task", task, 300, 1)
    token = claimed["token"]
    assert (await get(joined, f"/tasks/{task}"))["state"] == "running"
    assert (await post(joined, "/agents/sales/progress", {"token": token, "text": "half"}, who="sales")).json() == {"done": True}
    assert (await post(joined, "/agents/sales/renew", {"token": token, "leaseS": 600}, who="sales")).status_code == 200
    settled = await post(joined, "/agents/sales/finish", {"token": token, "summary": "called", "decisions": ["call again"]}, who="sales")
    assert settled.json() == {"item": task, "kind": "done"}
    found = await get(joined, f"/tasks/{task}")
    assert (found["state"], found["result"]["summary"]) == ("done", "called")
    late = await post(joined, "/agents/sales/finish", {"token": token, "summary": "again"}, who="sales")
    assert (late.status_code, problem_of(late)["code"]) == (409, "lease_lost")


@rule("A5b", "M7", "M12")
async def test_an_external_agent_answers_a_question(joined: World) -> None:
    asked = (await post(joined, "/ask?wait=0", {"to": "sales", "content": {"body": "how much?"}})).json()["receipt"]["messageId"]
    claimed = (await post(joined, "/agents/sales/claim", {"lane": "mail"}, who="sales")).json()
    assert (claimed["kind"], claimed["message"]["message"]["messageId"], claimed["leaseS"]) == ("message", asked, EIGHT.lease_s)
    assert claimed["message"]["enveloped"].startswith("<covey-mail")
    settled = await post(joined, "/agents/sales/finish", {"token": claimed["token"], "summary": "42"}, who="sales")
    assert settled.json() == {"item": asked, "kind": "done"}
    (reply,) = (await get(joined, f"/messages/{asked}/replies?wait=0"))["items"]
    assert (reply["from"], reply["content"]["body"]) == ("sales", "42")


@rule("A5b", "K5")
async def test_an_external_agents_failures_and_returns_count_as_any_others(joined: World, clock: ManualClock) -> None:
    task = (await post(joined, "/tasks", {"description": "x", "agent": "sales", "maxAttempts": 2})).json()["taskId"]
    token = (await post(joined, "/agents/sales/claim", {}, who="sales")).json()["token"]
    returned = await post(joined, "/agents/sales/give-back", {"token": token, "reason": "no time"}, who="sales")
    assert returned.json() == {"item": task, "kind": "returned"}
    assert (await get(joined, f"/tasks/{task}")).get("attempts", 0) == 0
    for _ in range(2):
        clock.at += 100
        token = (await post(joined, "/agents/sales/claim", {}, who="sales")).json()["token"]
        assert (await post(joined, "/agents/sales/fail", {"token": token, "error": "no answer"}, who="sales")).json()["kind"] == "failed"
    assert (await get(joined, f"/tasks/{task}"))["state"] == "failed"


@rule("A5b")
async def test_only_an_external_agent_claims_by_hand_and_only_what_is_its_own(joined: World) -> None:
    refused = await post(joined, "/agents/coder/claim", {}, who="coder")
    assert (refused.status_code, problem_of(refused)["code"]) == (409, "conflict")
    await post(joined, "/tasks", {"description": "x", "agent": "sales"})
    token = (await post(joined, "/agents/sales/claim", {}, who="sales")).json()["token"]
    await post(joined, "/messages", {"to": "sales", "content": {"body": "x"}})
    mail = (await post(joined, "/agents/sales/claim", {"lane": "mail"}, who="sales")).json()["token"]
    for path, body in (("finish", {}), ("fail", {"error": "x"}), ("renew", {}), ("give-back", {})):
        for each in (token, mail, "nothing"):
            stolen = await post(joined, f"/agents/coder/{path}", {"token": each, **body}, who="coder")
            assert (stolen.status_code, problem_of(stolen)["code"]) == (409, "lease_lost"), (path, each)
    assert (await post(joined, "/agents/sales/finish", {"token": mail}, who="sales")).status_code == 200


@rule("A5b")
async def test_a_claim_waits_for_work_and_a_key_does_not_stand_for_nothing(joined: World) -> None:
    headers = {"Idempotency-Key": "k1", **bearer("sales")}
    nothing = await joined.fleet.post("/api/v1/agents/sales/claim", json={}, headers=headers)
    assert nothing.json()["token"] is None
    waiting = asyncio.create_task(
        joined.fleet.post("/api/v1/agents/sales/claim", json={"wait": 60}, headers={**headers, "Idempotency-Key": "k2"})
    )
    await asyncio.sleep(0)
    await post(joined, "/tasks", {"description": "x", "agent": "sales"})
    async with asyncio.timeout(TEN_S):
        first = await waiting
    again = await joined.fleet.post("/api/v1/agents/sales/claim", json={"wait": 60}, headers={**headers, "Idempotency-Key": "k2"})
    assert first.json()["token"] is not None
    assert again.json() == first.json()


@rule("A5b")
async def test_each_call_of_an_external_agent_is_its_heartbeat(joined: World, clock: ManualClock) -> None:
    assert (await joined.store.read(roster.vitals, "sales")).seen_at is None
    await get(joined, "/agents", who="sales")
    first = (await joined.store.read(roster.vitals, "sales")).seen_at
    assert first == pytest.approx(clock.wall())
    clock.at += 60
    await get(joined, "/agents", who="coder")
    assert (await joined.store.read(roster.vitals, "sales")).seen_at == first
    await get(joined, "/agents", who="sales")
    assert (await joined.store.read(roster.vitals, "sales")).seen_at == pytest.approx(clock.wall())
    assert (await joined.store.read(roster.vitals, "coder")).seen_at is None
