"""Team runs over the fleet: cut up, given to able workers, collected, put together; on both databases (Q2, Q5, Q6)."""

from __future__ import annotations

import msgspec
import pytest

from covey.agents import configuring, external, living, roster
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import CoveyError, Forbidden, IdTaken, Invalid, LeaseLost, Unknown
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.brains.model import Outcome, failure
from covey.messages import reading as mail
from covey.reports import why
from covey.runner import holding
from covey.store import Store
from covey.tasks import adding, changing, working
from covey.tasks.model import TaskDraft
from covey.teams.runs import choosing, driving, reading, retention, starting
from covey.teams.runs.heads import head_of
from covey.teams.runs.model import Bound, NoWorker, Part, Step, TeamDraft
from tests.conftest import ManualClock
from tests.rules import rule
from tests.tasks.taking import taker
from tests.teams.crew import Crew, crew_of


@pytest.fixture
async def crew(store: Store, clock: ManualClock) -> Crew:
    return await crew_of(store, clock)


@rule("Q2")
async def test_a_research_run_goes_through_the_seeds_steps_with_the_capable_workers(crew: Crew) -> None:
    run = await crew.start("tides", type="research")
    assert [(step.type, step.description, step.state, step.worker) for step in run.results] == [
        ("search", "Gather information: tides", "out", "intel"),
        ("analyze", "Analyze findings: tides", "waiting", None),
        ("synthesize", "Synthesize results: tides", "waiting", None),
    ]
    await crew.do("intel", "high at noon")
    await crew.do("intel", "twice a day")
    last = await crew.take("comms")
    assert last is not None
    assert last.task is not None
    assert [each["summary"] for each in last.task.data["inputs"]] == ["twice a day"]
    await crew.settle(last, Outcome(summary="tides come twice a day"))
    run = await crew.run(run.team_id)
    assert (run.state, run.success, run.quality_score) == ("done", True, 1.0)
    assert run.summary == "high at noon | twice a day | tides come twice a day"


@rule("Q2")
async def test_the_next_step_is_there_in_the_commit_that_ends_the_one_before(crew: Crew) -> None:
    run = await crew.start(type="create")
    await crew.do("chief", "the plan")
    assert [step.state for step in (await crew.run(run.team_id)).results] == ["done", "out", "waiting"]


@rule("Q2")
async def test_steps_that_need_nothing_are_done_side_by_side_by_those_with_the_fewest_open_tasks(crew: Crew) -> None:
    for number in range(2):
        await crew.store.write(adding.add, TaskDraft(description=f"else {number}", agent="coder"), THE_OPERATOR)
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(4)], workers=["coder", "sales", "ops"])
    assert [step.worker for step in run.results] == ["sales", "ops", "sales", "ops"]
    assert {step.state for step in run.results} == {"out"}


@rule("Q2")
async def test_a_worker_has_three_tasks_of_a_run_at_a_time_so_the_quick_one_does_more(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(10)], workers=["coder", "sales"])
    assert [step.worker for step in run.results].count("coder") == 3
    assert [step.state for step in run.results].count("waiting") == 4
    for _ in range(7):
        await crew.do("coder")
    run = await crew.run(run.team_id)
    assert [step.worker for step in run.results if step.state == "done"] == ["coder"] * 7
    assert [step.worker for step in run.results if step.state == "out"] == ["sales"] * 3


@rule("Q2")
async def test_each_step_is_done_once_however_often_the_run_is_driven(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(12)], workers=["coder", "sales", "ops"])
    for _ in range(3):
        await crew.store.write(driving.advance, run.team_id)
    done = await crew.do_all()
    for _ in range(3):
        await crew.store.write(driving.advance, run.team_id)
    assert sorted(done) == sorted(f"{run.team_id}-{n}" for n in range(1, 13))
    assert (await crew.run(run.team_id)).quality_score == 1.0


@rule("Q2")
async def test_success_is_from_four_fifths_on(crew: Crew) -> None:
    for steps, failing, state in ((5, 1, "done"), (5, 2, "failed"), (14, 3, "failed")):
        run = await crew.start(parts=[Part(description=f"part {n}") for n in range(steps)], workers=["coder"])
        for number in range(steps):
            await (crew.fail("coder", "no", permanent=True) if number < failing else crew.do("coder"))
        run = await crew.run(run.team_id)
        assert (run.state, run.success, run.quality_score) == (state, state == "done", (steps - failing) / steps)


