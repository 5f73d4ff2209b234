"""An agent that is down: its tasks are given to able ones, and those not begun are its own again when it is back (H4, A1a)."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import external, living
from covey.agents.breaker import OPEN_S
from covey.agents.model import THE_OPERATOR
from covey.brains.model import failure
from covey.healing import incidents, lending, lives
from covey.healing.choosing import Wanted, able_now, choose
from covey.runner import holding, joining
from covey.store import Statement, events
from tests.inline import Hand
from tests.rules import rule
from tests.runner.desk import LIMITS, ME, Desk
from tests.tasks.taking import taker

BACK_S = 60.0
BRAINS = Statement("test:brains", "UPDATE agents SET brain = :brain WHERE id = :id OR :id = ''")
LENT = Statement("test:lent", "SELECT task_id, owner, heir FROM lent_tasks ORDER BY task_id")


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Agents at work, by hand, each with a python brain."""
    with hand.transaction() as tx:
        tx.run(BRAINS, brain="python", id="")
    return Desk(hand)


def die(desk: Desk, name: str) -> None:
    """Its process is killed; its node records it."""
    assert ME is not None
    desk.hand(lives.died, name, pid=ME.pid, how="killed by SIGKILL", ran_s=300.0, again_in_s=0.0)


def come_back(desk: Desk, name: str, pid: int = 4711) -> list[str]:
    """Another process of it serves."""
    return desk.hand(lives.arrive, name, node="here", pid=pid, start_ticks=1, boot_id="b", port=8002)


def wait(desk: Desk, seconds: float) -> None:
    """Time passes, the others beat on."""
    desk.pass_time(seconds)
    assert ME is not None
    for name in ("chief", "sales", "intel", "ops", "devops"):
        desk.hand(living.beat, name, pid=ME.pid)


@rule("H4")
def test_what_an_agent_that_is_not_back_in_a_minute_had_to_do_is_given_to_able_ones_and_returned(desk: Desk) -> None:
    first, second = desk.add("one"), desk.add("two", priority="high")
    needs = desk.add("three", dependencies=[first])
    begun = desk.add("four", "sales")
    die(desk, "coder")
    wait(desk, BACK_S - 1)
    assert desk.hand(lending.down, BACK_S) == []
    wait(desk, 1)
    assert desk.hand(lending.down, BACK_S) == ["coder"]
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 3}
    heirs = {desk.task(ident).agent for ident in (first, second, needs)}
    assert len(heirs) == 3
    assert not heirs & {"coder", "finance", "comms"}, "those have no process"
    assert desk.task(needs).state == "blocked"
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}
    heir = desk.task(first).agent
    assert heir is not None
    work = desk.begin(heir)
    assert work.item == first
    assert sorted(come_back(desk, "coder")) == sorted([second, needs])
    assert [desk.task(each).agent for each in (first, second, needs, begun)] == [heir, "coder", "coder", "sales"]
    assert come_back(desk, "coder") == []
    assert desk.hand(lambda tx: tx.all(LENT)) == []


@rule("H4", "H2")
def test_the_incident_tells_the_whole_story_and_ends_when_it_serves(desk: Desk) -> None:
    desk.add("one")
    die(desk, "coder")
    wait(desk, BACK_S)
    desk.hand(lending.give_away, ["coder"])
    (open_now,) = desk.hand(incidents.open_of, "coder")
    come_back(desk, "coder")
    story = desk.hand(incidents.find, open_now.incident_id)
    assert story.kind == "process_died"
    assert "killed by SIGKILL" in story.cause
    assert [each.action for each in story.steps] == ["restart", "tasks_given", "tasks_returned", "back"]
    assert (story.outcome, story.cured_in_s) == ("back", BACK_S)
    assert desk.hand(incidents.open_of, "coder") == []


@rule("H4")
def test_a_task_that_its_heir_has_tried_stays_with_it(desk: Desk) -> None:
    ident = desk.add("one")
    die(desk, "coder")
    wait(desk, BACK_S)
    desk.hand(lending.give_away, ["coder"])
    heir = desk.task(ident).agent
    assert heir is not None
    desk.settle(desk.begin(heir), failure("not yet"))
    assert desk.task(ident).state == "queued"
    assert come_back(desk, "coder") == []
    assert desk.task(ident).agent == heir


