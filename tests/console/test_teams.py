"""Team runs: the list, one run's tree as it grows, and what a person does with runs."""

from __future__ import annotations

from typing import Any

import pytest

from covey.agents.model import THE_OPERATOR
from covey.brains.model import Outcome
from covey.console import tree
from covey.console.tree import tree_of, words_of
from covey.teams.runs import reading, starting
from covey.teams.runs.model import Part, TeamDraft, TeamPart, TeamRun, TeamStep
from tests.conftest import ManualClock
from tests.console.person import HTMX, Page, Person, notice_of
from tests.rules import rule
from tests.teams.crew import Crew, crew_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
WORDS = "First line.\nSecond line, word for word."


@pytest.fixture
async def crew(person: Person, clock: ManualClock) -> Crew:
    """The eight, at work."""
    return await crew_of(person.store, clock)


async def begun(crew: Crew, ident: str = "run", **more: Any) -> TeamRun:
    parts = [Part(description="the first part"), Part(description="the second part", needs=[1])]
    words: dict[str, Any] = {"workers": ["coder", "intel"], "strict": False, "parts": parts} | more
    return await crew.start("reach it", team_id=ident, **words)


def ids_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/teams/") for found in page.all("a") if "data-open" in found]


async def test_runs_are_listed_newest_first_by_state_and_who_began_them(person: Person, crew: Crew) -> None:
    await begun(crew, "one")
    await begun(crew, "two")
    await person.store.write(starting.cancel, "one", THE_OPERATOR)
    page = await person.look("/teams")
    assert ids_in(page) == ["two", "one"]
    assert "0 of 2 steps" in page.text
    assert ids_in(await person.part("/teams/~rows?state=open")) == ["two"]
    assert ids_in(await person.part("/teams/~rows?state=cancelled")) == ["one"]
    assert ids_in(await person.part("/teams/~rows?by=coder")) == []


async def test_without_runs_the_page_says_how_one_is_started(person: Person) -> None:
    assert "No team run yet. Start a run" in (await person.look("/teams")).text


@rule("Q2")
async def test_the_tree_grows_with_the_run_and_has_each_result_word_for_word(person: Person, crew: Crew) -> None:
    await begun(crew)
    shown = await person.part("/teams/run/tree")
    states = {found["id"]: found["data-state"] for found in shown.all("li") if "id" in found}
    assert states == {"step-1": "out", "step-2": "waiting"}
    assert "needs 1" in shown.text
    worker = (await crew.run("run")).results[0].worker
    assert worker is not None
    await crew.do(worker, WORDS)
    shown = await person.part("/teams/run/tree")
    states = {found["id"]: found["data-state"] for found in shown.all("li") if "id" in found}
    assert states == {"step-1": "done", "step-2": "out"}
    assert WORDS in shown.source
    assert f"/agents/{worker}" in shown.hrefs()
    assert "1 of 2 steps done" in (await person.part("/teams/run/now")).text
    assert "quality 0.50 so far" in (await person.part("/teams/run/outcome")).text


@rule("Q2")
async def test_a_failed_try_is_told_with_who_and_why(person: Person, crew: Crew) -> None:
    await begun(crew, max_attempts=1)
    worker = (await crew.run("run")).results[0].worker
    assert worker is not None
    await crew.fail(worker, "the archive is shut")
    shown = (await person.look("/teams/run")).text
    assert f"failed before: {worker}" in shown
    assert "the archive is shut" in shown


@rule("Q2")
async def test_the_answers_of_a_broadcast_stand_side_by_side(person: Person, crew: Crew) -> None:
    await begun(crew, mode="broadcast", parts=[], workers=["coder", "intel", "sales"])
    for name, answer in (("coder", "6.8 m"), ("intel", "6.8 m"), ("sales", "6.7 m")):
        await crew.do(name, answer)
    outcome = (await person.part("/teams/run/outcome")).text
    assert "67 % agree" in outcome
    assert outcome.index("coder intel") < outcome.index("6.8 m") < outcome.index("sales") < outcome.index("6.7 m")
    assert "done" in (await person.look("/teams/run")).text


@rule("Q2")
async def test_workers_beyond_the_span_are_shown_in_their_groups(person: Person, crew: Crew) -> None:
    await begun(crew, workers=["coder", "intel", "sales", "ops"], span=2)
    shown = await person.part("/teams/run/tree")
    assert "coder's group coder, intel" in shown.text
    assert "sales's group sales, ops" in shown.text
    assert "Of no group yet" in shown.text
    assert [found["id"] for found in shown.all("li") if "id" in found] == ["step-1", "step-2"]


async def test_a_run_is_started_as_the_operators_and_who_is_at_work_is_said(person: Person, crew: Crew) -> None:
    said = await person.answer("/teams/~new", goal="reach it", workers="coder, intel", parts="one part\nanother\n", priority="high")
    (found,) = (await person.store.read(reading.listed)).items
    run = await crew.run(found.team_id)
    at_work = {step.worker for step in run.results if step.state == "out"}
    assert said == f"Started: 2 steps, {len(at_work)} agent{'s' if len(at_work) > 1 else ''} at work. Its id is {run.team_id}."
    assert (run.created_by, run.mode, [step.description for step in run.results]) == ("operator", "coordinate", ["one part", "another"])
    assert await person.answer("/teams/~new", goal="plan it", supervisor="chief") == (
        f"Started: chief plans it. Its id is {(await person.store.read(reading.listed)).items[0].team_id}."
    )