@rule("Q2")
async def test_a_worker_that_reports_no_success_has_failed_its_step(crew: Crew) -> None:
    run = await crew.start(workers=["coder"])
    await crew.do("coder", Outcome(summary="hm", data={"success": False, "error": "the figures are wrong"}))
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].state, run.results[0].error) == ("failed", "failed", "the figures are wrong")


@rule("Q2")
async def test_an_empty_result_is_a_result_and_is_not_asked_for_again(crew: Crew) -> None:
    run = await crew.start(workers=["coder"])
    await crew.do("coder", Outcome())
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].state, run.results[0].attempts, run.results[0].error) == ("done", "done", 1, None)
    await crew.later(3600.0)
    assert await crew.take("coder") is None


@rule("Q2")
async def test_what_needs_a_failed_step_is_skipped_with_the_reason(crew: Crew) -> None:
    run = await crew.start(type="research")
    await crew.fail("intel", "the library is closed", permanent=True)
    run = await crew.run(run.team_id)
    assert [step.state for step in run.results] == ["failed", "skipped", "skipped"]
    assert run.results[0].error == "the library is closed"
    assert run.results[1].error == "it needs step 1, which is failed"
    assert (run.state, run.quality_score) == ("failed", 0.0)


# who gets what


@rule("Q2")
async def test_nobody_gets_what_it_is_not_capable_of_unless_told(crew: Crew) -> None:
    with pytest.raises(NoWorker, match="search") as refused:
        await crew.start(type="research", workers=["sales", "comms"])
    assert refused.value.field == "workers"
    assert refused.value.details["nearest"] == ["intel"]
    assert "sales (" in refused.value.message
    run = await crew.start(type="research", workers=["sales", "comms"], strict=False)
    assert run.results[0].worker == "sales"


@rule("Q2")
async def test_a_rules_brain_is_not_capable_of_what_it_does_not_know(fleet: Store) -> None:
    with pytest.raises(NoWorker, match="A rules brain does only what it knows"):
        await fleet.write(starting.start, TeamDraft(goal="write a poem"), THE_OPERATOR)


