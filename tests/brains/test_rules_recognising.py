"""What the rules brain takes itself to be able to do: the seeds' templates it truly can, and nothing by a wrong guess."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.defaults import AGENTS, BY_NAME
from covey.brains.rules import DOABLE, RulesBrain
from covey.brains.rules.doable import recognised
from covey.brains.rules.words import hear, root
from tests.rules import rule

BRAIN = RulesBrain(BY_NAME["coder"], Path("nowhere"))
NAMES = tuple(BY_NAME)

SEEDS_IT_CAN = {
    "Review team productivity metrics": "productivity",
    "Prioritize pending tasks across agents": "pending",
    "Check for resource conflicts": "resource_conflicts",
    "Review expense reports": "costs",
    "Prepare budget analysis": "costs",
    "Monitor system health": "system_health",
    "Security audit": "security_audit",
    "Project timeline updates": "project_timelines",
    "Resource allocation analysis": "allocation",
    "Workflow documentation": "workflow",
}
SEEDS_IT_CANNOT = """Plan next sprint objectives|Code review pending PRs|Update technical documentation|Refactor legacy code modules|Run automated tests
Follow up on warm leads|Update CRM with recent interactions|Research competitor pricing|Prepare sales reports|Update financial projections|Monitor cash flow
Market research on industry trends|Competitor analysis update|Customer feedback analysis|Technology trend assessment|Update deployment scripts
Performance optimization|Draft newsletter content|Social media engagement|PR opportunity research|Content calendar planning|Process optimization review"""
SAID_OTHERWISE = {
    "Please have a look at the queues and tell me which tasks are stuck": "lying",
    "Give me a weekly report on team productivity": "productivity",
    "Analyse the message traffic of the last week": "traffic",
    "analyze resource utilization across agents": "allocation",
    "Which tasks failed and why?": "failures",
    "Forecast next month's model spending": "forecast",
    "Check CPU and memory usage": "system_health",
    "Identify bottlenecks": "resource_conflicts",
    "Audit file permissions": "security_audit",
    "Review the workload of coder and devops": "workload",
    "Summarize yesterday's activity": "digest",
}
WRONG_GUESSES = """Review the productivity of our rivals in Spain|Check for merge conflicts in the repo|Monitor system health of the patient
Write workflow documentation for the sales process in Salesforce|Security audit of example.com|Review the status of the agent visa application
Prepare budget for the wedding|Follow up open questions with customers|Review project timeline of the Apollo program and write an essay
Check the disk brakes|Review team performance for the annual bonus|Order the pizza for the team|Review my own code|Cost of living analysis in Europe
Review response times of the support hotline|Write a python script that monitors system health|Tell me a story about the fleet
Review expense reports of the travel department|Translate the workflow documentation to German|Process customer orders|Improve team productivity"""


@pytest.mark.parametrize(("description", "name"), [*SEEDS_IT_CAN.items(), *SAID_OTHERWISE.items()])
@rule("P1")
def test_it_recognises_what_it_can_do(description: str, name: str) -> None:
    found = recognised(description, NAMES)
    assert found is not None
    assert found.topic.name == name


@pytest.mark.parametrize("description", [each for line in (SEEDS_IT_CANNOT, WRONG_GUESSES) for each in line.replace("\n", "|").split("|")])
@rule("P1")
def test_it_does_not_take_itself_to_be_able_to_do_the_rest(description: str) -> None:
    assert recognised(description, NAMES) is None
    assert not BRAIN.can(description)


@pytest.mark.parametrize(
    "description",
    [
        "Do not check for resource conflicts",
        "Check for resource conflicts and delete the tasks that conflict",
        "Monitor system health and restart what is unhealthy",
        "Never review team productivity metrics",
        "Prioritise the pending tasks and cancel the rest",
        "Fix the security audit",
        "Check cpu load, memory usage, disk space and the health of the server, and restart",
        "Check cpu load, memory usage, disk space and the health of the server, but don't",
    ],
)
def test_a_word_that_asks_for_a_change_or_says_no_is_not_read_over(description: str) -> None:
    assert recognised(description) is None


@rule("P1")
def test_each_default_role_has_three_tasks_that_it_really_does() -> None:
    for agent in AGENTS:
        templates = [each.template for each in DOABLE.values() if agent.id in each.roles]
        assert len(templates) >= 3, agent.id
        assert all(BRAIN.can(template) for template in templates)


def test_every_template_is_recognised_as_its_own() -> None:
    for name, doable in DOABLE.items():
        found = recognised(doable.template)
        assert found is doable, name
        assert set(doable.roles) <= set(BY_NAME)


def test_a_long_text_is_never_taken_for_a_short_one() -> None:
    padded = "Monitor system health. " + " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100))
    assert recognised(padded) is None
    assert recognised("Monitor system health " * 40) is DOABLE["system_health"]


def test_endings_do_not_matter() -> None:
    same = [
        ("queues", "queue"),
        ("queued", "queue"),
        ("monitoring", "monitor"),
        ("priorities", "priority"),
        ("prioritizing", "prioritise"),
        ("analyses", "analyse"),
        ("it's", "it"),
        ("messages", "messaging"),
    ]
    assert [pair for pair in same if root(pair[0]) != root(pair[1])] == []
    assert root("status") != root("state")


@given(st.text(max_size=400))
def test_any_text_is_recognised_or_not(text: str) -> None:
    found = recognised(text, lenient=True)
    assert found is None or found in DOABLE.values()


@given(
    st.sampled_from([each.template for each in DOABLE.values()]),
    st.lists(st.sampled_from(["please", "the", "weekly", "now", "for", "us"]), max_size=4),
)
def test_words_that_say_nothing_change_nothing(template: str, fillers: list[str]) -> None:
    assert recognised(" ".join([*fillers, template, *fillers])) is recognised(template)


@given(
    st.sampled_from([each.template for each in DOABLE.values()]),
    st.lists(st.text(alphabet="bcdfghjkmnpqrvwxz", min_size=6, max_size=9), min_size=4, max_size=12),
)
def test_enough_words_that_nobody_knows_make_it_something_else(template: str, strange: list[str]) -> None:
    telling = hear(template).telling | hear(" ".join(strange)).telling
    if len(hear(" ".join(strange)).telling - hear(template).telling) > len(telling) // 6:
        assert recognised(f"{template} {' '.join(strange)}") is None
