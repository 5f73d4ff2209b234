"""Incidents over HTTP: listed with a cursor, shown with their story, closed by a person (H2)."""

from __future__ import annotations

from covey.agents.model import THE_OPERATOR
from covey.healing import incidents
from covey.tasks import adding, reading, working
from covey.tasks.model import TaskDraft
from tests.api.test_fleet_port import get, post
from tests.api.world import World, bearer, problem_of
from tests.conftest import ManualClock
from tests.rules import rule


@rule("H2")
async def test_incidents_are_listed_newest_first_with_a_cursor_and_by_agent_kind_and_openness(world: World) -> None:
    names = [
        await world.store.write(incidents.open_incident, agent, kind, "why", subject=f"{number}")
        for number, (agent, kind) in enumerate([("coder", "hung"), ("ops", "hung"), ("coder", "process_died"), ("", "cycle_late")])
    ]
    await world.store.write(incidents.end_incident, names[0], "back", "it serves")

    async def ids(query: str = "") -> list[str]:
        return [each["incidentId"] for each in (await get(world, f"/incidents{query}"))["items"]]

    assert await ids() == names[::-1]
    first = await get(world, "/incidents?limit=3")
    assert await ids(f"?cursor={first['cursor']}") == [names[0]]
    assert await ids("?agent=coder") == [names[2], names[0]]
    assert await ids("?kind=hung") == [names[1], names[0]]
    assert await ids("?open=true&agent=coder") == [names[2]]
    assert await ids("?open=true") == names[:0:-1]
    wrong = await world.fleet.get("/api/v1/incidents?kind=odd", headers=bearer("operator"))
    assert (wrong.status_code, problem_of(wrong)["field"]) == (400, "kind")


@rule("H2")
async def test_an_incident_is_shown_with_its_story_and_closed_once_by_who_may(world: World, clock: ManualClock) -> None:
    ident = await world.store.write(incidents.open_incident, "coder", "crash_loop", "five restarts", data={"restarts": 5})
    clock.at += 3
    await world.store.write(incidents.step, ident, "given_up", "it is started no more")
    found = await get(world, f"/incidents/{ident}")
    assert (found["cause"], found["data"], found["endedAt"], found["tookS"]) == ("five restarts", {"restarts": 5}, None, None)
    assert [(each["afterS"], each["action"]) for each in found["steps"]] == [(3.0, "given_up")]
    assert "covey resume coder" in found["next"]
    assert (await post(world, f"/incidents/{ident}/close", who="sales")).status_code == 403
    closed = (await post(world, f"/incidents/{ident}/close", {"reason": "a new disk"})).json()
    assert (closed["outcome"], closed["tookS"], closed["steps"][-1]["sentence"]) == ("closed", 3.0, "closed by operator: a new disk.")
    assert (await post(world, f"/incidents/{ident}/close")).status_code == 409
    missing = await world.fleet.get("/api/v1/incidents/inc_1", headers=bearer("operator"))
    assert missing.status_code == 404


@rule("K8", "H2")
async def test_why_tells_an_incident_and_what_one_means_for_its_task(world: World, clock: ManualClock) -> None:
    task = await world.store.write(adding.add, TaskDraft(description="x", agent="coder"), THE_OPERATOR)
    ident = await world.store.write(incidents.open_incident, "coder", "quarantined", f"{task.task_id} killed two", subject=task.task_id)
    clock.at += 2
    await world.store.write(incidents.step, ident, "failed", "it is not tried again.")
    told = await get(world, f"/why/{ident}")
    assert told["kind"] == "incident"
    assert "killed two." in told["sentence"]
    assert "After 2 s: it is not tried again. It is open. The operator was told" in told["sentence"]
    assert ident in (await get(world, f"/why/{task.task_id}"))["sentence"]
    await world.store.write(incidents.end_incident, ident, "released", "tried again")
    assert "It ended with `released`, 2 s after it was opened." in (await get(world, f"/why/{ident}"))["sentence"]
    assert ident not in (await get(world, f"/why/{task.task_id}"))["sentence"]


@rule("H7a")
async def test_a_retry_at_the_door_lets_a_task_out_of_quarantine(world: World) -> None:
    task = await world.store.write(adding.add, TaskDraft(description="x", agent="coder"), THE_OPERATOR)
    claimed = await world.store.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert claimed is not None
    await world.store.write(working.fail, "coder", claimed[1], "it died", permanent=True)
    ident = await world.store.write(incidents.open_incident, "coder", "quarantined", "killed two", subject=task.task_id)
    await post(world, f"/tasks/{task.task_id}/retry")
    assert (await world.store.read(reading.show, task.task_id)).state == "queued"
    assert (await world.store.read(incidents.find, ident)).outcome == "released"