@rule("Q2")
@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"workers": []}, "workers", "name at least one of chief, coder"),
        ({"workers": ["codr"]}, "workers", "Did you mean coder"),
        ({"workers": ["coder", "coder"]}, "workers", "each once"),
        ({"supervisor": "nobody"}, "supervisor", "The fleet has"),
        ({"parts": [Part(description="x", worker="sales")], "workers": ["coder"]}, "parts[0].worker", "the workers are coder"),
        ({"parts": [Part(description="x", needs=[2])]}, "parts[0].needs", "1 to 1"),
        ({"parts": [Part(description="x", needs=[2]), Part(description="y", needs=[1])]}, "parts", "circle"),
        ({"parts": [Part(description=" ")]}, "parts[0].description", "empty"),
        ({"parts": [Part(description="x")], "mode": "route"}, "parts", "leave one of them out"),
        ({"capability": "juggle"}, "workers", "Nobody in the fleet is able to"),
        ({"goal": " "}, "goal", "empty"),
        ({"span": 0}, "span", "1 to"),
        ({"team_id": "x" * 121}, "teamId", "at most 120"),
    ],
)
async def test_a_wrong_draft_is_refused_with_the_candidates_and_leaves_nothing(
    crew: Crew, given: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises((Invalid, Unknown), match=says) as refused:
        await crew.start(**{"goal": "g", **given})  # type: ignore[arg-type]
    assert refused.value.field == field
    assert (await crew.store.read(reading.listed)).items == []


@rule("Q2")
async def test_a_worker_that_is_down_gets_nothing_until_it_is_back(crew: Crew, clock: ManualClock) -> None:
    await crew.store.write(living.leave, "intel", pid=1004, reason="gone")
    run = await crew.start(type="research")
    assert run.results[0].state == "waiting"
    assert "intel: it is down" in ((await crew.run(run.team_id)).why or "")
    await crew.arrive("intel")
    await crew.later(driving.LOOK_S, "intel")
    run = await crew.run(run.team_id)
    assert (run.results[0].worker, run.why) == ("intel", None)


@rule("A1a")
async def test_the_operator_is_told_once_of_a_run_that_nobody_can_do_now(crew: Crew) -> None:
    await crew.store.write(living.pause, "intel", THE_OPERATOR)
    run = await crew.start(type="research")
    for _ in range(40):
        await crew.later(3.0)
    found = await crew.store.read(mail.inbox, "operator")
    assert [message.content["subject"] for message in found.items] == ["Team run " + run.team_id + " waits"]


@rule("Q2", "H6")
def test_a_worker_whose_breaker_is_half_open_gets_a_step_if_nobody_else_may() -> None:
    shaky, sound = taker("shaky", shaky=True), taker("sound", tasks=9)
    step = Step(1, "part", "do it", ("general",), wanted="shaky")
    assert choosing.choose(step, [shaky, sound], strict=True) is sound
    assert choosing.choose(step, [shaky], strict=True) is shaky
    assert choosing.choose(step, [shaky, sound], strict=True, failed_by=["sound"]) is shaky
    assert choosing.choose(step, [shaky, sound._replace(brain="rules")], strict=True) is shaky, "a rules brain does not know it"


# failures


@rule("Q5", "K5")
async def test_what_one_worker_failed_at_is_anothers_after_the_backoff_with_the_cause_kept(crew: Crew, clock: ManualClock) -> None:
    run = await crew.start(workers=["coder", "sales"])
    work = await crew.fail("coder", "no licence")
    task = await crew.task(work.item)
    assert (task.agent, task.state, task.error) == ("sales", "queued", "no licence")
    assert 1.5 <= (task.not_before or 0) - task.created_at <= 2.0
    await crew.later(2.0)
    await crew.do("sales")
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].worker, run.results[0].failed_by, run.results[0].attempts) == ("done", "sales", ["coder"], 2)


@rule("Q5")
async def test_a_permanent_error_is_not_tried_again(crew: Crew) -> None:
    run = await crew.start(workers=["coder", "sales"])
    await crew.fail("coder", "there is no such file", permanent=True)
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].attempts, run.results[0].error) == ("failed", 1, "there is no such file")


@rule("Q5")
async def test_after_three_tries_the_step_has_failed_with_the_last_cause(crew: Crew) -> None:
    run = await crew.start(workers=["coder", "sales"])
    for who in ("coder", "sales"):
        await crew.fail(who, f"{who} can't")
        await crew.later(60.0)
    last = await crew.fail((await crew.run(run.team_id)).results[0].worker or "", "nobody can")
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].error, (await crew.task(last.item)).attempts) == ("failed", "nobody can", 3)


@rule("Q5", "H6")
async def test_a_worker_whose_brain_cant_start_gets_nothing_more_and_what_it_had_is_anothers(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(4)], workers=["coder", "sales"])
    await crew.fail("coder", "no module", permanent=True, not_started=True)
    assert {step.worker for step in (await crew.run(run.team_id)).results if step.state == "out"} == {"sales"}
    await crew.later(3.0)
    await crew.do_all("sales")
    run = await crew.run(run.team_id)
    assert (run.state, run.quality_score) == ("done", 1.0)


@rule("Q5", "H6")
async def test_an_open_breaker_takes_the_waiting_steps_away(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(6)], workers=["coder", "sales"])
    for _ in range(3):
        await crew.fail("coder", "overheated")
        await crew.later(8.0)
    found = await crew.run(run.team_id)
    assert {step.worker for step in found.results if step.state == "out"} == {"sales"}


@rule("Q2", "Q5")
async def test_a_worker_that_dies_mid_task_is_followed_by_another_and_its_late_answer_changes_nothing(crew: Crew) -> None:
    run = await crew.start(workers=["coder", "sales"])
    lost = await crew.take("coder")
    assert lost is not None
    await crew.store.write(holding.free, "coder", lost.token, lost.run_id, "its process is gone")
    await crew.store.write(living.leave, "coder", pid=1001, reason="killed")
    await crew.later(3.0, "sales")
    await crew.do("sales", "sales did it")
    with pytest.raises(LeaseLost):
        await crew.settle(lost, Outcome(summary="coder did it after all"))
    run = await crew.run(run.team_id)
    assert (run.state, run.summary, run.results[0].worker) == ("done", "sales did it", "sales")


