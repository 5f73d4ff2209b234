"""Random histories of tasks handed from one to another, beside a naive reference: at every moment each has exactly one owner (Q3).

Each step may first be tried by a process that dies before its commit: nothing of that is left, and the step is then done once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import Conflict, CoveyError, Cycle, Forbidden, LeaseLost
from covey.brains.model import Outcome, Parcel, failure
from covey.runner import holding, settling
from covey.runner.work import Lane, Work
from covey.store import Statement
from covey.tasks import changing, working
from covey.teams.handoffs import answering, lapsing, offering
from covey.teams.handoffs.model import DEADLINE_S, HandoffDraft
from tests.inline import Hand, database, hand, mould_database, mould_file
from tests.rules import rule
from tests.runner.conftest import Fresh, fresh
from tests.runner.desk import LIMITS, ME, by
from tests.teams.handing_over import Table

__all__ = ["database", "fresh", "hand", "mould_database", "mould_file"]

AGENTS = ("coder", "sales", "intel", "devops")
LATE = (Outcome(summary="late"), failure("late"), Outcome(kind="handoff", handoff=Parcel(to="sales")))
T = TypeVar("T")
LANES: tuple[Lane, ...] = ("mail", "task")
TASKS = Statement("tasks", "SELECT id, state, agent, holder, token, blockers, waiting_for, attempts, not_before FROM tasks")
ENDS = Statement("ends", "SELECT kind, subject FROM events WHERE kind LIKE 'handoff.%' OR kind = 'task.done'")
OFFERS = Statement("offers", "SELECT id, task_id, giver, receiver, state FROM handoffs")


class Died(Exception):
    """The process was killed before its commit."""


@dataclass
class Offer:
    """An offer as the reference knows it."""

    ident: str
    task: str
    giver: str
    to: str
    until: float
    state: str = "offered"


@dataclass
class Known:
    """A task as the reference knows it: the plain way, by whom it has passed through."""

    owner: str
    state: str = "queued"
    path: list[str] = field(default_factory=list)
    offer: Offer | None = None
    aside: bool = False
    passed_over: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    """Runs of givers that have not ended: nobody begins before."""

    @property
    def claimable(self) -> bool:
        return self.state == "queued" and not self.aside and not self.runs


class Move(NamedTuple):
    """Something that happens: what, to which (counted from the latest), to or by whom, and whether a process dies of it first."""

    what: str
    place: int
    to: str
    who: str
    yes: bool
    dies: bool


WHAT = [
    "begin",
    "begin",
    "offer",
    "offer",
    "accept",
    "accept",
    "accept",
    "hand_over",
    "decline",
    "finish",
    "settle_what_is_void",
    "let_go",
    "die",
    "pass_time",
    "cancel",
]
"""What may happen, as often as it is to."""
MOVES = st.builds(
    Move,
    what=st.sampled_from(WHAT),
    place=st.integers(0, 2),
    to=st.sampled_from(AGENTS),
    who=st.sampled_from(("one", "one", "one", "operator", "other")),
    yes=st.booleans(),
    dies=st.booleans(),
)


class Histories:
    """Agents take, offer, answer, die; time passes."""

    def __init__(self, hand: Hand) -> None:
        self.table = Table(hand)
        self.tasks: dict[str, Known] = {}
        self.offers: list[Offer] = []
        self.held: dict[str, Work] = {}
        self.void: list[Work] = []

    def make(self, move: Move) -> None:
        """What comes next, as far as it can be done; then all must be as it should."""
        getattr(self, move.what)(move)
        self.each_open_task_is_its_owners_alone()
        self.nobody_else_can_claim_it()
        self.each_offer_is_told_of_once_and_ends_once()

    def do(self, dies: bool, verb: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Call it, after a process that did so died, if one is to."""
        if dies:
            with suppress(Died, CoveyError), self.table.hand.transaction() as tx:
                verb(tx, *args, **more)
                raise Died
        return self.table.hand(verb, *args, **more)

    # what is to be expected

    def refusal(self, known: Known, to: str, caller: str) -> type[Exception] | None:
        """Why an offer is refused."""
        if known.state == "done":
            return Conflict
        if caller not in (known.owner, "operator"):
            return Forbidden
        if known.offer is not None:
            return Conflict if known.offer.to != to else None
        if known.runs:
            return Conflict
        if to == known.owner:
            return CoveyError
        if len(known.path) > 5 or (caller == known.owner and to in known.passed_over):
            return Conflict
        return None

    def offered(self, ident: str, task: str, to: str, until: float) -> None:
        known = self.tasks[task]
        if known.offer is None:
            known.offer = Offer(ident, task, known.owner, to, until)
            self.offers.append(known.offer)
        assert known.offer.ident == ident

    def ended(self, offer: Offer, state: str) -> None:
        known = self.tasks[offer.task]
        offer.state, known.offer = state, None
        known.aside = False
        if state in ("declined", "expired"):
            known.passed_over.add(offer.to)

    def lost(self, task: str) -> None:
        work = self.held.pop(task)
        self.void.append(work)

    def pick(self, some: Iterable[T], place: int) -> T:
        """One of these, the latest for 0."""
        found = list(some)
        return found[-1 - place % len(found)]

    # what happens

    def add(self) -> None:
        """What there is to do."""
        for agent in ("coder", "coder", "sales"):
            self.tasks[self.table.add("a task", agent, task_id=f"t{len(self.tasks)}")] = Known(agent, path=[agent])

    def begin(self, move: Move) -> None:
        agent = self.tasks[self.pick(self.tasks, move.place)].owner
        ready = {row.id for row in self.rows() if self.is_ready(row, agent)}
        work = self.table.try_to_take(agent, "task")
        assert (work is not None) == bool(ready)
        if work is not None:
            assert work.item in ready
            self.table.hand(holding.started, work)
            self.held[work.item] = work
            self.tasks[work.item].state = "running"

    def is_ready(self, row: Any, agent: str) -> bool:
        """Whether the agent can take it, but for the time after a failed try."""
        known = self.tasks[row.id]
        return known.owner == agent and known.claimable and row.not_before <= self.table.hand.now

    def offer(self, move: Move) -> None:
        task = self.pick(self.tasks, move.place)
        known, to, dies = self.tasks[task], move.to, move.dies
        caller = {"one": known.owner, "other": "devops"}.get(move.who, move.who)
        refused, until = self.refusal(known, to, caller), self.table.hand.now + DEADLINE_S
        draft = HandoffDraft(task_id=task, to=to, deadline=until)
        if refused is not None:
            with pytest.raises(refused):
                self.do(dies, offering.offer, draft, by(caller))
            return
        made = self.do(dies, offering.offer, draft, by(caller))
        assert made.known == (known.offer is not None)
        self.offered(made.handoff_id, task, to, until)
        known.aside = known.aside or known.state == "queued"
        if made.known:
            known.aside = self.is_aside(task)

    def is_aside(self, task: str) -> bool:
        """An offer made while the task ran does not set it aside when the attempt ends otherwise."""
        known = self.tasks[task]
        return known.offer is not None and any(row.id == task and row.waiting_for == known.offer.ident for row in self.rows())

    def hand_over(self, move: Move) -> None:
        """The outcome of a brain; one that is refused is a failed try."""
        if not self.held:
            return
        task, to, dies = self.pick(self.held, move.place), move.to, move.dies
        known, work = self.tasks[task], self.held[task]
        refused = self.refusal(known, to, known.owner)
        outcome = Outcome(kind="handoff", handoff=Parcel(to=to))
        self.do(dies, settling.settle, work, outcome, LIMITS, ME.pid if ME else 0)
        self.lost(task)
        if refused is not None:
            self.tried_in_vain(task)
            return
        found = self.table.open_offer(task)
        assert found is not None
        self.offered(found.handoff_id, task, to, found.deadline)
        known.state, known.aside = "queued", True

    def tried_in_vain(self, task: str) -> None:
        """A failed try; the breaker, which is another matter, is closed at once."""
        known = self.tasks[task]
        self.table.hand(living.acted, known.owner)
        known.state = "done" if self.table.task(task).state == "failed" else "queued"

    def accept(self, move: Move) -> None:
        if not self.offers:
            return
        offer, consent, dies = self.pick(self.offers, move.place), move.yes, move.dies
        who = {"one": offer.to, "other": "devops"}.get(move.who, move.who)
        call = (answering.accept, offer.ident, by(who))
        known = self.tasks[offer.task]
        if who not in (offer.to, "operator"):
            with pytest.raises(Forbidden):
                self.do(dies, *call, consent=consent)
        elif offer.state == "accepted":
            assert self.do(dies, *call, consent=consent).known
        elif offer.state != "offered" or self.table.hand.now >= offer.until or known.state == "done":
            with pytest.raises(Conflict):
                self.do(dies, *call, consent=consent)
        elif offer.to in known.path and not consent:
            with pytest.raises(Cycle):
                self.do(dies, *call, consent=consent)
        else:
            self.do(dies, *call, consent=consent)
            self.accepted(offer)

    def accepted(self, offer: Offer) -> None:
        known = self.tasks[offer.task]
        self.ended(offer, "accepted")
        if known.state == "running":
            known.runs.add(self.held[offer.task].run_id)
            self.lost(offer.task)
            known.state = "queued"
        known.owner = offer.to
        known.path.append(offer.to)
        known.passed_over.clear()

    def decline(self, move: Move) -> None:
        if not self.offers:
            return
        offer, dies = self.pick(self.offers, move.place), move.dies
        who = {"one": offer.to, "other": "devops", "operator": offer.giver}[move.who]
        call = (answering.decline, offer.ident, by(who))
        if who not in (offer.to, offer.giver):
            with pytest.raises(Forbidden):
                self.do(dies, *call)
        elif offer.state == "offered" and self.table.hand.now < offer.until:
            self.do(dies, *call)
            self.ended(offer, "withdrawn" if who == offer.giver else "declined")
        elif offer.state == "declined" or (offer.state == "withdrawn" and who == offer.giver):
            with suppress(Conflict):
                assert self.do(dies, *call).known
        else:
            with pytest.raises(Conflict):
                self.do(dies, *call)

    def finish(self, move: Move) -> None:
        if not self.held:
            return
        task, well, dies = self.pick(self.held, move.place), move.yes and move.place == 0, move.dies
        outcome = Outcome(summary="done") if well else failure("no")
        self.do(dies, settling.settle, self.held[task], outcome, LIMITS, ME.pid if ME else 0)
        self.lost(task)
        if well:
            self.tasks[task].state = "done"
        else:
            self.tried_in_vain(task)

    def settle_what_is_void(self, move: Move) -> None:
        """An old token changes nothing."""
        if not self.void:
            return
        outcome = LATE[move.place]
        work, before = self.pick(self.void, move.place + 2 * move.yes), self.rows()
        with pytest.raises(LeaseLost):
            self.table.settle(work, outcome)
        assert self.table.hand(working.renew, work.token, lease_s=60) is False
        assert self.rows() == before

    def let_go(self, move: Move) -> None:
        """The agent's process ends what it has no lease for any more."""
        for work in self.void:
            if work.agent == move.to:
                self.table.hand(holding.drop, work)
                self.run_ended(work.run_id)

    def die(self, move: Move) -> None:
        """Its process is gone, and its next one frees what it held; every try counts."""
        self.table.hand(holding.lose_all, move.to)
        for task in [task for task, work in self.held.items() if work.agent == move.to]:
            self.lost(task)
            self.tried_in_vain(task)
        for work in self.void:
            if work.agent == move.to:
                self.run_ended(work.run_id)

    def run_ended(self, run_id: str) -> None:
        if any(run_id in known.runs for known in self.tasks.values()):
            self.table.lapse()
            self.swept()
            for known in self.tasks.values():
                known.runs.discard(run_id)

    def pass_time(self, move: Move) -> None:
        self.table.pass_time((100.0, DEADLINE_S / 2, DEADLINE_S)[move.place])
        if not move.yes:
            return
        for part in (lapsing.withdraw_void, lapsing.expire_due, lapsing.begin):
            self.do(move.dies, part)
        self.swept()

    def swept(self) -> None:
        now = self.table.hand.now
        for offer in [each for each in self.offers if each.state == "offered"]:
            if self.tasks[offer.task].state == "done":
                self.ended(offer, "withdrawn")
            elif offer.until <= now:
                self.ended(offer, "expired")

    def cancel(self, move: Move) -> None:
        task = self.pick(self.tasks, move.place)
        if move.yes and self.tasks[task].state != "done":
            self.table.hand(changing.cancel, task, THE_OPERATOR)
            if task in self.held:
                self.lost(task)
            self.tasks[task].state = "done"

    # what must be so

    def rows(self) -> list[Any]:
        return sorted(self.table.hand(lambda tx: tx.all(TASKS)))

    def each_open_task_is_its_owners_alone(self) -> None:
        for row in self.rows():
            known = self.tasks[row.id]
            if known.state == "done":
                assert row.state in ("done", "failed", "cancelled")
                assert row.token is None
                continue
            assert (row.holder if row.state == "running" else row.agent) == known.owner
            assert (row.token is not None) == (row.id in self.held)
            assert (row.state == "running") == (known.state == "running")
            assert (row.state == "blocked") == (known.aside or bool(known.runs))

    def nobody_else_can_claim_it(self) -> None:
        """All take all that they can get, which is then taken back."""
        got: dict[str, list[str]] = {}
        with suppress(Died), self.table.hand.transaction() as tx:
            for agent in AGENTS:
                while (found := working.claim(tx, agent, "run", lease_s=60.0)) is not None:
                    got.setdefault(found[0].task_id, []).append(agent)
            raise Died
        for task, agents in got.items():
            assert agents == [self.tasks[task].owner]
            assert self.tasks[task].claimable

    def each_offer_is_told_of_once_and_ends_once(self) -> None:
        said = Counter((row.kind, row.subject) for row in self.table.hand(lambda tx: tx.all(ENDS)))
        assert not [each for each, count in said.items() if count > 1]
        for row in self.table.hand(lambda tx: tx.all(OFFERS)):
            offer = next(each for each in self.offers if each.ident == row.id)
            assert (row.giver, row.receiver, row.state) == (offer.giver, offer.to, offer.state)
            ends = [kind for kind, subject in said if subject == row.id and kind != "handoff.offered"]
            assert ends == ([] if offer.state == "offered" else [f"handoff.{offer.state}"])


