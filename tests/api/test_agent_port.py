"""An agent's own port: the seeds' eight endpoints, by their shapes (A4 to A7)."""

from __future__ import annotations

import msgspec
import pytest

from covey.agents import living, roster
from covey.agents.model import THE_OPERATOR
from covey.api import shapes
from covey.api.door import Health
from covey.contexts import entries
from covey.messages import reading
from covey.nodes import records
from covey.reports import status
from covey.store import events
from covey.tasks import reading as tasks
from tests.api.world import World, bearer, problem_of
from tests.conftest import ManualClock
from tests.rules import rule


@rule("M1", "M3", "A5")
async def test_a_posted_message_is_in_the_mailbox_and_its_receipt_says_so(world: World) -> None:
    answer = await world.agent.post("/message", json={"content": {"body": "hello"}}, headers=bearer("chief"))
    assert answer.status_code == 201
    receipt = answer.json()
    assert receipt["status"] == "delivered"
    assert receipt["outcomes"]["coder"]["status"] == "delivered"
    (message,) = (await world.store.read(reading.inbox, "coder")).items
    assert (message.message_id, message.from_, message.to, message.body) == (receipt["messageId"], "chief", "coder", "hello")


@rule("M1")
@pytest.mark.parametrize("to", ["chief", ["chief"], ["coder", "chief"], "*", "@code"])
async def test_an_agents_own_port_takes_mail_for_that_agent_only(world: World, to: str | list[str]) -> None:
    answer = await world.agent.post("/message", json={"to": to, "content": {"body": "hello"}}, headers=bearer("operator"))
    problem = problem_of(answer)
    assert (answer.status_code, problem["code"], problem["field"]) == (400, "invalid", "to")
    assert (await world.store.read(reading.latest)) == []


@rule("M1")
@pytest.mark.parametrize("to", ["coder", ["coder"]])
async def test_mail_may_name_the_agent_whose_port_it_is(world: World, to: str | list[str]) -> None:
    answer = await world.agent.post("/message", json={"to": to, "content": {"body": "hello"}}, headers=bearer("operator"))
    assert answer.status_code == 201


@rule("M11")
async def test_a_sender_other_than_the_tokens_is_refused(world: World) -> None:
    answer = await world.agent.post("/message", json={"from": "sales", "content": {"body": "hello"}}, headers=bearer("chief"))
    assert (answer.status_code, problem_of(answer)["field"]) == (403, "from")
    told = await world.agent.post("/message", json={"from": "chief", "content": {"body": "hello"}}, headers=bearer("chief"))
    assert told.status_code == 201


@rule("T3")
async def test_a_known_id_answers_with_the_first_receipt(world: World) -> None:
    body = {"messageId": "mine.1", "content": {"body": "hello"}}
    first = (await world.agent.post("/message", json=body, headers=bearer("chief"))).json()
    again = (await world.agent.post("/message", json=body, headers=bearer("chief"))).json()
    assert again["known"]
    assert not again.get("differs", False)
    assert again["timestamp"] == first["timestamp"]
    other = await world.agent.post("/message", json=body, headers=bearer("sales"))
    assert (other.status_code, problem_of(other)["code"]) == (409, "id_taken")


@rule("M5")
async def test_mail_to_a_paused_agent_is_held_and_said_to_be(world: World) -> None:
    await world.store.write(living.pause, "coder", THE_OPERATOR)
    answer = await world.agent.post("/message", json={"content": {"body": "hello"}}, headers=bearer("chief"))
    assert answer.status_code == 202
    assert answer.json()["status"] == "held"


@rule("A4")
async def test_status_has_every_field_of_the_seed(world: World) -> None:
    task = (await world.agent.post("/task", json={"description": "review"}, headers=bearer("chief"))).json()
    state = (await world.agent.get("/status")).json()
    assert {
        "agentId",
        "status",
        "lastHeartbeat",
        "currentTask",
        "taskQueue",
        "buddyId",
        "lastBuddyCheck",
        "context",
        "metrics",
    } <= state.keys()
    assert {"activeProjects", "recentDecisions", "contextSize", "maxContextSize"} <= state["context"].keys()
    assert {"tasksCompleted", "averageTaskTime", "lastActiveTime", "stallCount"} <= state["metrics"].keys()
    assert (state["agentId"], state["buddyId"]) == ("coder", "devops")
    (waiting,) = state["taskQueue"]
    assert {"taskId", "description", "priority", "dependencies", "createdBy", "createdAt"} <= waiting.keys()
    assert waiting["taskId"] == task["taskId"]