@rule("Q2")
async def test_an_answer_given_twice_or_for_another_changes_nothing(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description="a"), Part(description="b")], workers=["coder", "sales"])
    first = await crew.do("coder", "right")
    with pytest.raises(LeaseLost):
        await crew.settle(first, Outcome(summary="wrong"))
    other = await crew.take("sales")
    assert other is not None
    with pytest.raises(LeaseLost):
        await crew.store.write(working.finish, "coder", other.token, "not mine")
    await crew.settle(other, Outcome(summary="right too"))
    assert (await crew.run(run.team_id)).summary == "right | right too"


@rule("Q2")
async def test_a_task_that_ended_elsewhere_is_noticed_by_the_sweep(crew: Crew) -> None:
    run = await crew.start(workers=["coder"])
    await crew.store.write(changing.cancel, f"{run.team_id}-1", THE_OPERATOR, "not needed")
    assert await crew.sweep() == 1
    run = await crew.run(run.team_id)
    assert (run.state, run.results[0].state, run.results[0].error) == ("failed", "cancelled", "not needed")


@rule("Q2")
async def test_a_worker_that_left_the_fleet_is_followed_by_another(crew: Crew) -> None:
    run = await crew.start(workers=["coder", "sales"])
    await crew.store.write(living.stop, "coder", THE_OPERATOR, "")
    await crew.later(3.0)
    assert (await crew.run(run.team_id)).results[0].worker == "sales"


# modes


@rule("Q2")
async def test_route_gives_the_whole_to_the_one_who_is_capable_of_most_of_it(crew: Crew) -> None:
    run = await crew.start(type="research", mode="route", workers=["comms", "intel"])
    assert [(step.type, step.worker) for step in run.results] == [("route", "intel")]
    await crew.do("intel", "all of it")
    assert (await crew.run(run.team_id)).summary == "all of it"


@rule("Q2")
async def test_broadcast_has_all_do_the_same_and_compares(crew: Crew) -> None:
    run = await crew.start("which one?", mode="broadcast", workers=["coder", "sales", "ops"])
    for who, said in (("coder", "Red"), ("sales", "blue"), ("ops", " red ")):
        await crew.do(who, said)
    run = await crew.run(run.team_id)
    assert run.comparison == {
        "agreement": pytest.approx(2 / 3),
        "answers": [{"answer": "Red", "workers": ["coder", "ops"]}, {"answer": "blue", "workers": ["sales"]}],
    }
    assert run.state == "done"


@rule("Q2")
async def test_a_broadcast_waits_for_its_own_worker_and_ends_at_its_deadline(crew: Crew) -> None:
    await crew.store.write(living.pause, "sales", THE_OPERATOR)
    run = await crew.start(mode="broadcast", workers=["coder", "sales"], deadline=await _now(crew) + 100)
    await crew.do("coder")
    await crew.later(50.0)
    assert [step.state for step in (await crew.run(run.team_id)).results] == ["done", "waiting"]
    await crew.later(50.0)
    run = await crew.run(run.team_id)
    assert (run.state, [step.state for step in run.results]) == ("failed", ["done", "cancelled"])
    assert "deadline" in (run.why or "")


@rule("Q2")
async def test_the_part_of_a_worker_that_left_the_fleet_has_failed_in_a_broadcast(crew: Crew) -> None:
    await crew.store.write(living.pause, "sales", THE_OPERATOR)
    run = await crew.start(mode="broadcast", workers=["coder", "sales"])
    left = msgspec.structs.replace(crew.settings, agents=tuple(agent for agent in crew.settings.agents if agent.id != "sales"))
    await crew.store.write(configuring.configure, left)
    await crew.do("coder")
    run = await crew.run(run.team_id)
    assert (run.state, run.results[1].error) == ("failed", "sales is not in the fleet any more")


