"""Only the moves of the table are legal: the verbs against a naive model of them (K1, K3, K4, K5a)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, run_state_machine_as_test
from hypothesis.stateful import rule as step

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import Conflict, CoveyError, Cycle, IllegalMove, Invalid, LeaseLost
from covey.runner import holding
from covey.tasks import adding, changing, reading, working
from covey.tasks.model import ENDED, MOVES, OPEN, TaskDraft, after_move
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import LEASE_S

AGENTS = ("coder", "ops")
PRIORITIES = ("urgent", "high", "medium", "low")
LEVEL_S = {"urgent": 0.0, "high": 0.0, "medium": 6 * 3600.0, "low": 12 * 3600.0}


@rule("K1")
def test_the_table_leads_from_state_to_state_and_ends_are_ends() -> None:
    """llama_deploy#142: finished tasks stay in the list and run again."""
    assert set(MOVES) == OPEN | ENDED
    assert all(after in MOVES for moves in MOVES.values() for after in moves.values())
    assert [state for state in ENDED if MOVES[state]] == ["failed"]
    assert MOVES["failed"] == {"retry_by_hand": "queued"}
    for state, moves in MOVES.items():
        for move in {name for each in MOVES.values() for name in each} - set(moves):
            with pytest.raises(IllegalMove) as caught:
                after_move(state, move)
            assert state in caught.value.message


@dataclass
class Model:
    """What a task is, as plainly as can be."""

    ident: str
    place: int
    agent: str | None
    priority: str
    created: float
    most: int
    anyway: bool
    wanted: bool
    needs: dict[str, bool]
    state: str = "queued"
    attempts: int = 0
    parts: bool = False
    not_before: float = 0.0
    children: list[str] = field(default_factory=list)

    @property
    def blockers(self) -> int:
        return list(self.needs.values()).count(False) + self.wanted

    @property
    def order(self) -> tuple[bool, float, int]:
        return self.priority != "urgent", self.created + LEVEL_S[self.priority], self.place