@rule("Q3", "K4", "K4a")
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_at_every_moment_a_task_has_exactly_one_owner(fresh: Fresh, request: pytest.FixtureRequest) -> None:
    @settings(
        max_examples=60 if "sqlite" in request.node.name else 8,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=(Phase.generate,),
    )
    @given(st.lists(MOVES, min_size=30, max_size=60))
    def one_history(moves: list[Move]) -> None:
        with fresh() as hand:
            histories = Histories(hand)
            histories.add()
            for move in moves:
                histories.make(move)

    one_history()


# a kill between any two commits of one long story


class Story:
    """One task's way from hand to hand, a verb a commit; each is found from the store alone, as a process that was started anew does."""

    def __init__(self, table: Table, task: str) -> None:
        self.table = table
        self.task = task
        self.works: list[Work] = []

    def steps(self) -> list[Callable[[], Any]]:
        return [self.begin_first, self.offer, self.accept, self.end_the_run, self.begin_second, self.hand_over, self.decline, self.finish]

    def begin_first(self) -> None:
        self.works.append(self.table.begin("coder"))

    def offer(self) -> None:
        self.table.offer(self.task)

    def accept(self) -> None:
        found = self.table.open_offer(self.task)
        assert found is not None
        self.table.accept(found.handoff_id)

    def end_the_run(self) -> None:
        self.table.hand(holding.drop, self.works[0])
        self.table.lapse()

    def begin_second(self) -> None:
        self.works.append(self.table.begin("sales"))

    def hand_over(self) -> None:
        self.table.hand_over(self.works[-1], "intel")

    def decline(self) -> None:
        found = self.table.open_offer(self.task)
        assert found is not None
        self.table.decline(found.handoff_id, "intel")

    def finish(self) -> None:
        self.table.settle(self.table.begin("sales"))