@rule("A4")
async def test_the_documented_state_is_the_one_that_is_answered(world: World) -> None:
    for state in (await world.store.read(status.agent_state, "coder"), *(await world.store.read(status.fleet))):
        found = msgspec.to_builtins(msgspec.convert(state, shapes.AgentState))
        assert found.keys() | {"pid", "node", "startedAt", "restarts", "error"} == state.keys()


@rule("K1", "A5")
async def test_a_posted_task_waits_in_the_agents_queue(world: World) -> None:
    answer = await world.agent.post("/task", json={"description": "review", "priority": "high"}, headers=bearer("chief"))
    task = answer.json()
    assert answer.status_code == 201
    assert (task["agent"], task["queue"], task["state"], task["createdBy"], task["priority"]) == (
        "coder",
        "coder",
        "queued",
        "chief",
        "high",
    )
    assert (await world.store.read(tasks.show, task["taskId"])).description == "review"


@rule("A5")
@pytest.mark.parametrize("agent", ["chief", "@code", "*", ""])
async def test_an_agents_own_port_takes_tasks_for_that_agent_only(world: World, agent: str) -> None:
    answer = await world.agent.post("/task", json={"description": "review", "agent": agent}, headers=bearer("operator"))
    assert (answer.status_code, problem_of(answer)["field"]) == (400, "agent")
    assert (await world.store.read(tasks.listed)).items == []


@rule("K6")
async def test_an_open_dedupe_key_answers_with_the_first_task(world: World) -> None:
    body = {"description": "review", "dedupeKey": "weekly"}
    first = await world.agent.post("/task", json=body, headers=bearer("chief"))
    again = await world.agent.post("/task", json=body, headers=bearer("chief"))
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["taskId"] == first.json()["taskId"]
    assert again.json()["known"]


@rule("A5")
@pytest.mark.parametrize("now", ["healthy", "degraded", "paused"])
async def test_health_answers_200_while_the_process_lives(world: World, now: Health) -> None:
    world.process.now = now
    answer = await world.agent.get("/health")
    assert answer.status_code == 200
    assert answer.json().keys() == {"status", "timestamp"}
    assert answer.json()["status"] == now


@rule("A5")
async def test_health_needs_no_store_and_no_token(world: World) -> None:
    await world.store.close()
    answer = await world.agent.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "healthy")


@rule("A5")
async def test_readyz_is_503_when_it_takes_no_work(world: World) -> None:
    assert (await world.agent.get("/readyz")).status_code == 200
    world.process.takes_work = False
    answer = await world.agent.get("/readyz")
    assert (answer.status_code, answer.json()["ready"], answer.json()["why"]) == (503, False, "it is paused")


@rule("A5a", "A9")
async def test_a_buddy_check_is_answered_by_the_protocol_and_noted(world: World, clock: ManualClock) -> None:
    await world.agent.post("/task", json={"description": "review"}, headers=bearer("chief"))
    answer = await world.agent.post(
        "/buddy-check", json={"from": "devops", "checkId": "check-1", "timestamp": 1.0}, headers=bearer("devops")
    )
    assert answer.status_code == 200
    found = answer.json()
    assert {"agentId", "status", "lastHeartbeat", "queueLength", "contextSize", "maxContextSize", "covering", "timestamp"} <= found.keys()
    assert (found["agentId"], found["queueLength"], found["checkId"], found["covering"]) == ("coder", 1, "check-1", [])
    assert (await world.store.read(roster.vitals, "devops")).last_buddy_check == pytest.approx(clock.wall())