class Machine(RuleBasedStateMachine):
    """Random verbs; after each the store agrees with the model."""

    def __init__(self, hand: Hand) -> None:
        super().__init__()
        self.hand = hand
        self.tasks: dict[str, Model] = {}
        self.tokens: dict[str, tuple[str, str]] = {}
        self.old: list[tuple[str, str]] = []

    @initialize()
    def empty(self) -> None:
        for task in self.hand(reading.listed, state="open", limit=1000).items:
            if self.hand(reading.show, task.task_id).is_open:
                self.hand(changing.cancel, task.task_id, THE_OPERATOR)

    # what the model does

    def end(self, one: Model, state: str) -> None:
        one.state = state
        self.lose_token(one)
        for other in self.tasks.values():
            if other.needs.get(one.ident) is False:
                other.needs[one.ident] = True
                if other.state == "blocked":
                    self.moved(other, failed=state != "done")

    def moved(self, one: Model, *, failed: bool) -> None:
        """A need of a blocked task has ended."""
        if failed and not one.anyway:
            self.end(one, "failed")
        elif one.blockers == 0:
            if one.parts:
                self.end(one, "done")
            else:
                one.state = "queued"

    def lose_token(self, one: Model) -> None:
        if one.ident in self.tokens:
            self.old.append(self.tokens.pop(one.ident))

    def reaches(self, start: str, goal: str) -> bool:
        seen, line = {start}, [start]
        for here in line:
            line += [need for need, met in self.tasks[here].needs.items() if not met and need not in seen]
            seen.update(line)
        return goal in seen

    def made(self, task: object, **words: object) -> Model:
        one = Model(task.task_id, len(self.tasks), created=self.hand.now, not_before=self.hand.now, **words)  # type: ignore[attr-defined, arg-type]
        one.state = "blocked" if one.blockers else "queued"
        self.tasks[one.ident] = one
        return one

    def some(self, among: Iterable[str]) -> st.SearchStrategy[str]:
        """One of these tasks. Drawn by its place: ids are new in each run."""
        return st.sampled_from(sorted(among, key=lambda ident: self.tasks[ident].place))

    # the verbs

    @step(
        data=st.data(),
        agent=st.sampled_from([*AGENTS, None]),
        priority=st.sampled_from(PRIORITIES),
        most=st.integers(1, 2),
        anyway=st.booleans(),
        approval=st.integers(0, 5).map(lambda number: number == 0),
    )
    def add(self, data: st.DataObject, agent: str | None, priority: str, most: int, anyway: bool, approval: bool) -> None:
        needs = data.draw(st.lists(self.some(self.tasks), max_size=3, unique=True)) if self.tasks else []
        draft = TaskDraft(
            description="x", agent=agent, priority=priority, max_attempts=most, anyway=anyway, approval=approval, dependencies=needs
        )
        never = any(self.tasks[need].state in ("failed", "cancelled") for need in needs) and not anyway
        if never:
            with pytest.raises(Invalid):
                self.hand(adding.add, draft, THE_OPERATOR)
            return
        task = self.hand(adding.add, draft, THE_OPERATOR)
        met = {need: self.tasks[need].state in ENDED for need in needs}
        self.made(task, agent=agent, priority=priority, most=most, anyway=anyway, wanted=approval, needs=met)

    @step(agent=st.sampled_from(AGENTS))
    def claim(self, agent: str) -> None:
        found = self.hand(working.claim, agent, "run", lease_s=LEASE_S)
        ready = [
            one for one in self.tasks.values() if one.state == "queued" and one.not_before <= self.hand.now and one.agent in (agent, None)
        ]
        if not ready:
            assert found is None
            return
        best = min(ready, key=lambda one: one.order)
        assert found is not None
        assert found[0].task_id == best.ident
        best.state, best.attempts = "running", best.attempts + 1
        self.tokens[best.ident] = (agent, found[1])

    @precondition(lambda self: self.tokens)
    @step(data=st.data(), how=st.sampled_from(["finish", "fail", "give up", "give back", "split"]))
    def settle(self, data: st.DataObject, how: str) -> None:
        ident = data.draw(self.some(self.tokens))
        one, (agent, token) = self.tasks[ident], self.tokens[ident]
        match how:
            case "finish":
                self.hand(working.finish, agent, token, "done")
                self.end(one, "done")
            case "fail" | "give up":
                over = how == "give up"
                task = self.hand(working.fail, agent, token, "no luck", permanent=over, poisonous=over)
                self.hand(living.acted, agent)  # else its breaker opens
                if how == "give up" or one.attempts >= one.most:
                    self.end(one, "failed")
                else:
                    self.lose_token(one)
                    one.state, pause = "queued", min(2**one.attempts, 60)
                    assert task.not_before is not None
                    assert 0.75 * pause <= task.not_before - self.hand.now <= pause
                    one.not_before = task.not_before
            case "give back":
                self.hand(working.give_back, token, "not now")
                self.lose_token(one)
                one.state, one.attempts, one.not_before = "queued", one.attempts - 1, self.hand.now
            case _:
                parts = self.hand(
                    working.split, agent, token, [TaskDraft(description="part", agent="ops"), TaskDraft(description="part", agent="coder")]
                )
                self.lose_token(one)
                self.split_into(one, parts)
                one.attempts -= 1

    def split_into(self, one: Model, parts: Sequence[object]) -> None:
        for part, agent in zip(parts, ("ops", "coder"), strict=True):
            made = self.made(part, agent=agent, priority="medium", most=3, anyway=False, wanted=False, needs={})
            one.needs[made.ident] = False
            one.children.append(made.ident)
        one.state, one.parts = "blocked", True

    @precondition(lambda self: self.old)
    @step(data=st.data())
    def use_an_old_token(self, data: st.DataObject) -> None:
        agent, token = data.draw(st.sampled_from(self.old))
        for verb in (
            lambda: self.hand(working.finish, agent, token, "late"),
            lambda: self.hand(working.fail, agent, token, "late"),
            lambda: self.hand(working.progress, agent, token, "late"),
            lambda: self.hand(working.started, agent, token),
            lambda: self.hand(working.split, agent, token, [TaskDraft(description="late")]),
            lambda: self.hand(working.wait_for_answer, agent, token, "msg_1"),
        ):
            with pytest.raises(LeaseLost):
                verb()
        assert not self.hand(working.renew, token, lease_s=LEASE_S)
        assert self.hand(working.give_back, token, "late") is None
        self.hand(holding.free, agent, token, "", "late")

    @precondition(lambda self: self.tasks)
    @step(data=st.data(), how=st.sampled_from(["cancel", "retry", "approve", "refuse", "split", "move", "raise"]))
    def change_by_hand(self, data: st.DataObject, how: str) -> None:
        one = self.tasks[data.draw(self.some(self.tasks))]
        parts: object = None
        refused: CoveyError | None = None
        legal = getattr(self, f"may_{how}")(one)
        try:
            parts = getattr(self, f"by_hand_{how}")(one)
        except CoveyError as error:
            refused = error
        assert legal == (refused is None), (how, one, refused)
        assert refused is None or isinstance(refused, Conflict | Cycle | IllegalMove)
        if legal:
            getattr(self, f"then_{how}")(one, parts)

    def may_cancel(self, one: Model) -> bool:
        return one.state in OPEN

    def by_hand_cancel(self, one: Model) -> object:
        return self.hand(changing.cancel, one.ident, THE_OPERATOR)

    def then_cancel(self, one: Model, _: object) -> None:
        self.end(one, "cancelled")
        for child in one.children:
            if self.tasks[child].state in OPEN:
                self.then_cancel(self.tasks[child], None)

    def may_retry(self, one: Model) -> bool:
        needs = [self.tasks[need] for need in one.needs]
        broken = any(need.state in ("failed", "cancelled") for need in needs) and not one.anyway
        circle = any(need.state in OPEN and self.reaches(need.ident, one.ident) for need in needs)
        return one.state == "failed" and not broken and not circle

    def by_hand_retry(self, one: Model) -> object:
        return self.hand(changing.retry, one.ident, THE_OPERATOR)

    def then_retry(self, one: Model, _: object) -> None:
        for need in one.needs:
            one.needs[need] = self.tasks[need].state in ENDED
        one.attempts, one.not_before = 0, self.hand.now
        one.state = "blocked" if one.blockers else "queued"
        if one.parts and not one.blockers:
            self.end(one, "done")

    def may_approve(self, one: Model) -> bool:
        return one.wanted and one.state == "blocked"

    may_refuse = may_approve

    def by_hand_approve(self, one: Model) -> object:
        return self.hand(changing.approve, one.ident, THE_OPERATOR)

    def then_approve(self, one: Model, _: object) -> None:
        one.wanted = False
        self.moved(one, failed=False)

    def by_hand_refuse(self, one: Model) -> object:
        return self.hand(changing.refuse, one.ident, THE_OPERATOR)

    def then_refuse(self, one: Model, _: object) -> None:
        one.wanted = False
        self.then_cancel(one, None)

    def may_split(self, one: Model) -> bool:
        return one.state in ("queued", "blocked")

    may_move = may_raise = may_split

    def by_hand_split(self, one: Model) -> object:
        return self.hand(
            changing.split,
            one.ident,
            [TaskDraft(description="part", agent="ops"), TaskDraft(description="part", agent="coder")],
            THE_OPERATOR,
        )

    def then_split(self, one: Model, parts: Sequence[object]) -> None:
        self.split_into(one, parts)

    def by_hand_move(self, one: Model) -> object:
        return self.hand(changing.reassign, one.ident, "ops", THE_OPERATOR)

    def then_move(self, one: Model, _: object) -> None:
        one.agent = "ops"

    def by_hand_raise(self, one: Model) -> object:
        return self.hand(changing.reprioritise, one.ident, "urgent", THE_OPERATOR)

    def then_raise(self, one: Model, _: object) -> None:
        one.priority = "urgent"

    @step(seconds=st.sampled_from([60.0, 7 * 3600.0]))
    def wait(self, seconds: float) -> None:
        self.hand.clock.at += seconds

    @invariant()
    def the_store_agrees(self) -> None:
        with self.hand.transaction() as tx:
            for one in self.tasks.values():
                row = reading.seek(tx, one.ident)
                assert row is not None
                assert (row.state, row.attempts) == (one.state, one.attempts), one
                assert row.blockers == (one.blockers if one.state == "blocked" else 0), one
                assert (row.token is not None) == (row.lease_ends is not None) == (one.state == "running"), one
                assert (row.finished_at is not None) == (one.state in ENDED), one


@rule("K1", "K2", "K3", "K4", "K5", "K5a")
@pytest.mark.slow
def test_whatever_is_done_the_verbs_agree_with_a_plain_model(hand: Hand) -> None:
    quick = hand.database.kind == "sqlite"

    class OnThisStore(Machine):
        def __init__(self) -> None:
            super().__init__(hand)

    run_state_machine_as_test(
        OnThisStore,
        settings=settings(
            max_examples=60 if quick else 12,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
