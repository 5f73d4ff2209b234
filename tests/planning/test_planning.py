"""Who is given tasks, which, and how many (P2, P3)."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, THE_SYSTEM, as_agent
from covey.base.settings import PlanningSettings
from covey.brains.model import Outcome
from covey.brains.rules.doable import recognised
from covey.contexts import entries
from covey.messages import handling, replacing, sending
from covey.messages import reading as mail
from covey.messages.model import draft
from covey.planning import abilities, due, templates
from covey.reports import spending
from covey.runner import settling, taking
from covey.runner.work import Limits
from covey.store import Transaction, events
from covey.tasks import adding, changing, reading, working
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.planning.idle import COMMAND, PROJECTS, PYTHON, add, finish_all, fleet_of, later, plan, set_up, task
from tests.rules import rule


def happened(hand: Hand, kind: str) -> list[events.Event]:
    return hand(events.after, events.START, kinds=(kind,), limit=10_000).events


@rule("P2", "P1")
def test_an_idle_agent_gets_three_tasks_that_its_brain_can_do(hand: Hand) -> None:
    set_up(hand)
    for agent in EIGHT.agents:
        found = plan(hand, agent.id)
        assert len(found.tasks) == 3, found
        for each in (task(hand, ident) for ident in found.tasks):
            assert each.origin == "generated"
            assert (each.agent, each.state, each.created_by) == (agent.id, "queued", "system")
            assert recognised(each.description) is not None
    told = happened(hand, "task.planned")
    assert len(told) == 24
    assert {each.data["by"] for each in told} == {"system"}


@rule("P2")
@pytest.mark.parametrize("why", ["busy", "paused", "stopped", "silent", "queue", "just active", "mail"])
def test_only_an_agent_that_is_idle_with_an_empty_queue_gets_any(hand: Hand, why: str) -> None:
    set_up(hand)
    if why == "busy":
        add(hand, "coder")
        hand(working.claim, "coder", "run_1", lease_s=60)
    elif why == "paused":
        hand(living.pause, "coder", THE_OPERATOR, "lunch")
    elif why == "stopped":
        hand(living.stop, "coder", THE_OPERATOR, "fire")
    elif why == "silent":
        hand.clock.at += 61
    elif why == "queue":
        add(hand, "coder", not_before=hand.now + 1000)
    elif why == "just active":
        hand(living.acted, "coder", tasks=1)
    else:
        hand(sending.send, draft("coder", "read this"), THE_OPERATOR)
    found = plan(hand, "coder")
    assert found.tasks == ()
    assert found.why
    assert hand(reading.queue_of_agent, "coder") == [] or why == "queue"


@rule("P2")
def test_what_it_got_it_does_not_get_again_before_it_is_done_and_has_cooled_down(hand: Hand) -> None:
    settings = set_up(hand)
    seen: dict[str, float] = {}
    made = 0
    for _ in range(200):
        found = plan(hand, "devops")
        for ident in found.tasks:
            each = task(hand, ident)
            name = each.data["planned"]["template"]
            every = next(one.every_s for one in templates.of(PlanningSettings()).of_role("devops") if one.id == name)
            assert name not in seen or each.created_at >= seen[name] + every
            seen[name] = each.created_at
            made += 1
        assert sum(one.origin == "generated" for one in hand(reading.queue_of_agent, "devops")) <= 3
        finish_all(hand, "devops")
        later(hand, 301, settings)
    assert 15 < made <= 24


@rule("P2", "K6")
def test_a_second_look_at_once_makes_nothing_and_counts_nothing(hand: Hand) -> None:
    set_up(hand)
    plan(hand, "coder")
    before = hand(spending.tasks_of, "coder").spent
    assert plan(hand, "coder").tasks == ()
    assert hand(spending.tasks_of, "coder").spent == before == 3


@rule("P2")
def test_what_an_agent_decided_of_late_comes_first(hand: Hand) -> None:
    set_up(hand)
    hand(entries.remember, "intel", "decision", "The tokens of our memory are too many, so contexts are to be looked at", source="task_1")
    first = task(hand, plan(hand, "intel").tasks[0])
    assert first.description == "Review context usage of the agents"


@rule("P2", "A1b")
def test_a_template_for_projects_is_done_for_each_active_one(hand: Hand) -> None:
    settings = set_up(hand, fleet_of(projects=PROJECTS))
    first = task(hand, plan(hand, "chief", settings).tasks[0])
    assert (first.description, first.project_id) == ("Project timeline updates", "site")


@rule("P2", "P1")
def test_a_task_with_a_partner_names_one_who_is_there_and_whose_own_time_is_planned(hand: Hand) -> None:
    settings = set_up(hand, fleet_of({"devops": {"brain": COMMAND}}))
    hand(living.pause, "ops", THE_OPERATOR, "")
    names = {}
    for _ in range(40):
        for agent in ("coder", "sales", "intel"):
            for ident in plan(hand, agent, settings).tasks:
                each = task(hand, ident)
                names[each.data["planned"]["template"], agent] = each.data["planned"]["with"]
            finish_all(hand, agent)
        later(hand, 301, settings)
    assert ("failures", "coder") not in names, "devops costs money, so it is not told unasked"
    assert ("capabilities", "sales") not in names, "ops is paused"
    assert names["weeks", "intel"] == "finance"


@rule("P3")
def test_nothing_is_planned_for_a_brain_that_costs_money_until_it_is_turned_on(hand: Hand) -> None:
    settings = set_up(hand, fleet_of({"coder": {"brain": COMMAND}, "sales": {"brain": COMMAND, "plan": True}, "ops": {"plan": False}}))
    assert (
        plan(hand, "coder", settings).why
        == "planning is off for it: its command brain may cost money or act outside; plan = true turns it on"
    )
    assert plan(hand, "ops", settings).why == "planning is off for it (plan = false)"
    found = [task(hand, ident) for ident in plan(hand, "sales", settings).tasks]
    assert [each.description.partition("\n")[0] for each in found][:1] == ["Research competitor pricing"], found
    assert "Do this with intel" in found[0].description


@rule("K5a", "P1")
def test_what_waits_for_approval_does_not_leave_an_agent_without_work_and_counts_to_the_three(hand: Hand, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[coder]\none = { text = "Mend one", changes = true, needs = { project = false } }\n'
        'two = { text = "Mend two", changes = true, needs = { project = false } }\n'
        'three = { text = "Read three", every = "1h" }\nfour = { text = "Read four", every = "1h" }\n'
    )
    asked = PlanningSettings(templates=str(path), mode="replace")
    settings = set_up(hand, fleet_of({"coder": {"brain": PYTHON}}, planning=asked))
    first = plan(hand, "coder", settings).tasks
    assert [task(hand, ident).state for ident in first] == ["blocked", "blocked", "queued"]
    finish_all(hand, "coder")
    later(hand, 61, settings)
    second = plan(hand, "coder", settings)
    assert [task(hand, ident).description for ident in second.tasks] == ["Read four"]
    finish_all(hand, "coder")
    later(hand, 3601, settings)
    assert len(plan(hand, "coder", settings).tasks) == 1, "two still wait for approval"
    hand(changing.approve, first[0], THE_OPERATOR)
    assert task(hand, first[0]).state == "queued"


@rule("P1")
def test_a_python_brain_is_not_given_what_it_says_it_cannot_do(hand: Hand) -> None:
    settings = set_up(hand, fleet_of({"sales": {"brain": PYTHON}}))
    unable = abilities.cannot(lambda text: "sales" not in text.casefold(), "sales", "", settings.planning)
    assert unable == ["reports"]
    hand(abilities.declare, "sales", unable)
    made = set()
    for _ in range(6):
        made |= {task(hand, ident).data["planned"]["template"] for ident in plan(hand, "sales", settings).tasks}
        finish_all(hand, "sales")
        later(hand, 61, settings)
    assert "pricing" in made
    assert "reports" not in made
    hand(abilities.declare, "sales", [])
    later(hand, 3700, settings)
    assert [task(hand, ident).data["planned"]["template"] for ident in plan(hand, "sales", settings).tasks] == ["reports"]


@rule("P1")
def test_an_agent_of_another_name_is_known_by_its_role_and_one_of_no_role_gets_what_anybody_can_do(hand: Hand) -> None:
    agents = (
        msgspec.structs.replace(EIGHT.agents[0], id="anna", role="Finance - pays the bills"),
        msgspec.structs.replace(EIGHT.agents[1], id="bert", role="Gardener", buddy="anna"),
    )
    settings = set_up(hand, msgspec.structs.replace(EIGHT, agents=agents, lead="anna", deputy="bert"))
    assert {task(hand, ident).data["planned"]["role"] for ident in plan(hand, "anna", settings).tasks} == {"finance"}
    assert {task(hand, ident).data["planned"]["role"] for ident in plan(hand, "bert", settings).tasks} == {"any"}


def test_a_refused_template_file_means_no_tasks_and_says_so(hand: Hand, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[coder]\nwrong = { txt = 1 }\n")
    settings = set_up(hand, fleet_of(planning=PlanningSettings(templates=str(path))))
    found = plan(hand, "coder", settings)
    assert found.tasks == ()
    assert f"the templates are refused: {path}: 2 faults" in found.why
    path.write_text('[coder]\nright = { text = "Review the dead letters" }\n')
    assert len(plan(hand, "coder", settings).tasks) == 3


@rule("P2")
def test_those_who_are_due_are_those_whom_a_look_may_give_something(hand: Hand) -> None:
    settings = set_up(hand)
    everybody = [agent.id for agent in settings.agents]
    assert sorted(hand(due.due)) == sorted(everybody)
    for name in everybody:
        plan(hand, name)
    assert hand(due.due) == [], "they have tasks"
    for _ in range(30):
        for name in everybody:
            finish_all(hand, name)
        later(hand, 61)
        for name in hand(due.due):
            plan(hand, name)
    assert hand(due.due) == []
    later(hand, 3601)
    assert hand(due.due), "they are looked at again within the hour"


@rule("P3a")
def test_a_newer_digest_replaces_the_unread_older_one(hand: Hand) -> None:
    set_up(hand)

    def send(tx: Transaction, text: str) -> str:
        ident = sending.send(tx, draft("operator", text, thread_id="planned:daily:comms", type="update"), as_agent("comms")).message_id
        replacing.replace_older(tx, ident, sender="comms", receiver="operator", thread_id="planned:daily:comms")
        return ident

    first = hand(send, "day one")
    second = hand(send, "day two")
    states = {each.message_id: each.state for each in hand(mail.inbox, "operator").items}
    assert (states[first], states[second]) == ("expired", "delivered")
    hand(handling.acknowledge, "operator", second)
    hand(send, "day three")
    (read,) = hand(mail.show, second)
    assert read.state == "handled", "what was read stays as it is"


@rule("P3a")
def test_what_a_planned_task_sends_in_its_thread_replaces_what_it_sent_before_and_nothing_else(hand: Hand) -> None:
    settings = set_up(hand)
    comms = settings.agent("comms")
    assert comms is not None
    limits = Limits.of(settings, comms)

    def once(text: str) -> str:
        planned = TaskDraft(description="Write the daily digest for the operator", agent="comms", dedupe_key="planned:daily:comms")
        hand(adding.add, planned, THE_SYSTEM, origin="generated")
        work = hand(taking.take, "comms", "task", "n1", 4006, limits)
        assert work is not None
        told = [draft("operator", text, thread_id="planned:daily:comms"), draft("operator", f"aside: {text}", thread_id="aside")]
        hand(settling.settle, work, Outcome(summary="done", messages=told), limits, 4006)
        return text

    once("day one")
    once("day two")
    states = {str(each.content["body"]): each.state for each in hand(mail.inbox, "operator").items}
    assert states == {"day one": "expired", "day two": "delivered", "aside: day one": "delivered", "aside: day two": "delivered"}


@rule("P3a", "K6a")
def test_a_schedule_is_a_persons_and_counts_on_no_budget(hand: Hand) -> None:
    set_up(hand)
    hand(adding.add, TaskDraft(description="by schedule", agent="coder"), THE_SYSTEM, origin="generated", schedule="nightly")
    assert hand(spending.tasks_of, "coder").spent == 0