@rule("A5b", "H4")
def test_what_an_external_agent_had_to_do_is_others_while_it_is_away_and_its_own_when_it_calls(desk: Desk) -> None:
    with desk.hand.transaction() as tx:
        tx.run(BRAINS, brain="external", id="coder")
    assert desk.hand(joining.claim, "coder", ("task",), LIMITS) is None
    first, second = desk.add("one"), desk.add("two")
    wait(desk, 3600.0)
    assert desk.hand(lending.down, BACK_S) == []
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}
    wait(desk, BACK_S)
    assert desk.hand(lending.down, BACK_S) == ["coder"]
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 2}
    heir = desk.task(first).agent
    assert heir != "coder"
    work = desk.hand(joining.claim, "coder", ("task",), LIMITS)
    assert work is not None
    assert work.item == first
    assert desk.task(second).agent == "coder"
    assert desk.hand(incidents.open_of, "coder") == []


@rule("A5b", "H4")
def test_what_waits_for_an_external_agent_that_never_calls_is_others_after_its_cadence_and_the_grace(desk: Desk) -> None:
    with desk.hand.transaction() as tx:
        tx.run(BRAINS, brain="external", id="coder")
    desk.add("one")
    wait(desk, 3600.0)
    assert desk.hand(lending.down, BACK_S) == []
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}
    wait(desk, BACK_S)
    assert desk.hand(lending.down, BACK_S) == ["coder"]
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 1}


@rule("H4")
def test_what_was_lent_and_has_ended_is_forgotten_though_its_owner_never_comes_back(desk: Desk) -> None:
    first, second = desk.add("one"), desk.add("two")
    die(desk, "coder")
    wait(desk, BACK_S)
    desk.hand(lending.give_away, ["coder"])
    heir = desk.task(first).agent
    assert heir is not None
    desk.settle(desk.begin(heir))
    assert desk.hand(lending.prune, older_s=0.0) == (1, None)
    assert [row.task_id for row in desk.hand(lambda tx: tx.all(LENT))] == [second]


@rule("H4", "C5")
def test_one_that_comes_back_begins_from_its_checkpoint_and_its_incident_says_so(desk: Desk) -> None:
    first = desk.add("one")
    desk.settle(desk.begin("coder"))
    die(desk, "coder")
    (open_now,) = desk.hand(incidents.open_of, "coder")
    come_back(desk, "coder")
    (restored,) = [each for each in desk.hand(incidents.find, open_now.incident_id).steps if each.action == "restored"]
    assert first in restored.sentence


@rule("H4")
def test_a_task_in_a_heirs_hands_keeps_its_place_in_line(desk: Desk) -> None:
    names = [desk.add(f"task {number}") for number in range(6)]
    others = ("chief", "sales", "intel", "ops")
    for name in others:
        with desk.hand.transaction() as tx:
            living.pause(tx, name, THE_OPERATOR)
    die(desk, "coder")
    wait(desk, BACK_S)
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 6}
    assert [desk.begin("devops").item for _ in names] == names


@rule("H4", "A1a")
def test_tasks_that_nobody_is_able_to_do_wait_and_that_is_said_once(desk: Desk) -> None:
    ident = desk.add("one", capability="code")
    die(desk, "coder")
    for _ in range(3):
        wait(desk, BACK_S)
        assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}
    assert desk.task(ident).agent == "coder"
    (story,) = desk.hand(incidents.open_of, "coder")
    assert [each.action for each in story.steps].count("nobody_able") == 1


@rule("H4", "H7a")
def test_an_agent_that_is_back_or_beats_again_keeps_its_tasks(desk: Desk) -> None:
    ident = desk.add("one")
    die(desk, "coder")
    wait(desk, BACK_S)
    come_back(desk, "coder")
    assert desk.hand(lending.down, BACK_S) == []
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}
    assert desk.task(ident).agent == "coder"


@rule("H1", "H4")
def test_one_that_hung_has_one_incident_from_its_silence_to_its_return(desk: Desk) -> None:
    desk.hand(lives.hung, "coder", 3)
    die(desk, "coder")
    come_back(desk, "coder")
    assert desk.hand(incidents.open_of, "coder") == []
    kinds = [kind for kind in (event.data.get("incident") for event in desk.hand(events.of_agent, "coder")) if kind]
    assert set(kinds) == {"hung"}


def _events(desk: Desk) -> list:  # type: ignore[type-arg]
    from covey.store import events

    return desk.hand(events.of_agent, "coder")


@rule("H4")
def test_a_death_that_is_recorded_late_ends_at_once(desk: Desk) -> None:
    come_back(desk, "coder")
    die(desk, "coder")
    assert desk.hand(incidents.open_of, "coder") == []


@rule("H7")
def test_one_that_is_not_started_again_is_not_waited_for(desk: Desk) -> None:
    assert ME is not None
    desk.hand(lives.died, "coder", pid=ME.pid, how="exit code 1", ran_s=0.1, again_in_s=None)
    assert desk.hand(incidents.open_of, "coder", "process_died") == []


