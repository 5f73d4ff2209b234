"""Whatever dies when: nothing accepted is lost, no effect happens twice, no try is counted that should not be (M3, K4)."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, suppress

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, run_state_machine_as_test
from hypothesis.stateful import rule as step

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Cycle, LeaseLost
from covey.brains.model import Outcome, failure
from covey.runner import holding
from covey.runner.orphans import suspects
from covey.runner.work import Work
from covey.store import Statement
from covey.tasks import changing, runs
from tests.rules import rule
from tests.runner.conftest import Fresh
from tests.runner.desk import Desk, message, question

COPIES = Statement("copies", "SELECT message_id AS id, receiver, state, attempts, token FROM copies")
TASKS = Statement("tasks", "SELECT id, state, attempts, max_attempts, token FROM tasks")
EVENTS = Statement("kinds", "SELECT kind, agent, subject FROM events WHERE kind IN ('message.handled', 'task.done', 'message.dead')")
AGENTS = ("coder", "ops")
OUTCOMES = (
    Outcome(summary="done", messages=[message("ops", "by the way")]),
    Outcome(summary="done", messages=[message("nobody")], decisions=["x"]),
    failure("no"),
    Outcome(kind="waiting", messages=[question("chief")]),
    Outcome(kind="waiting", messages=[question("ops")]),
    Outcome(kind="split"),
    Outcome(kind="handoff"),
)


class Fleet(RuleBasedStateMachine):
    """Agents take and settle, processes die, leases lapse, time passes."""

    def __init__(self, fresh: Fresh) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.desk = Desk(self.opened.enter_context(fresh()))
        self.held: list[Work] = []
        self.void: list[Work] = []

    def teardown(self) -> None:
        """Each example has a store of its own."""
        self.opened.close()

    @step(agent=st.sampled_from(AGENTS), asks=st.booleans())
    def send(self, agent: str, asks: bool) -> None:
        with suppress(Cycle):
            self.desk.send(agent, requires_response=asks, sender="chief")

    @step(agent=st.sampled_from((*AGENTS, None)))
    def add(self, agent: str | None) -> None:
        self.desk.add("a task", agent)

    @step(agent=st.sampled_from(AGENTS), lane=st.sampled_from(("mail", "task")), begins=st.booleans())
    def take(self, agent: str, lane: str, begins: bool) -> None:
        work = self.desk.try_to_take(agent, lane)  # type: ignore[arg-type]
        if work is not None:
            self.held.append(work)
            if begins:
                self.desk.hand(holding.started, work)

    @precondition(lambda self: self.held)
    @step(data=st.data(), outcome=st.sampled_from(OUTCOMES))
    def settle(self, data: st.DataObject, outcome: Outcome) -> None:
        work = self.some(data)
        self.desk.settle(work, outcome)
        self.void.append(work)

    @precondition(lambda self: self.held)
    @step(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        work = self.some(data)
        before = self.attempts(work)
        assert self.desk.hand(holding.give_back, work, "shutdown")
        assert self.attempts(work) == before - 1
        self.void.append(work)

    @precondition(lambda self: self.held)
    @step(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        work = self.some(data)
        if work.task is not None:
            self.desk.hand(changing.cancel, work.item, THE_OPERATOR)
            self.desk.hand(holding.drop, work)
            self.void.append(work)
        else:
            self.held.append(work)

    @precondition(lambda self: self.void)
    @step(data=st.data(), outcome=st.sampled_from(OUTCOMES))
    def settle_what_is_void(self, data: st.DataObject, outcome: Outcome) -> None:
        """A late result under an old token is refused, and changes nothing."""
        work = data.draw(st.sampled_from(self.void[-5:]))
        before = self.rows()
        with pytest.raises(LeaseLost):
            self.desk.settle(work, outcome)
        assert not self.desk.hand(holding.give_back, work, "late")
        assert self.rows() == before

    @step(agent=st.sampled_from(AGENTS))
    def die(self, agent: str) -> None:
        """Its process is gone; the next one frees what it held. Every try counts."""
        mine = [work for work in self.held if work.agent == agent]
        before = {work.run_id: self.attempts(work) for work in mine}
        self.desk.hand(holding.lose_all, agent)
        for work in mine:
            assert self.attempts(work) == before[work.run_id]
        self.gone(mine)

    @step(agent=st.sampled_from(AGENTS))
    def go_down(self, agent: str) -> None:
        """It was told to end; no try counts."""
        mine = [work for work in self.held if work.agent == agent]
        before = {work.run_id: self.attempts(work) for work in mine}
        self.desk.hand(holding.return_all, agent, "down")
        for work in mine:
            assert self.attempts(work) == before[work.run_id] - 1
        self.gone(mine)

    @step(seconds=st.sampled_from((1.0, 20.0, 61.0, 901.0)))
    def pass_time(self, seconds: float) -> None:
        """Leases lapse, and who sweeps frees them: their processes are gone."""
        self.desk.pass_time(seconds)
        lapsed = self.desk.hand(suspects)
        for each in lapsed:
            self.desk.hand(holding.free, each.agent, each.token, each.run_id, "gone")
        self.gone([work for work in self.held if work.token in {each.token for each in lapsed}])
        self.desk.sweep()
        self.gone([work for work in self.held if not self.stands(work)])

    def some(self, data: st.DataObject) -> Work:
        """One of those held, which is held no more."""
        return self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))

    def gone(self, works: list[Work]) -> None:
        self.void += works
        self.held = [work for work in self.held if work not in works]

    def attempts(self, work: Work) -> int:
        return self.desk.task(work.item).attempts if work.task is not None else self.desk.copy(work.item, work.agent).attempts

    def stands(self, work: Work) -> bool:
        return any(row[-1] == work.token for row in self.rows())

    def rows(self) -> list[tuple[object, ...]]:
        """All copies and tasks as they stand."""
        return sorted(tuple(row) for row in self.desk.hand(lambda tx: [*tx.all(COPIES), *tx.all(TASKS)]))

    @invariant()
    def no_effect_happens_twice(self) -> None:
        found = Counter((row.kind, row.agent, row.subject) for row in self.desk.hand(lambda tx: tx.all(EVENTS)))
        assert not [each for each, count in found.items() if count > 1]

    @invariant()
    def what_is_leased_is_held_by_one_and_nothing_else_is(self) -> None:
        """No lease without a holder, no holder without a lease: so nothing is lost, and nothing is done by two."""
        leased = {row[-1] for row in self.rows() if row[-1] is not None}
        assert leased == {work.token for work in self.held}
        for work in self.held:
            main = {work.item, *(each.message_id for each in work.riders)}
            assert {row[0] for row in self.rows() if row[-1] == work.token} == main

    @invariant()
    def an_open_run_is_a_brain_at_work(self) -> None:
        found = {run.id for agent in AGENTS for run in self.desk.hand(runs.open_of, agent)}
        assert found == {work.run_id for work in self.held if work.agent in AGENTS}

    @invariant()
    def tries_are_within_their_bounds(self) -> None:
        for row in self.desk.hand(lambda tx: tx.all(TASKS)):
            assert 0 <= row.attempts <= row.max_attempts
        for row in self.desk.hand(lambda tx: tx.all(COPIES)):
            assert 0 <= row.attempts <= 5


@rule("M3", "K4", "M4a", "H4")
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_whatever_dies_when_nothing_is_lost_and_nothing_is_done_twice(fresh: Fresh, request: pytest.FixtureRequest) -> None:
    quick = "sqlite" in request.node.name

    class OnThisStore(Fleet):
        def __init__(self) -> None:
            super().__init__(fresh)

    run_state_machine_as_test(
        OnThisStore,
        settings=settings(
            max_examples=30 if quick else 5,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