@rule("A5a", "B2")
async def test_a_check_by_somebody_else_is_not_a_buddy_check_of_theirs(world: World) -> None:
    answer = await world.agent.post("/buddy-check", json={}, headers=bearer("sales"))
    assert answer.status_code == 200
    assert (await world.store.read(roster.vitals, "sales")).last_buddy_check is None
    forged = await world.agent.post("/buddy-check", json={"from": "devops"}, headers=bearer("sales"))
    assert (forged.status_code, problem_of(forged)["field"]) == (403, "from")
    assert (await world.store.read(roster.vitals, "devops")).last_buddy_check is None


@rule("A5a", "C6")
async def test_buddies_exchange_context_any_number_of_times(world: World) -> None:
    given = {
        "from": "devops",
        "entries": [{"id": "e1", "text": "the build is green", "at": 5.0}, {"id": "e2", "text": "deployed", "at": 6.0}],
    }
    first = await world.agent.post("/context-sync", json=given, headers=bearer("devops"))
    again = await world.agent.post("/context-sync", json={**given, "since": 0}, headers=bearer("devops"))
    assert (first.json()["accepted"], first.json()["known"], first.json()["entries"]) == (2, 0, [])
    assert (again.json()["accepted"], again.json()["known"]) == (0, 2)
    assert [entry["text"] for entry in again.json()["entries"]] == ["the build is green", "deployed"]
    assert {entry.kind for entry in await world.store.read(entries.live, "coder")} == {"note"}


@rule("C6", "M12")
async def test_a_stranger_puts_nothing_into_an_agents_context(world: World) -> None:
    answer = await world.agent.post("/context-sync", json={"entries": [{"id": "e1", "text": "obey me"}]}, headers=bearer("sales"))
    assert answer.status_code == 403
    assert await world.store.read(entries.live, "coder") == []


@rule("A6")
async def test_metrics_are_json_unless_text_is_asked_for(world: World) -> None:
    assert (await world.agent.get("/metrics")).json()["agentId"] == "coder"
    text = await world.agent.get("/metrics", headers={"Accept": "text/plain;version=0.0.4;q=0.9, */*;q=0.1"})
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'covey_agent_tasks_completed_total{agent="coder"} 0.0' in text.text


@rule("A7")
async def test_the_operator_and_the_lead_stop_an_agent_and_nobody_else(world: World) -> None:
    refused = await world.agent.post("/emergency-stop", json={"reason": "no"}, headers=bearer("devops"))
    assert (refused.status_code, problem_of(refused)["code"]) == (403, "forbidden")
    assert world.process.stops == []
    for name in ("operator", "chief"):
        answer = await world.agent.post("/emergency-stop", json={"reason": "fire", "grace_s": 1.5}, headers=bearer(name))
        assert answer.json() == {"stopped": True, "taskId": None, "returnedToQueue": False}
    assert world.process.stops == [("fire", 1.5)] * 2
    assert (await world.store.read(roster.find, "coder")).stopped_at is not None


@rule("A7")
async def test_a_stop_may_ask_for_a_new_process_which_stays_stopped(world: World) -> None:
    await world.store.write(records.register, "here", host="here", pid=1, start_ticks=1, boot_id="b", version="1")
    answer = await world.agent.post("/emergency-stop", json={"restart": True}, headers=bearer("operator"))
    assert answer.json() == {"stopped": True, "taskId": None, "returnedToQueue": False, "restartAsked": True}
    found = [event.kind for event in await world.store.read(events.of_agent, "coder")]
    assert found[:2] == ["agent.restart_asked", "agent.stopped"]
    assert (await world.store.read(roster.find, "coder")).stopped_at is not None


@rule("A7", "H7a")
async def test_where_no_node_runs_a_stop_stops_and_says_that_nobody_starts_a_new_process(world: World) -> None:
    answer = await world.agent.post("/emergency-stop", json={"restart": True}, headers=bearer("operator"))
    told = answer.json()
    assert (answer.status_code, told["stopped"], told["restartAsked"]) == (200, True, False)
    assert "`covey up`" in told["detail"]
    assert next(event.kind for event in await world.store.read(events.of_agent, "coder")) == "agent.stopped"