@rule("Q2", "Q6")
async def test_a_run_shows_eight_mebibytes_of_results_and_says_where_the_rest_is(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(35)], workers=["coder"])
    said = "x" * 250_000
    for _ in range(34):
        await crew.do("coder", said)
    light = await crew.store.read(reading.show, run.team_id, results=False)
    assert [step.left_out for step in light.results] == [True] * 34 + [False]
    await crew.do("coder", said)
    run = await crew.run(run.team_id)
    assert [step.left_out for step in run.results] == [False] * 33 + [True] * 2
    assert (run.quality_score, run.results[32].result["summary"]) == (1.0, said)
    letters = (await crew.store.read(mail.inbox, "operator", limit=100)).items
    whole = "".join(letter.body for letter in reversed(letters))
    assert whole.count("x") >= 33 * 250_000
    assert f"Its result is the one of {run.team_id}-35." in whole


@rule("Q2")
async def test_who_reads_a_run_within_a_bound_gets_the_first_words_of_what_is_longer_and_is_told_so(crew: Crew) -> None:
    run = await crew.start(mode="broadcast", workers=["coder", "sales", "ops"])
    said = 'a "quoted" line\n' + "ä" * 500
    await crew.do("coder", said)
    await crew.do("sales", "short")
    await crew.do("ops", said)
    found = await crew.store.read(reading.show, run.team_id, bound=Bound(each=200, whole=350))
    coder, sales, ops = sorted(found.results, key=lambda step: ["coder", "sales", "ops"].index(step.worker or ""))
    assert set(coder.result) == {"summary"}
    assert said.startswith(coder.result["summary"])
    assert len(coder.result["summary"]) > 150
    assert (coder.left_out, coder.result_chars > 500) == (True, True)
    assert (sales.result["summary"], sales.left_out) == ("short", False)
    assert (ops.result, ops.left_out, ops.result_chars) == (None, True, coder.result_chars - 2), "there is no room left for it"
    assert found.comparison is None, "parts of answers are not compared"
    whole = await crew.run(run.team_id)
    assert [step.left_out for step in whole.results] == [False] * 3
    assert whole.comparison is not None


@pytest.mark.parametrize(
    ("raw", "head"),
    [
        ('{"summary":"one', "one"),
        ('{"summary":"one","data":{"a"', "one"),
        ('{"summary":"one\\', "one"),
        ('{"summary":"one\\u00', "one"),
        ('{"summary":"one\\ud83d', "one"),
        ('{"summary":"","data":[1, 2', '{"summary":"","data":[1, 2'),
        ('{"sum', '{"sum'),
        ("[1, 2, 3", "[1, 2, 3"),
    ],
)
def test_the_head_of_a_cut_result_is_its_text_as_far_as_it_goes(raw: str, head: str) -> None:
    assert head_of(raw) == head


@rule("K8", "Q2")
async def test_why_says_where_a_run_stands_and_what_it_waits_for(crew: Crew) -> None:
    await crew.store.write(living.pause, "sales", THE_OPERATOR)
    run = await crew.start(mode="broadcast", workers=["coder", "sales"])
    found = await crew.store.read(why.why, run.team_id)
    assert (found.kind, found.facts["steps"]) == ("team", {"out": 1, "waiting": 1})
    assert "0 of its 2 steps are done, 1 are with coder (1), 1 wait." in found.sentence
    assert "Nobody takes step 2 now (sales: it is paused)." in found.sentence
    await crew.store.write(starting.cancel, run.team_id, THE_OPERATOR, "enough")
    assert "2 were cancelled" in (await crew.store.read(why.why, run.team_id)).sentence


async def _now(crew: Crew) -> float:
    return await crew.store.read(lambda tx: tx.now)


@rule("Q2")
async def test_more_workers_than_five_are_under_sub_supervisors(crew: Crew) -> None:
    names = ["chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops"]
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(16)], workers=names)
    assert [(team.supervisor, team.workers) for team in run.teams] == [("chief", names[:4]), ("intel", names[4:])]
    await crew.do_all()
    run = await crew.run(run.team_id)
    assert sorted(step for team in run.teams for step in team.steps) == list(range(1, 17))
    assert [team.quality_score for team in run.teams] == [1.0, 1.0]
    told = await crew.start(parts=[Part(description="x")], workers=names, span=8)
    assert told.teams == []
    assert len((await crew.start()).workers) == 5