@rule("H4")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(steps=st.lists(st.sampled_from(["add", "die", "give", "back", "work", "pass"]), max_size=30))
def test_whatever_happens_every_task_is_somebodys_and_no_lent_one_is_forgotten(desk: Desk, steps: list[str]) -> None:
    ids: list[str] = []
    pids = count(5000)
    for step in steps:
        if step == "add":
            ids.append(desk.add("a task", "coder"))
        elif step == "die":
            desk.hand(lives.died, "coder", pid=pids.__next__(), how="killed", ran_s=1.0, again_in_s=1.0)
        elif step == "give":
            desk.hand(lending.give_away, ["coder"])
        elif step == "back":
            come_back(desk, "coder", next(pids))
            assert desk.hand(lambda tx: tx.all(LENT)) == []
        elif step == "work":
            for name in ("chief", "sales"):
                work = desk.try_to_take(name, "task")
                if work is not None:
                    desk.hand(holding.give_back, work, "so")
        else:
            wait(desk, 30.0)
    agents = [desk.task(ident).agent for ident in ids]
    assert all(agents)
    lent = {row.task_id: row for row in desk.hand(lambda tx: tx.all(LENT))}
    assert all(agent == "coder" or ident in lent for ident, agent in zip(ids, agents, strict=True))


@rule("H3", "H4")
def test_the_choice_of_an_heir_is_never_its_owner_and_never_costs_money_unasked() -> None:
    wanted = Wanted("coder", "python", "do it", ("chief",))
    able = [
        taker("coder", "python", 1),
        taker("chief", "python", 0),
        taker("sales", "python", 2, tasks=5),
        taker("intel", "command", 3),
        taker("ops", "rules", 4),
    ]
    assert choose(wanted, able) == "sales"
    assert choose(wanted, [each for each in able if each.name != "sales"]) == "chief", "whoever failed it comes last"
    assert choose(wanted, [able[0], able[3], able[4]]) is None
    assert choose(wanted._replace(brain="command"), able) == "intel"
    report = wanted._replace(description="Report the status of all agents", brain="rules")
    assert choose(report, able) == "ops"
    assert choose(wanted._replace(failed_by=()), able, {"chief": 9}) == "sales"


@rule("H6")
def test_of_heirs_with_as_much_to_do_one_with_a_brain_of_the_same_kind_is_first() -> None:
    wanted = Wanted("coder", "command", "do it")
    able = [taker("chief", "python", 0), taker("intel", "command", 3)]
    assert choose(wanted, able) == "intel"
    assert choose(wanted, able, {"intel": 1}) == "chief"


def fail_until_barred(desk: Desk, name: str) -> None:
    """Its brain can't start, which opens its breaker."""
    desk.add("what fails", name)
    desk.settle(desk.begin(name), failure("no module", permanent=True, not_started=True))


@rule("H4", "H6", "A1a")
def test_an_heir_whose_breaker_is_half_open_is_tried_when_there_is_nobody_else(desk: Desk) -> None:
    ident = desk.add("one", capability="review")
    fail_until_barred(desk, "chief")
    die(desk, "coder")
    wait(desk, OPEN_S - 1)
    assert desk.hand(able_now, "review") == [], "nothing is routed to who is behind an open breaker"
    wait(desk, 1)
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 1}
    assert desk.begin("chief").item == ident


@rule("H4", "H6")
def test_an_heir_with_a_sound_breaker_comes_before_one_whose_is_half_open(desk: Desk) -> None:
    ident = desk.add("one")
    fail_until_barred(desk, "chief")
    for name in ("sales", "intel", "devops"):
        desk.hand(living.pause, name, THE_OPERATOR)
    for _ in range(3):
        desk.add("more", "ops")
    die(desk, "coder")
    wait(desk, OPEN_S)
    desk.hand(lending.give_away, ["coder"])
    assert desk.task(ident).agent == "ops", "though it has more to do"


@rule("H4", "A5b")
def test_an_external_agent_that_is_there_takes_over_what_may_cost_when_nobody_with_a_process_can(desk: Desk) -> None:
    with desk.hand.transaction() as tx:
        tx.run(BRAINS, brain="command", id="coder")
        tx.run(BRAINS, brain="external", id="chief")
    ident = desk.add("one", capability="review")
    die(desk, "coder")
    wait(desk, BACK_S)
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 0}, "it was never seen"
    desk.hand(external.seen, "chief")
    assert desk.hand(lending.give_away, ["coder"]) == {"coder": 1}
    assert desk.task(ident).agent == "chief"
    both = [taker("chief", "external", 0), taker("sales", "command", 2, tasks=5)]
    assert choose(Wanted("coder", "command", "do it"), both) == "sales", "one that begins at once comes before it"
    assert choose(Wanted("coder", "python", "do it"), both) is None
