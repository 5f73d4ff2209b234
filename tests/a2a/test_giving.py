"""A message of A2A is a task of ours: the same verbs, tokens, states."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import CoveyError, NotFound
from covey.brains.model import Hands, Outcome, Turn
from covey.exchanges import abroad, giving, pushing, reading, retention
from covey.exchanges.abroad import Abroad
from covey.exchanges.model import Given
from covey.exchanges.pushing import Push
from covey.messages import reading as mail
from covey.messages.model import draft
from covey.store import Store
from covey.tasks import changing
from covey.tasks import retention as tasks
from tests.a2a.conftest import MakeWorld
from tests.a2a.world import World, call
from tests.api.world import bearer
from tests.conftest import ManualClock
from tests.rules import rule
from tests.runner.office import OwnBrain, done, held_up, office


def message(ident: str, text: str = "Count the files", **more: Any) -> dict[str, Any]:
    return {"message": {"role": "ROLE_USER", "messageId": ident, "parts": [{"text": text}], **more}}


async def send(world: World, ident: str, *, by: str = "operator", wait: bool = True, **more: Any) -> dict[str, Any]:
    """What SendMessage answers: its result, or the error."""
    params = message(ident, **more)
    params["configuration"] = {"returnImmediately": not wait}
    found = await call(world.url, "SendMessage", params, headers=bearer(by))
    shown: dict[str, Any] = found.get("result") or found
    return shown


def asking() -> OwnBrain:
    """A brain that asks its giver once, then is done."""

    async def think(turn: Turn, hands: Hands) -> Outcome:
        assert turn.task is not None
        if turn.answer is None:
            return Outcome(kind="waiting", messages=[draft(turn.task.created_by, "Which ones?", requires_response=True)])
        return Outcome(summary=f"done with {turn.answer.message.body}")

    return OwnBrain(think)


@rule("K1", "M3")
async def test_a_message_begins_a_task_whose_result_is_an_artifact(world: MakeWorld) -> None:
    async with world(done()) as here:
        task = (await send(here, "m1"))["task"]
        ours = await here.office.task(task["id"])
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"] == [{"text": "coder did it"}]
    assert (ours.state, ours.description, ours.agent, ours.created_by) == ("done", "Count the files", "coder", "operator")


async def test_the_message_is_mail_of_its_thread_and_is_not_handled_twice(world: MakeWorld) -> None:
    brain = done()
    async with world(brain) as here:
        task = (await send(here, "m1", contextId="a-thread"))["task"]
        page = await here.store.read(mail.thread, "a-thread")
    assert task["contextId"] == "a-thread"
    assert [(each.body, each.state) for each in page.items] == [("Count the files", "handled")]
    assert [turn.kind for turn in brain.turns] == ["task"]


@rule("T3")
async def test_the_same_message_again_begins_nothing_new(world: MakeWorld) -> None:
    async with world(done()) as here:
        first = await send(here, "m1")
        again = await send(here, "m1")
        other = await send(here, "m1", text="Something else")
        of_another = await send(here, "m1", by="chief")
    assert again["task"]["id"] == first["task"]["id"]
    assert other["error"]["code"] == -32602
    assert of_another["task"]["id"] != first["task"]["id"]


async def test_a_question_of_the_brain_is_input_required_and_the_next_message_answers_it(world: MakeWorld) -> None:
    async with world(asking()) as here:
        task = (await send(here, "m1"))["task"]
        went_on = (await send(here, "m2", text="the big ones", taskId=task["id"]))["task"]
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert task["status"]["message"]["parts"] == [{"text": "Which ones?"}]
    assert went_on["id"] == task["id"]
    assert went_on["contextId"] == task["contextId"]
    assert went_on["artifacts"][0]["parts"] == [{"text": "done with the big ones"}]
    assert [(each["role"], each["parts"][0]["text"]) for each in went_on["history"]] == [
        ("ROLE_USER", "Count the files"),
        ("ROLE_AGENT", "Which ones?"),
        ("ROLE_USER", "the big ones"),
    ]


async def test_a_task_that_has_ended_takes_no_more_messages_but_knows_those_it_got(world: MakeWorld) -> None:
    async with world(asking()) as here:
        task = (await send(here, "m1"))["task"]
        await send(here, "m2", text="all", taskId=task["id"])
        again = await send(here, "m2", text="all", taskId=task["id"])
        late = await send(here, "m3", text="and more", taskId=task["id"])
    assert again["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert late["error"]["code"] == -32004


async def test_a_context_that_is_not_the_tasks_is_refused(world: MakeWorld) -> None:
    async with world(asking()) as here:
        task = (await send(here, "m1"))["task"]
        wrong = await send(here, "m2", taskId=task["id"], contextId="another")
    assert wrong["error"]["code"] == -32602
    assert wrong["error"]["data"][0]["metadata"]["field"] == "message.contextId"


@rule("L1", "L13")
async def test_an_agent_without_a_link_is_refused_and_nothing_is_stored(world: MakeWorld) -> None:
    async with world(done()) as here:
        from covey.links import verbs

        await here.store.write(verbs.remove, "chief", "coder", THE_OPERATOR)
        refused = await send(here, "m1", by="chief")
        listed = await call(here.url, "ListTasks", {}, headers=bearer("chief"))
    assert refused["error"]["code"] == -32004
    assert refused["error"]["data"][0]["metadata"]["outcome"] == "unlinked"
    assert listed["result"]["tasks"] == []


@rule("K7")
async def test_cancel_ends_the_brain_and_a_second_one_is_refused(world: MakeWorld) -> None:
    brain = held_up()
    async with world(brain) as here:
        task = (await send(here, "m1", wait=False))["task"]
        await brain.began.wait()
        cancelled = await call(here.url, "CancelTask", {"id": task["id"]}, headers=bearer("operator"))
        again = await call(here.url, "CancelTask", {"id": task["id"]}, headers=bearer("operator"))
    assert cancelled["result"]["status"]["state"] == "TASK_STATE_CANCELED"
    assert again["error"]["code"] == -32002


async def test_another_agents_task_is_not_there(world: MakeWorld) -> None:
    async with world(done()) as here:
        task = (await send(here, "m1"))["task"]
        for method in ("GetTask", "CancelTask", "SubscribeToTask"):
            seen = await call(here.url, method, {"id": task["id"]}, headers=bearer("chief"))
            assert seen["error"]["code"] == -32001, method
        theirs = await call(here.url.replace("/coder", "/sales"), "GetTask", {"id": task["id"]}, headers=bearer("operator"))
        went_on = await send(here, "m2", by="chief", taskId=task["id"])
    assert theirs["error"]["code"] == -32001
    assert went_on["error"]["code"] == -32001


async def test_lists_are_paged_the_latest_change_first(world: MakeWorld) -> None:
    async with world(done()) as here:
        made = [(await send(here, f"m{number}", contextId="here" if number % 2 else "there"))["task"]["id"] for number in range(5)]
        seen: list[str] = []
        token = ""
        while True:
            page = (await call(here.url, "ListTasks", {"pageSize": 2, "pageToken": token}, headers=bearer("operator")))["result"]
            seen += [task["id"] for task in page["tasks"]]
            assert page["totalSize"] == 5
            token = page["nextPageToken"]
            if not token:
                break
        of_context = (await call(here.url, "ListTasks", {"contextId": "here"}, headers=bearer("operator")))["result"]
        of_state = (await call(here.url, "ListTasks", {"status": "TASK_STATE_WORKING"}, headers=bearer("operator")))["result"]
        wrong = await call(here.url, "ListTasks", {"pageToken": "nonsense"}, headers=bearer("operator"))
    assert seen == made[::-1]
    assert [task["id"] for task in of_context["tasks"]] == [made[3], made[1]]
    assert "artifacts" not in of_context["tasks"][0]
    assert of_state["tasks"] == []
    assert wrong["error"]["code"] == -32602


async def test_the_phase_by_which_lists_are_sought_is_the_one_that_is_shown(world: MakeWorld) -> None:
    brain = held_up()
    async with world(brain) as here:
        working = (await send(here, "m1", wait=False))["task"]["id"]
        await brain.began.wait()
        waiting = (await send(here, "m2", wait=False))["task"]["id"]
        gone = (await send(here, "m3", wait=False))["task"]["id"]
        await here.store.write(changing.cancel, gone, THE_OPERATOR)
        for state, ident in (("WORKING", working), ("SUBMITTED", waiting), ("CANCELED", gone)):
            found = (await call(here.url, "ListTasks", {"status": f"TASK_STATE_{state}"}, headers=bearer("operator")))["result"]
            assert [task["id"] for task in found["tasks"]] == [ident], state
            shown = (await call(here.url, "GetTask", {"id": ident}, headers=bearer("operator")))["result"]
            assert shown["status"]["state"] == f"TASK_STATE_{state}"
        brain.go_on.set()


async def test_parts_that_are_no_text_come_to_the_brain_and_back_in_the_history(world: MakeWorld) -> None:
    given = [{"text": "look"}, {"data": {"n": 1.0}}, {"url": "https://example.org/a.pdf", "mediaType": "application/pdf"}]
    brain = done()
    async with world(brain) as here:
        task = (await send(here, "m1", parts=given))["task"]
    assert brain.turns[0].task is not None
    assert brain.turns[0].task.data["a2a"]["parts"] == given
    assert task["history"][0]["parts"] == given


async def test_http_json_answers_the_same(world: MakeWorld) -> None:
    async with world(done()) as here, httpx.AsyncClient(headers={**bearer("operator"), "A2A-Version": "1.0"}, timeout=20) as client:
        task = (await client.post(f"{here.url}/message:send", json=message("m1"))).json()["task"]
        shown = (await client.get(f"{here.url}/tasks/{task['id']}", params={"historyLength": 0})).json()
        missing = await client.get(f"{here.url}/tasks/nothing")
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "history" not in shown
    assert missing.status_code == 404
    assert missing.json()["error"]["details"][0]["domain"] == "a2a-protocol.org"


async def test_a_slow_agent_delays_no_other(world: MakeWorld) -> None:
    slow = held_up()
    async with world(slow) as here, office(here.store, done(), name="sales", settings=here.settings):
        task = (await send(here, "m1", wait=False))["task"]["id"]
        await slow.began.wait()
        theirs = await call(here.url.replace("/coder", "/sales"), "SendMessage", message("m2"), headers=bearer("operator"))
        still = (await call(here.url, "GetTask", {"id": task}, headers=bearer("operator")))["result"]
        slow.go_on.set()
    assert theirs["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert still["status"]["state"] == "TASK_STATE_WORKING"


async def test_an_exchange_goes_with_its_task(fleet: Store, clock: ManualClock) -> None:
    found = await fleet.write(giving.give, "coder", Given(message_id="m", text="x"), THE_OPERATOR)
    task_id = found.task.task_id
    await fleet.write(pushing.put, "coder", Push(task_id, "p", "https://example.org/", "", "", "", "1.0"), THE_OPERATOR)
    await fleet.write(changing.cancel, task_id, THE_OPERATOR)
    clock.at += 100
    assert (await fleet.write(retention.prune, older_s=10)).deleted == 0
    await fleet.write(tasks.prune, older_s=10)
    assert (await fleet.write(retention.prune, older_s=10)).deleted == 1
    with pytest.raises(NotFound):
        await fleet.read(reading.show, "coder", task_id, THE_OPERATOR)


async def test_what_is_abroad_is_forgotten_in_the_end(fleet: Store, clock: ManualClock) -> None:
    where = Abroad("https://example.org/card.json", "t", "c")
    await fleet.write(abroad.keep, "task_1", "coder", where)
    assert await fleet.read(abroad.find, "task_1", "coder", where.url) == where
    assert await fleet.read(abroad.find, "task_1", "sales", where.url) is None
    assert await fleet.read(abroad.find, "task_1", "coder", "https://elsewhere.example/") is None
    clock.at += 100
    assert (await fleet.write(abroad.prune, older_s=10)).deleted == 1
    assert await fleet.read(abroad.find, "task_1", "coder", where.url) is None


@rule("T3")
async def test_of_the_same_message_many_times_at_once_one_task_comes(world: MakeWorld) -> None:
    async with world(done()) as here:
        answers = await asyncio.gather(*(send(here, "m1", wait=False) for _ in range(8)))
        listed = await call(here.url, "ListTasks", {}, headers=bearer("operator"))
    assert len({answer["task"]["id"] for answer in answers}) == 1
    assert listed["result"]["totalSize"] == 1


async def test_a_trace_goes_with_the_work(world: MakeWorld) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with world(done()) as here:
        found = await call(here.url, "SendMessage", message("m1"), headers={**bearer("operator"), "traceparent": trace})
        ours = await here.office.task(found["result"]["task"]["id"])
    assert ours.traceparent == trace


async def test_a_paused_agent_keeps_what_it_is_given(fleet: Store) -> None:
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    found = await fleet.write(giving.give, "coder", Given(message_id="m", text="x"), as_agent("chief"))
    assert (found.phase, found.task.state) == ("submitted", "queued")


async def test_nobody_gives_work_to_itself(fleet: Store) -> None:
    with pytest.raises(CoveyError):
        await fleet.write(giving.give, "coder", Given(message_id="m", text="x"), as_agent("coder"))
