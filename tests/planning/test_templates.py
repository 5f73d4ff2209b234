"""The templates: the package's own, the user's, and what becomes of a file with faults (P1)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from covey.base.defaults import BY_NAME
from covey.base.errors import Misconfigured
from covey.base.settings import PlanningSettings
from covey.brains.rules import DOABLE, RulesBrain
from covey.planning import templates
from covey.planning.model import ANY
from tests.rules import rule

SEEDS = json.loads("""{
  "chief": ["Review team productivity metrics", "Prioritize pending tasks across agents", "Check for resource conflicts",
            "Plan next sprint objectives"],
  "coder": ["Code review pending PRs", "Update technical documentation", "Refactor legacy code modules", "Run automated tests"],
  "sales": ["Follow up on warm leads", "Update CRM with recent interactions", "Research competitor pricing", "Prepare sales reports"],
  "finance": ["Update financial projections", "Review expense reports", "Monitor cash flow", "Prepare budget analysis"],
  "intel": ["Market research on industry trends", "Competitor analysis update", "Customer feedback analysis", "Technology trend assessment"],
  "devops": ["Monitor system health", "Update deployment scripts", "Security audit", "Performance optimization"],
  "comms": ["Draft newsletter content", "Social media engagement", "PR opportunity research", "Content calendar planning"],
  "ops": ["Process optimization review", "Project timeline updates", "Resource allocation analysis", "Workflow documentation"]
}""")
USUAL = templates.of(PlanningSettings())

FAULTY = """
[coder]
good = { text = "Read the news", every = "2h" }
wrong-time = { text = "Read the news", every = "2 hours" }
no-text = { every = "2h" }
unknown-key = { text = "Read the news", evry = "2h" }
unknown-work = { text = "Read the news", rules = "nothing" }
other-work = { text = "Read the news", rules = "costs" }
bad-needs = { text = "Read the news", needs = { project = "yes" } }
empty = { text = "  " }
"bad id" = { text = "Read the news" }
not-a-table = "Read the news"

[Writer]
any = { text = "Read the news" }

[ops]
also-good = { text = "Review the dead letters" }
short = { text = "Read the news", every = "1s" }
"""
GOOD = [("coder", "good"), ("ops", "also-good")]
WRONG = {
    4: "coder.wrong-time.every",
    5: "coder.no-text",
    6: "coder.unknown-key.evry",
    7: "coder.unknown-work.rules",
    8: "coder.other-work.rules",
    9: "coder.bad-needs.needs.project",
    10: "coder.empty.text",
    11: 'coder."bad id"',
    12: "coder.not-a-table",
    14: "Writer",
    19: "ops.short.every",
}


@rule("P1")
def test_the_seeds_templates_are_there_word_for_word() -> None:
    texts = {role: [each.text for each in USUAL.of_role(role)] for role in SEEDS}
    missing = {role: [text for text in theirs if text not in texts[role]] for role, theirs in SEEDS.items()}
    assert not any(missing.values()), missing
    assert sum(len(theirs) for theirs in SEEDS.values()) == 32


@rule("P1")
def test_each_role_has_ten_and_three_that_its_rules_brain_really_does() -> None:
    for role in BY_NAME:
        theirs = USUAL.of_role(role)
        brain = RulesBrain(BY_NAME[role])
        assert len(theirs) >= 10, role
        does = [each for each in theirs if each.rules]
        assert (
            len([each for each in does if not each.project and (not each.capability or each.capability in BY_NAME[role].capabilities)]) >= 3
        )
        assert all(brain.can(each.text) for each in does)
        assert not any(brain.can(each.text) for each in theirs if not each.rules)
    assert sum(len(USUAL.of_role(role)) for role in BY_NAME) >= 80
    assert USUAL.roles == {*BY_NAME, ANY}


@rule("P1", "K5a")
def test_what_changes_anything_needs_a_project_and_approval_unless_it_says_otherwise() -> None:
    found = templates.loaded(
        """