@rule("Q2")
async def test_what_a_worker_cant_do_goes_to_its_own_sub_supervisors_others_first(crew: Crew) -> None:
    names = ["chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops"]
    run = await crew.start(parts=[Part(description=f"part {n}") for n in range(8)], workers=names)
    mine = next(step for step in run.results if step.worker == "ops")
    await crew.store.write(living.stop, "ops", THE_OPERATOR, "")
    await crew.later(3.0)
    moved = (await crew.run(run.team_id)).results[mine.step - 1]
    assert moved.worker in {"intel", "devops", "comms"}


# plans


@rule("Q2")
async def test_the_supervisors_brain_plans_and_its_parts_are_the_steps(crew: Crew) -> None:
    run = await crew.start("ship it", supervisor="chief")
    assert (run.state, run.total) == ("planning", 0)
    work = await crew.take("chief")
    assert work is not None
    assert work.task is not None
    assert "coder: able to code" in work.task.description
    plan = [
        TaskDraft(description="build", task_id="a", agent="coder"),
        TaskDraft(description="tell", task_id="b", agent="@write", dependencies=["a"]),
    ]
    await crew.settle(work, Outcome(kind="split", tasks=plan))
    run = await crew.run(run.team_id)
    assert (run.state, run.planned_by) == ("working", "chief")
    assert [(step.description, step.worker, step.needs, step.state) for step in run.results] == [
        ("build", "coder", [], "out"),
        ("tell", None, [1], "waiting"),
    ]
    await crew.do("coder")
    await crew.do("comms")
    assert (await crew.run(run.team_id)).success


@rule("Q2")
async def test_a_plan_with_an_unknown_worker_is_answered_with_the_candidates_then_rules_cut_it_up(crew: Crew) -> None:
    run = await crew.start("ship it", supervisor="chief", workers=["coder", "sales"])
    bad = Outcome(kind="split", tasks=[TaskDraft(description="build", agent="codr")])
    work = await crew.do("chief", bad)
    assert "the workers are coder, sales" in ((await crew.task(work.item)).error or "")
    await crew.later(3.0)
    await crew.do("chief", bad)
    run = await crew.run(run.team_id)
    assert (run.state, run.planned_by, [step.description for step in run.results]) == ("working", "rules", ["ship it"])
    assert "rules cut it up instead" in (run.note or "")


@rule("Q2")
async def test_a_supervisor_that_never_plans_is_not_waited_for_for_ever(crew: Crew) -> None:
    await crew.store.write(living.stop, "chief", THE_OPERATOR, "")
    run = await crew.start("ship it", supervisor="chief", workers=["coder"])
    await crew.later(601.0)
    await crew.store.write(changing.fail_overdue)
    await crew.later(driving.LOOK_S)
    assert (await crew.run(run.team_id)).planned_by == "rules"


# its end


@rule("Q6")
async def test_the_operator_gets_the_results_word_for_word(crew: Crew) -> None:
    said = "line one\n  line “two”, \tstill mine\n\n" + "x" * 3000
    run = await crew.start(workers=["coder"])
    await crew.do("coder", Outcome(summary=said, data={"n": 1}))
    (letter,) = (await crew.store.read(mail.inbox, "operator")).items
    assert said in letter.body
    assert '{"n":1}' in letter.body
    assert letter.context["relatedTasks"] == [f"{run.team_id}-1"]


@rule("Q6")
async def test_results_too_long_for_one_letter_come_in_several_and_lose_nothing(crew: Crew) -> None:
    said = "ä" * 100_000
    await crew.start(parts=[Part(description="a"), Part(description="b")], workers=["coder"])
    await crew.do("coder", said)
    await crew.do("coder", said)
    letters = (await crew.store.read(mail.inbox, "operator")).items
    whole = "".join(letter.body for letter in reversed(letters))
    assert len(letters) > 1
    assert whole.count("ä") == 200_000