@rule("Q3", "M3")
@pytest.mark.parametrize("dies", ["coder", "sales"])
@pytest.mark.parametrize("at", range(8))
def test_whoever_dies_after_whichever_commit_the_task_is_done_once_by_its_owner(hand: Hand, dies: str, at: int) -> None:
    table = Table(hand)
    story = Story(table, table.add())
    task = story.task
    for step_ in story.steps()[: at + 1]:
        step_()
    table.hand(holding.lose_all, dies)
    chance = random.Random(at)
    for _ in range(40):
        if table.task(task).state == "done":
            break
        table.pass_time(100.0)
        table.sweep()
        for each in chance.sample(AGENTS, len(AGENTS)):
            for lane in LANES:
                work = table.try_to_take(each, lane)
                if work is not None:
                    table.hand(holding.started, work)
                    table.settle(work, Outcome(summary=f"{each} did it"))
        if chance.random() < 0.5:
            table.hand(holding.lose_all, chance.choice(AGENTS))
    found = table.task(task)
    assert found.state == "done"
    assert table.kinds(task).count("task.done") == 1
    assert found.result["by"] == table.owner(task)
    ends = Counter(kind for kind in table.events(task) if kind != "handoff.offered")
    assert sum(ends.values()) == table.events(task).count("handoff.offered")
