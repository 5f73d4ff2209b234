"""Rules and tests hold both ways: no test of an unknown rule, no built rule without a test."""

from __future__ import annotations

import pytest

from tests import requirements as req

LISTED = req.Requirements(
    topics=("care",),
    rules={
        "A1": req.Rule("one", "done"),
        "A2": req.Rule("two", "partial", ("care",)),
        "A3": req.Rule("three", "later", ("care",)),
    },
)
SOURCE = """
@rule("A1")
def test_one(): ...

class TestMore:
    @pytest.mark.rule("A2", "Z9")
    async def test_two(self): ...

@rule("A3")
def not_a_test(): ...
"""


def test_the_list_is_sound() -> None:
    assert req.requirements().faults() == []


def test_no_test_names_a_rule_that_is_not_listed() -> None:
    assert req.unknown(req.requirements(), req.marks()) == []


def test_every_rule_that_is_built_has_a_test() -> None:
    missing = req.untested(req.requirements(), req.marks())
    assert not missing, "no test carries\n" + "\n".join(missing)


def test_marks_are_found_on_functions_and_methods() -> None:
    found = list(req.marks_in(SOURCE, "tests/test_x.py"))
    assert found == [
        ("A1", "tests/test_x.py::test_one"),
        ("A2", "tests/test_x.py::test_two"),
        ("Z9", "tests/test_x.py::test_two"),
    ]
    assert req.unknown(LISTED, found) == ["tests/test_x.py::test_two names Z9"]
    assert req.untested(LISTED, found) == []


def test_a_built_rule_without_a_test_is_found_and_a_later_one_is_let_be() -> None:
    assert [line[:2] for line in req.untested(LISTED, [])] == ["A1", "A2"]


def test_a_mark_that_can_not_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"t\.py:1: a rule's id must be a plain string"):
        list(req.marks_in("@rule(NAME)\ndef test_one(): ...\n", "t.py"))


@pytest.mark.parametrize(
    "rule",
    [req.Rule("", "done", ("care",)), req.Rule("", "partial"), req.Rule("", "later"), req.Rule("", "later", ("cars",))],
)
def test_a_state_and_what_it_waits_for_must_agree(rule: req.Rule) -> None:
    assert len(req.Requirements(("care",), {"A1": rule}).faults()) == 1