@ONLY_SQLITE
@pytest.mark.parametrize(
    "form",
    [
        {"goal": " "},
        {"mode": "odd"},
        {"type": "odd"},
        {"workers": "nobody"},
        {"workers": "coder coder"},
        {"supervisor": "nobody"},
        {"priority": "soon"},
        {"mode": "route", "parts": "a"},
        {"goal": "\x00"},
        {"goal": "x" * 400_000},
    ],
    ids=lambda form: str(form)[:30],
)
async def test_a_run_that_can_not_be_is_refused_and_not_stored(person: Person, crew: Crew, form: dict[str, str]) -> None:
    answer = await person.send("/teams", None, **{"goal": "reach it"} | form)
    assert answer.status_code >= 400
    assert notice_of(answer)
    assert (await person.store.read(reading.listed)).items == []


@rule("Q2")
async def test_a_run_is_cancelled_and_what_has_ended_is_not(person: Person, crew: Crew) -> None:
    await begun(crew)
    assert "2 open steps of 2" in (await person.part("/teams/run/cancel")).text
    assert await person.answer("/teams/run/cancel", reason="no need") == "The run is cancelled: 0 of 2 steps were done."
    assert (await crew.run("run")).why == "no need"
    assert (await person.part("/teams/run/now")).all("button") == []
    assert "It has ended" in (await person.part("/teams/run/cancel")).text
    answer = await person.send("/teams/run/cancel")
    assert (answer.status_code, "has ended" in notice_of(answer)) == (409, True)


async def test_hostile_words_of_a_run_are_inert(person: Person, crew: Crew) -> None:
    words = "<script>alert(1)</script><img src=x>\u202e"
    await begun(crew, parts=[Part(description=words)])
    worker = (await crew.run("run")).results[0].worker
    assert worker is not None
    await crew.do(worker, Outcome(summary=f"{words}\n{words}", data={"<b>": words}))
    await person.store.write(starting.start, TeamDraft(goal=words), THE_OPERATOR)
    for page in (await person.look("/teams/run"), await person.look("/teams")):
        assert page.all("img") == page.all("b") == []
        assert "\u202e" not in page.source
        assert all("src" in found for found in page.all("script"))


@ONLY_SQLITE
@pytest.mark.parametrize("path", ["/teams/none", "/teams/none/tree", "/teams/none/cancel", "/teams/%00", "/teams/~rows?state=odd"])
async def test_no_run_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)


# the tree


def step(number: int, text: str | None = None) -> TeamStep:
    result = {"summary": text} if text is not None else None
    return TeamStep(step=number, type="part", description=f"part {number}", state="done", worker="coder", result=result)


def run_of(*steps: TeamStep, teams: list[TeamPart] | None = None) -> TeamRun:
    run = TeamRun(team_id="run", goal="g", type="general", mode="coordinate", state="working", created_by="operator", created_at=0.0)
    run.results, run.teams = list(steps), teams or []
    return run


def test_results_are_shown_as_far_as_there_is_room_and_the_rest_is_said_to_be_elsewhere() -> None:
    full = "x" * tree.SHOWN.each
    found = tree_of(run_of(step(1, full + "x"), *(step(n, full) for n in range(2, 12)), step(12, "short"))).twigs
    assert [len(twig.words) for twig in found] == [*([tree.SHOWN.each] * 10), 0, 0]
    assert [twig.elsewhere for twig in found] == [True, *([False] * 9), True, True]


@rule("Q2")
async def test_a_long_result_is_shown_as_far_as_it_fits_and_how_much_there_is_is_said(person: Person, crew: Crew) -> None:
    await begun(crew, mode="broadcast", parts=[], workers=["coder", "intel"])
    for name in ("coder", "intel"):
        await crew.do(name, "word " * 20_000)
    page = await person.look("/teams/run")
    assert page.source.count("word ") < 20_000, "not even those of one result"
    size = (await crew.run("run")).results[0].result_chars
    assert f"the whole result, {size:,} characters of JSON, is with its task" in page.text
    assert "The answers are too long to be compared here" in page.text


def test_groups_within_groups_keep_their_steps_and_what_nobody_has_comes_last() -> None:
    inner = [TeamPart(supervisor="a", workers=["a"], steps=[1]), TeamPart(supervisor="b", workers=["b"], steps=[])]
    found = tree_of(
        run_of(step(1), step(2), step(3), teams=[TeamPart(supervisor="a", teams=inner, steps=[1]), TeamPart(supervisor="c", steps=[3])])
    )
    assert [(branch.lead, [twig.step.step for twig in branch.twigs]) for branch in found.branches] == [("a", []), ("c", [3]), ("", [2])]
    assert [[twig.step.step for twig in branch.twigs] for branch in found.branches[0].branches] == [[1], []]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, ""),
        ({}, ""),
        ({"summary": "a"}, "a"),
        ({"summary": "a", "data": {"b": 1}}, 'a\n{\n  "b": 1\n}'),
        ([1], "[\n  1\n]"),
        ("t", '"t"'),
    ],
)
def test_a_result_is_its_text_and_its_data(result: object, words: str) -> None:
    assert words_of(result) == words


def test_a_short_result_is_not_folded() -> None:
    assert tree.head_of("6.8 m") == ""
    assert tree.head_of("a\nb") == "a …"
    assert tree.head_of("x" * 200) == "x" * tree.LINE + " …"
