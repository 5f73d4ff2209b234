"""Team runs with real runners, scripted brains, and the doors: Fleet.supervise, the API, the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from covey.agents import configuring
from covey.app import teaming
from covey.app.fleet import Fleet
from covey.base.clock import SystemClock
from covey.base.errors import Invalid, Unknown
from covey.brains.model import Hands, Outcome, Turn
from covey.cli.teaming import line_of
from covey.store import Store
from covey.tasks.model import TaskDraft
from covey.teams.runs import driving
from covey.teams.runs.model import Part
from covey.testing import Script, fail, plan, say
from tests.api.world import World, bearer, world_of
from tests.cli.conftest import Covey, covey, folder
from tests.conftest import Database, ManualClock, opened
from tests.rules import rule
from tests.runner.office import QUICK, OwnBrain, office
from tests.teams.crew import Crew, crew_of, of_python

__all__ = ["covey", "folder"]


class Live:
    """A fleet of which some agents really run, with scripts for brains."""

    def __init__(self, store: Store, fleet: Fleet) -> None:
        self.store = store
        self.fleet = fleet
        self.told: list[dict[str, Any]] = []

    async def supervise(self, goal: str = "the goal", **more: Any) -> Any:
        return await asyncio.wait_for(self.fleet.supervise(goal, on_progress=self.told.append, **more), 30)


@asynccontextmanager
async def at_work(database: Database, path: Path, *names: str, script: Script) -> AsyncIterator[Live]:
    settings = of_python(QUICK)
    async with opened(database, path, SystemClock()) as store, AsyncExitStack() as stack:
        await store.write(configuring.configure, settings)
        for name in names:

            async def think(turn: Turn, hands: Hands) -> Outcome:
                return await script(turn, hands)

            await stack.enter_async_context(office(store, OwnBrain(think), name=name, settings=settings))
        yield Live(store, Fleet(store, settings))


@rule("Q2")
async def test_supervise_answers_with_the_results_and_tells_each_step(database: Database, tmp_path: Path) -> None:
    async with at_work(database, tmp_path, "intel", "comms", script=Script(say("$agent: $text"))) as live:
        run = await live.supervise("tides", type="research")
    assert (run.state, run.success, run.quality_score) == ("done", True, 1.0)
    assert [step.result["summary"] for step in run.results] == [
        "intel: Gather information: tides",
        "intel: Analyze findings: tides",
        "comms: Synthesize results: tides",
    ]
    assert [each["kind"] for each in live.told] == [
        "team.started",
        "team.planned",
        *["team.assigned", "team.step"] * 3,
        "team.done",
    ]


@rule("Q2", "Q5")
async def test_a_flaky_worker_is_helped_out_and_the_run_succeeds(database: Database, tmp_path: Path) -> None:
    script = Script(fail("out of paper", agent="coder", times=1), say("$agent"))
    async with at_work(database, tmp_path, "coder", "sales", script=script) as live:
        run = await live.supervise(parts=["print it"], workers=["coder", "sales"])
        assert next(each for each in live.told if each["kind"] == "team.rerouted")["error"] == "out of paper"
    assert (run.success, run.results[0].worker, run.results[0].failed_by) == (True, "sales", ["coder"])


@rule("Q2")
async def test_the_supervisors_plan_is_carried_out(database: Database, tmp_path: Path) -> None:
    parts = [TaskDraft(description="build", task_id="a", agent="coder"), TaskDraft(description="sell", agent="sales", dependencies=["a"])]
    script = Script(plan(*parts, agent="chief"), say("$agent $text"))
    async with at_work(database, tmp_path, "chief", "coder", "sales", script=script) as live:
        run = await live.supervise("ship", supervisor="chief")
    assert (run.planned_by, run.summary) == ("chief", "coder build | sales sell")


@rule("Q2")
async def test_thirty_parts_are_done_once_each_by_those_who_are_free(database: Database, tmp_path: Path) -> None:
    script = Script(say("$text"))
    async with at_work(database, tmp_path, "coder", "sales", "ops", script=script) as live:
        run = await live.supervise(parts=[f"part {n}" for n in range(30)], workers=["coder", "sales", "ops"])
    assert run.quality_score == 1.0
    assert sorted(call.text for call in script.calls) == sorted(f"part {n}" for n in range(30))
    assert sum(worker.done for worker in run.workers) == 30


@rule("Q2")
async def test_a_part_is_text_or_says_what_it_needs_and_who_is_to_do_it(database: Database, tmp_path: Path) -> None:
    async with at_work(database, tmp_path, "coder", "sales", script=Script(say("$agent $text"))) as live:
        parts = [Part(description="build", capability="code"), {"description": "sell", "worker": "sales", "needs": [1]}, "rest"]
        run = await live.supervise(parts=parts, workers=["coder", "sales"])
        with pytest.raises(Invalid) as refused:
            await live.supervise(parts=[{"description": "x", "wrker": "sales"}])
    assert run.summary.startswith("coder build | sales sell | ")
    assert "wrker" in refused.value.message


@rule("Q2", "H8a")
async def test_many_drivers_at_once_do_no_harm(database: Database, tmp_path: Path) -> None:
    """Two processes' view of one store; both look after the run while its workers settle."""
    script = Script(fail("out of paper", agent="coder", times=2), say("$text"))
    async with (
        at_work(database, tmp_path, "coder", "sales", "ops", script=script) as live,
        opened(database, tmp_path, SystemClock()) as other,
    ):
        going = asyncio.ensure_future(
            live.supervise(parts=[f"part {n}" for n in range(40)], workers=["coder", "sales", "ops"], team_id="mine")
        )
        while not going.done():
            both = (store.write(driving.advance, "mine") for store in (live.store, other) for _ in range(2))
            await asyncio.gather(*both)
            await asyncio.sleep(0)
        run = await going
    assert run.quality_score == 1.0
    assert [each["kind"] for each in live.told].count("team.done") == 1
    done = [each["step"] for each in live.told if each["kind"] == "team.step"]
    assert sorted(done) == list(range(1, 41))