@rule("Q2")
async def test_an_agent_that_asked_for_a_run_is_told_of_its_end_and_the_operator_is_not(crew: Crew) -> None:
    run = await crew.start(workers=["coder"], by=as_agent("sales"))
    await crew.do("coder", "here you are")
    (letter,) = (await crew.store.read(mail.inbox, "sales")).items
    assert run.team_id in letter.body
    assert "here you are" in letter.body
    assert (await crew.store.read(mail.inbox, "operator")).items == []


@rule("T3")
async def test_a_known_id_is_the_first_run(crew: Crew) -> None:
    first = await crew.start(workers=["coder"], team_id="figures")
    again = await crew.start(workers=["coder"], team_id="figures")
    assert (again.known, again.differs, again.team_id) == (True, False, first.team_id)
    other = await crew.start("something else", workers=["coder"], team_id="figures")
    assert (other.known, other.differs, other.goal) == (True, True, first.goal)
    assert len((await crew.store.read(reading.listed)).items) == 1
    with pytest.raises(IdTaken):
        await crew.start(team_id="figures", by=as_agent("sales"))


@rule("T3")
async def test_a_task_that_bears_the_id_of_a_step_is_not_taken_for_it(crew: Crew) -> None:
    await crew.store.write(adding.add, TaskDraft(description="else", agent="coder", task_id="mine-1"), THE_OPERATOR)
    run = await crew.start(workers=["coder"], team_id="mine")
    assert (run.state, run.results[0].state) == ("failed", "failed")
    assert "was there before" in (run.results[0].error or "")


@rule("Q2")
async def test_a_run_can_be_cancelled_with_its_tasks_by_who_asked_for_it(crew: Crew) -> None:
    run = await crew.start(parts=[Part(description="a"), Part(description="b")], workers=["coder"])
    await crew.do("coder")
    running = await crew.take("coder")
    assert running is not None
    with pytest.raises(Forbidden):
        await crew.store.write(starting.cancel, run.team_id, as_agent("sales"))
    run = await crew.store.write(starting.cancel, run.team_id, THE_OPERATOR, "no more")
    assert (run.state, run.success, [step.state for step in run.results]) == ("cancelled", False, ["done", "cancelled"])
    with pytest.raises(LeaseLost):
        await crew.settle(running, failure("too late"))
    with pytest.raises(CoveyError, match="has ended"):
        await crew.store.write(starting.cancel, run.team_id, THE_OPERATOR)


@rule("Q2")
async def test_worker_metrics_are_what_was_really_done(crew: Crew, clock: ManualClock) -> None:
    run = await crew.start(parts=[Part(description="a"), Part(description="b")], workers=["coder"])
    for seconds in (2.0, 4.0):
        work = await crew.take("coder")
        assert work is not None
        clock.at += seconds
        await crew.settle(work, Outcome())
    (worker,) = (await crew.run(run.team_id)).workers
    assert (worker.done, worker.tasks_completed) == (2, 2)
    assert worker.average_response_s == pytest.approx(3.0, abs=0.01)
    vitals = await crew.store.read(roster.vitals, "coder")
    assert vitals.tasks_completed == 2


@rule("Q2")
async def test_runs_that_ended_long_ago_go(crew: Crew) -> None:
    old = await crew.start(workers=["coder"])
    await crew.do("coder")
    still = await crew.start(workers=["coder"])
    await crew.later(1000.0)
    pruned = await crew.store.write(retention.prune, older_s=500.0)
    assert pruned.deleted == 1
    assert [run.team_id for run in (await crew.store.read(reading.listed)).items] == [still.team_id]
    assert old.team_id != still.team_id


@rule("A5b", "Q2")
async def test_an_external_worker_is_away_by_its_own_cadence(store: Store, clock: ManualClock) -> None:
    joins = AgentSettings(id="joins", port=1, brain=BrainSettings(kind="external"), cadence_s=60.0)
    await store.write(configuring.configure, Settings(agents=(joins,)))
    await store.write(external.seen, "joins")

    async def why_not() -> str:
        (worker,) = await store.read(choosing.workers, ["joins"])
        return worker.why_not

    clock.at += 59
    assert await why_not() == ""
    clock.at += 2
    assert await why_not() == "it is away"