[coder]
usual = { text = "Mend it", changes = true }
free = { text = "Mend it", changes = true, approval = false, needs = { project = false } }
reads = { text = "Read it" }
asks = { text = "Read it", approval = true }
""",
        "here",
    )
    assert [(each.id, each.project, each.approval) for each in found.all] == [
        ("usual", True, True),
        ("free", False, False),
        ("reads", False, False),
        ("asks", False, True),
    ]
    changing = [each for each in USUAL.all if each.changes]
    assert changing
    assert all(each.approval for each in changing)
    assert not any(each.changes for each in USUAL.all if each.rules)


def test_each_role_has_a_task_with_another_and_every_partner_is_a_role() -> None:
    for role in BY_NAME:
        assert any(each.partner for each in USUAL.of_role(role)), role
    assert {each.partner for each in USUAL.all} - {""} <= set(BY_NAME)
    assert {each.capability for each in USUAL.all} - {""} <= {able for agent in BY_NAME.values() for able in agent.capabilities}
    assert {each.rules for each in USUAL.all} - {""} == set(DOABLE)


@rule("P1")
def test_every_fault_is_named_with_its_place() -> None:
    with pytest.raises(Misconfigured) as refused:
        templates.loaded(FAULTY, "mine.toml")
    assert {each["line"]: each["path"] for each in refused.value.faults} == WRONG
    assert "mine.toml: 11 faults" in refused.value.message
    assert "line 4: coder.wrong-time.every" in refused.value.message
    told = {each["path"]: each["message"] for each in refused.value.faults}
    assert 'a time as "30m", "6h" or "7d"' in told["coder.wrong-time.every"]
    assert "would not recognise this text" in told["coder.other-work.rules"]
    assert 'did you mean "every"?' in told["coder.unknown-key.evry"]


@rule("P1")
@pytest.mark.parametrize("mode", ["add", "replace"])
def test_a_file_with_faults_is_refused_whole_or_what_is_right_of_it_is_used(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FAULTY)
    refused = templates.of(PlanningSettings(templates=str(path), mode=mode, faults="refuse"))  # type: ignore[arg-type]
    assert refused.all == ()
    assert len(refused.faults) == 11
    with pytest.raises(Misconfigured):
        templates.check(PlanningSettings(templates=str(path), mode=mode))  # type: ignore[arg-type]
    skipped = templates.check(PlanningSettings(templates=str(path), mode=mode, faults="skip"))  # type: ignore[arg-type]
    assert [(each.role, each.id) for each in skipped.all if each.own] == GOOD
    assert len(skipped.faults) == 11
    assert len(skipped.all) == len(GOOD) + (len(USUAL.all) if mode == "add" else 0)


def test_a_file_adds_to_the_packages_templates_and_replaces_those_of_its_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[chief]\nproductivity = { text = "Count the beans" }\nbeans = { text = "Grow the beans" }\n\n[writer]\nread = { text = "Read" }\n'
    )
    found = templates.of(PlanningSettings(templates=str(path)))
    texts = [each.text for each in found.of_role("chief")]
    assert texts[0] == "Count the beans"
    assert "Grow the beans" in texts
    assert "Check for resource conflicts" in texts
    assert [each.id for each in found.of_role("writer")] == ["read"]
    alone = templates.of(PlanningSettings(templates=str(path), mode="replace"))
    assert [each.id for each in alone.all] == ["productivity", "beans", "read"]


def test_a_changed_file_is_read_again_and_one_that_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[writer]\nread = { text = "Read" }\n')
    asked = PlanningSettings(templates=str(path), mode="replace")
    assert [each.text for each in templates.of(asked).all] == ["Read"]
    path.write_text('[writer]\nread = { text = "Write instead" }\n')
    assert [each.text for each in templates.of(asked).all] == ["Write instead"]
    path.unlink()
    assert str(path) in templates.of(asked).refused
    with pytest.raises(Misconfigured, match=re.escape("which covey.toml names as planning.templates")):
        templates.check(asked)


def test_what_is_no_toml_at_all_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[coder]\nread = { text = \n")
    skipped = templates.of(PlanningSettings(templates=str(path), faults="skip"))
    assert skipped.all == USUAL.all, "nothing of it can be used, the package's own can"
    assert skipped.faults[0]["line"] == 2
    assert templates.of(PlanningSettings(templates=str(path), faults="skip", mode="replace")).all == ()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet='aB1 "\\{}=\n', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "every", "needs", "with", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def spelled(value: object) -> str:
    if value is None:
        return "1979-05-27"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {spelled(one)}" for key, one in value.items()) + " }"
    return "[" + ", ".join(map(spelled, value)) + "]" if isinstance(value, list) else json.dumps(value)


@bounds(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), VALUES, max_size=4))
def test_whatever_a_file_says_it_is_used_or_each_fault_has_a_line(table: dict[str, object]) -> None:
    source = "[coder]\n" + "\n".join(f"{key} = {spelled(value)}" for key, value in table.items()) + "\n"
    kept = templates.loaded(source, "mine.toml", skip=True)
    if not kept.faults:
        assert len(kept.all) == len(table)
        return
    assert all(fault["line"] is not None and fault["message"] for fault in kept.faults)
    assert len(kept.all) < len(table)
    with pytest.raises(Misconfigured):
        templates.loaded(source, "mine.toml")
