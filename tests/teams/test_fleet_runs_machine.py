"""Random histories of one run, on both databases: workers take, finish, fail, die, answer late, are paused; whoever drives it (Q2, Q5).

And the pure rules: groups, letters, cutting.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import CoveyError, LeaseLost
from covey.brains.model import Outcome, failure
from covey.messages.model import backoff_s
from covey.runner import holding
from covey.runner.settling import settle
from covey.runner.taking import take
from covey.runner.work import Work
from covey.store import Statement, Transaction
from covey.tasks import reading as tasks
from covey.teams.decomposing import SUCCESS_AT
from covey.teams.runs import closing, driving, giving, grouping, reading, starting
from covey.teams.runs.model import Part, TeamDraft, TeamRun
from tests.inline import Hand, database, hand, mould_database, mould_file
from tests.rules import rule
from tests.teams.crew import LIMITS, NAMES, of_python

__all__ = ["database", "hand", "mould_database", "mould_file"]

WORKERS = ["coder", "sales", "ops"]
MOST_ROUNDS = 300
DONE = Statement(
    "done", "SELECT subject AS id, count(*) AS n FROM events WHERE kind = 'task.done' AND subject LIKE 'team_%-%' GROUP BY subject"
)
ENDS = Statement("ends", "SELECT kind FROM events WHERE subject = :id AND kind IN ('team.done', 'team.failed')")
CLEAR = [
    Statement(f"clear_{table}", f"DELETE FROM {table}") for table in ("breakers", "team_steps", "team_runs", "needs", "tasks", "events")
]


class History:
    """One run of three workers, and what the test knows of it."""

    def __init__(self, hand: Hand, needs: list[list[int]]) -> None:
        self.hand = hand
        self.held: dict[str, Work] = {}
        self.old: list[Work] = []
        self.ended: dict[int, str] = {}
        self.permanent: set[str] = set()
        hand(configuring.configure, of_python())
        for name in WORKERS:
            self.arrive(name)
            hand(living.resume, name, THE_OPERATOR)
        parts = [Part(description=f"part {place}", needs=some) for place, some in enumerate(needs, 1)]
        self.needs = needs
        self.ident = hand(starting.start, TeamDraft(goal="g", workers=WORKERS, parts=parts, forward=False), THE_OPERATOR).team_id

    # what may happen

    def arrive(self, who: str) -> None:
        self.hand(living.arrive, who, node="here", pid=1000 + NAMES.index(who), start_ticks=1, boot_id="b", port=8000)

    def take(self, who: str) -> None:
        if who not in self.held and self.hand(tasks.current, who) is None:
            work = self._call(take, who, "task", "here", 1000 + NAMES.index(who), LIMITS)
            if work is not None:
                self.held[who] = work

    def done(self, who: str) -> None:
        self._settle(who, Outcome(summary=who))

    def fail(self, who: str) -> None:
        self._settle(who, failure("it broke"))

    def refuse(self, who: str) -> None:
        self.take(who)
        work = self.held.get(who)
        if work is not None:
            self.permanent.add(work.item)
        self._settle(who, failure("it can't be done", permanent=True))

    def not_start(self, who: str) -> None:
        self._settle(who, failure("no module", permanent=True, not_started=True))

    def die(self, who: str) -> None:
        self.take(who)
        work = self.held.pop(who, None)
        if work is not None:
            self.hand(holding.free, who, work.token, work.run_id, "its process is gone")
            self.old.append(work)
        self.hand(living.leave, who, pid=1000 + NAMES.index(who), reason="killed")

    def late(self, who: str) -> None:
        for work in self.old:
            if work.agent == who:
                with pytest.raises(CoveyError) as refused:
                    self.hand(settle, work, Outcome(summary="late"), LIMITS, 1000 + NAMES.index(who))
                assert isinstance(refused.value, LeaseLost)

    def pause(self, who: str) -> None:
        self.hand(living.pause, who, THE_OPERATOR)

    def resume(self, who: str) -> None:
        self.hand(living.resume, who, THE_OPERATOR)

    def wait(self, _: str) -> None:
        self.hand.clock.at += 20.0
        for name in WORKERS:
            self._call(living.beat, name, pid=1000 + NAMES.index(name))
        self.hand(driving.advance_due)

    def drive(self, _: str) -> None:
        self.hand(driving.advance, self.ident)

    def _settle(self, who: str, outcome: Outcome) -> None:
        """What it holds comes to this; it takes something first if it holds nothing."""
        self.take(who)
        work = self.held.pop(who, None)
        if work is not None:
            self._call(settle, work, outcome, LIMITS, 1000 + NAMES.index(who))
            self.old.append(work)

    def _call(self, verb: Any, *args: Any, **more: Any) -> Any:
        """A process that is gone calls nothing: its heartbeat would be refused, and so is this."""
        try:
            return self.hand(verb, *args, **more)
        except LeaseLost:
            raise
        except CoveyError:
            return None

    # what must hold

    def check(self) -> TeamRun:
        run = self.hand(reading.show, self.ident)
        ids = [step.task_id for step in run.results if step.task_id is not None]
        assert len(ids) == len(set(ids))
        for step in run.results:
            self._check_step(run, step.step)
        assert run.is_open == any(step.state in ("waiting", "out") for step in run.results)
        assert all(row.n == 1 for row in self._rows(DONE))
        return run

    def _check_step(self, run: TeamRun, place: int) -> None:
        step = run.results[place - 1]
        state = self.hand(tasks.show, step.task_id).state if step.task_id is not None else None
        assert (state in ("queued", "running", "blocked")) == (step.state == "out"), (state, step)
        assert (state == "done") == (step.state == "done")
        assert step.worker is None or step.worker in WORKERS
        if step.state in ("out", "done", "failed"):
            assert all(run.results[need - 1].state == "done" for need in self.needs[place - 1])
        assert self.ended.get(place, step.state) == step.state, "an ended step changed"
        if step.state not in ("waiting", "out"):
            self.ended[place] = step.state

    def _rows(self, statement: Statement, **params: Any) -> list[Any]:
        def read(tx: Transaction) -> list[Any]:
            return tx.all(statement, **params)

        return self.hand(read)

    def finish(self) -> TeamRun:
        """All are well again and work: the run ends."""
        for name in WORKERS:
            self.resume(name)
            self.arrive(name)
        for _ in range(MOST_ROUNDS):
            run = self.check()
            if not run.is_open:
                return run
            for name in WORKERS:
                self.take(name)
                self.done(name)
            self.wait("")
        raise AssertionError(f"the run did not end: {self.check()}")


STEPS = ("take", "done", "done", "fail", "refuse", "not_start", "die", "arrive", "late", "pause", "resume", "wait", "drive")
steps = st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(WORKERS)), min_size=4, max_size=25)


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 7))
    return [sorted(draw(st.sets(st.integers(1, place), max_size=2))) if place else [] for place in range(size)]


@rule("Q2", "Q5")
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
@given(needs=graphs(), happens=steps)
def test_whatever_happens_each_step_is_done_once_and_the_run_ends_with_the_right_quality(
    hand: Hand, needs: list[list[int]], happens: list[tuple[str, str]]
) -> None:
    with hand.transaction() as tx:
        for statement in CLEAR:
            tx.run(statement)
    history = History(hand, needs)
    for what, who in happens:
        getattr(history, what)(who)
        history.check()
    run = history.finish()
    done = [step for step in run.results if step.state == "done"]
    assert run.quality_score == len(done) / len(needs)
    assert run.state == ("done" if run.quality_score >= SUCCESS_AT else "failed")
    for step in run.results:
        if step.state == "failed":
            assert step.task_id in history.permanent or step.attempts == 3
    assert len(history._rows(ENDS, id=run.team_id)) == 1


# pure


@rule("Q2")
@given(st.integers(1, 100), st.integers(1, 12))
def test_groups_hold_each_worker_once_and_none_is_wider_than_the_span(count: int, span: int) -> None:
    names = [f"w{number}" for number in range(count)]
    groups = grouping.groups_of(names, span)
    assert _leaves(groups) == (names if count > span else [])
    for group in _all(groups):
        assert 1 <= len(group.workers or group.groups) <= max(span, 2)
        assert group.lead == _leaves([group])[0]
    assert len(groups) <= max(span, 2)
    for name in _leaves(groups):
        assert name in grouping.near(name, groups)


def _leaves(groups: Any) -> list[str]:
    return [name for group in groups for name in (*group.workers, *_leaves(group.groups))]


def _all(groups: Any) -> list[grouping.Group]:
    return [each for group in groups for each in (group, *_all(group.groups))]


@rule("Q6")
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(4, 50))
def test_letters_joined_are_the_results_word_for_word(texts: list[str], most: int) -> None:
    letters = closing.pages(texts, most)
    assert "".join(letters) == "\n".join(texts)
    assert all(len(letter.encode()) <= most for letter in letters)


@rule("Q2", "M10")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=20) | st.integers(1, 100_000).map(lambda size: "\x01" * size), min_size=1, max_size=100))
def test_inputs_are_within_their_bound_and_name_what_was_cut(said: list[str]) -> None:
    rows = [_Result(place, f"team_x-{place}", json.dumps({"summary": text, "data": {"n": 1}})) for place, text in enumerate(said, 1)]
    found = giving.inputs_of(rows, giving.INPUT_BYTES)
    assert len(msgspec.json.encode(found)) <= giving.INPUT_BYTES
    for text, each in zip(said, found, strict=True):
        assert each["summary"] == text or each["cut"] == f"the whole is the result of {each['taskId']}"


class _Result(NamedTuple):
    place: int
    task_id: str
    result: str


@rule("Q5")
@given(st.integers(1, 60))
def test_the_delay_is_a_power_of_two_and_at_most_a_minute(attempt: int) -> None:
    assert backoff_s(attempt) == min(2**attempt, 60)