@rule("Q2")
async def test_a_killed_programs_run_is_taken_up_again_by_its_id(database: Database, tmp_path: Path) -> None:
    async with at_work(database, tmp_path, "coder", script=Script(say("$text"))) as live:
        first = asyncio.ensure_future(live.fleet.supervise("g", parts=["a", "b"], workers=["coder"], team_id="mine"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        run = await live.supervise("g", parts=["a", "b"], workers=["coder"], team_id="mine")
    assert (run.team_id, run.summary) == ("mine", "a | b")


@rule("Q2")
async def test_after_its_time_supervise_answers_as_it_stands_and_the_run_goes_on(database: Database, tmp_path: Path) -> None:
    async with at_work(database, tmp_path, script=Script()) as live:
        run = await live.supervise(parts=["a"], workers=["coder"], timeout_s=0.0)
        assert run.is_open
        assert (await live.fleet.cancel_team(run.team_id)).state == "cancelled"
        with pytest.raises(Unknown):
            await live.supervise(workers=["codr"])


@rule("Q2", "M4b")
async def test_supervise_is_rung_at_the_end_and_waits_for_no_look_of_its_own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teaming, "LOOK_S", 1000.0)
    monkeypatch.setattr(teaming, "SOON_S", 1000.0)
    parts = [Part(description="a"), Part(description="b", needs=[1])]
    async with at_work(database, tmp_path, "coder", script=Script(say("$text"))) as live:
        run = await asyncio.wait_for(live.fleet.supervise("g", parts=parts, workers=["coder"]), 10)
    assert (run.state, run.summary) == ("done", "a | b")


@rule("Q2", "M4b")
async def test_progress_is_told_as_it_is_made_and_waits_for_no_look(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teaming, "LOOK_S", 1000.0)
    heard = asyncio.Event()

    class UntilHeard(Script):
        async def __call__(self, turn: Turn, hands: Hands | None = None) -> Outcome:
            if turn.task is not None and turn.task.description == "b":
                await asyncio.wait_for(heard.wait(), 10)  # the first step's end
            return await super().__call__(turn, hands)

    def tell(event: dict[str, Any]) -> None:
        if event["kind"] == "team.step":
            heard.set()

    parts = [Part(description="a"), Part(description="b", needs=[1])]
    async with at_work(database, tmp_path, "coder", script=UntilHeard(say("$text"))) as live:
        run = await asyncio.wait_for(live.fleet.supervise("g", parts=parts, workers=["coder"], on_progress=tell), 30)
    assert run.summary == "a | b"


@rule("Q2", "M4b")
async def test_supervise_answers_where_no_bell_can_be_heard(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def deaf(*_: object, **__: object) -> None:
        raise OSError("no room for a socket")

    monkeypatch.setattr(teaming, "LOOK_S", 0.02)
    async with at_work(database, tmp_path, "coder", script=Script(say("$text"))) as live:
        monkeypatch.setattr(live.store.bell, "listen", deaf)
        run = await asyncio.wait_for(live.fleet.supervise("g", parts=["a"], workers=["coder"]), 30)
    assert run.summary == "a"
    assert "the bell can't be heard" in caplog.text


# the API


@pytest.fixture
async def crew(store: Store, clock: ManualClock) -> Crew:
    return await crew_of(store, clock)


@pytest.fixture
async def world(crew: Crew, clock: ManualClock) -> AsyncIterator[World]:
    """The crew's fleet with tokens and ports."""
    async with world_of(crew.store, clock) as found:
        yield found


@rule("Q2")
async def test_the_api_begins_shows_lists_waits_for_and_cancels_runs(crew: Crew, world: World) -> None:
    operator = bearer("operator")
    made = await world.fleet.post("/api/v1/teams", json={"goal": "g", "workers": ["coder"], "teamId": "mine"}, headers=operator)
    assert made.status_code == 201
    again = await world.fleet.post("/api/v1/teams", json={"goal": "g", "workers": ["coder"], "teamId": "mine"}, headers=operator)
    assert (again.status_code, again.json()["known"]) == (200, True)
    assert (await world.fleet.get("/api/v1/teams?state=open", headers=operator)).json()["items"][0]["teamId"] == "mine"
    waiting = asyncio.ensure_future(world.fleet.get("/api/v1/teams/mine/wait?wait=20", headers=operator))
    await crew.do("coder", "here")
    ended = (await asyncio.wait_for(waiting, 20)).json()
    assert (ended["state"], ended["success"], ended["qualityScore"], ended["summary"]) == ("done", True, 1.0, "here")
    assert ended["results"][0]["result"]["summary"] == "here"
    late = await world.fleet.post("/api/v1/teams/mine/cancel", json={}, headers=operator)
    assert late.status_code == 409
    assert (await world.fleet.get("/api/v1/teams/nosuch", headers=operator)).status_code == 404


@rule("Q2")
async def test_the_api_answers_an_unknown_worker_with_the_candidates(world: World) -> None:
    refused = await world.fleet.post("/api/v1/teams", json={"goal": "g", "workers": ["codr"]}, headers=bearer("operator"))
    assert (refused.status_code, refused.json()["field"], refused.json()["nearest"]) == (404, "workers", ["coder"])
    unfit = await world.fleet.post(
        "/api/v1/teams", json={"goal": "g", "type": "research", "workers": ["sales"]}, headers=bearer("operator")
    )
    assert (unfit.status_code, unfit.json()["nearest"]) == (400, ["intel"])


# the command line


@rule("Q2")
def test_the_command_line_begins_lists_shows_and_cancels_runs(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text('[agents.coder]\nbrain = "brain:think"\n[agents.sales]\nbrain = "brain:think"\n')
    begun = covey("team", "run", "sell it", "--workers", "coder,sales", "--part", "a", "--part", "b", "--id", "mine", "--no-wait")
    assert (begun.code, begun.err) == (0, "")
    assert "mine  working  0 of 2 done  sell it" in begun.out
    again = covey("team", "run", "again", "--id", "mine", "--no-wait", "--json").json
    assert (again["known"], again["differs"]) == (True, True)
    timed_out = covey("team", "run", "sell it", "--id", "mine", "--timeout", "0")
    assert timed_out.code == 1
    assert "it was there already; nothing was changed, though this one differs" in timed_out.out
    assert "goes on" in timed_out.err
    assert [each["teamId"] for each in covey("team", "list", "--json").json["items"]] == ["mine"]
    assert "0/2" in covey("team", "list").out
    shown = covey("team", "show", "mine")
    assert "1. part  waiting" in shown.out
    assert "it is down" in shown.out
    assert covey("team", "cancel", "mine", "--json").json["state"] == "cancelled"
    assert covey("team", "show", "nosuch").code == 4
    wrong = covey("team", "run", "x", "--workers", "codr", "--json")
    assert (wrong.code, wrong.json["nearest"]) == (4, ["coder"])


def test_a_run_in_a_line_says_how_far_it_is() -> None:
    step = {"worker": "coder", "progress": "compiling", "description": "build it", "type": "part", "state": "out"}
    run = {"state": "working", "done": 1, "total": 3, "results": [step], "why": None, "supervisor": None}
    assert line_of(run) == "1 of 3 done; coder: compiling"
    assert line_of(run | {"results": [step | {"progress": None}]}) == "1 of 3 done; coder: build it"
    assert line_of(run | {"state": "planning", "supervisor": "chief"}) == "chief plans …"
