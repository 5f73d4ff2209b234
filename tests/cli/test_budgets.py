"""Budgets and template files on the command line, and over HTTP (P1, P3)."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Covey
from tests.rules import rule


@rule("P3")
def test_budgets_are_shown_set_and_reset(covey: Covey) -> None:
    shown = covey("budget", "show")
    assert "generated tasks: 24 an agent (default)" in shown.out
    assert "turns of paid brains: 0 of 200 used (default)" in shown.out
    assert "money: $0.00 of $5.00 used (default)" in shown.out
    assert "chief    0 / 24" in shown.out
    found = covey("budget", "set", "--turns", "7", "--usd", "0.5", "--json").json
    assert (found["turns"]["limit"], found["turns"]["source"], found["usd"]["limit"]) == (7, "operator", 0.5)
    assert "coder    0 / 2" in covey("budget", "set", "--tasks", "2", "--agent", "coder").out
    found = covey("budget", "show", "--json").json
    assert {each["agentId"]: each["limit"] for each in found["agents"]}["coder"] == 2
    assert found["tasks"] == {"limit": 24, "source": "default"}
    found = covey("budget", "set", "--reset", "turns", "--reset", "usd", "--json").json
    assert (found["turns"]["source"], found["usd"]["limit"]) == ("default", 5)


@rule("P3")
def test_a_budget_that_cannot_be_set_says_why(covey: Covey) -> None:
    nothing = covey("budget", "set")
    assert (nothing.code, "--tasks, --turns, --usd, or --reset" in nothing.err) == (2, True)
    theirs = covey("budget", "set", "--usd", "1", "--agent", "coder", "--json")
    assert (theirs.code, theirs.json["field"]) == (2, "usd")
    nobody = covey("budget", "set", "--tasks", "1", "--agent", "nobody", "--json")
    assert (nobody.code, nobody.json["code"]) == (4, "unknown")
    assert covey("budget", "set", "--tasks", "-1").code == 2
    for number in ("nan", "inf", "1e400"):
        endless = covey("budget", "set", "--usd", number, "--json")
        assert (endless.code, endless.json["field"]) == (2, "--usd"), "what JSON has no word for is not taken for nothing"


@rule("P3", "A2")
def test_the_file_configures_them_and_what_is_set_by_hand_goes_before_it(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text("[planning]\ntasks = 3\nusd = 1.5\n")
    assert covey("config", "apply").code == 0
    found = covey("budget", "show", "--json").json
    assert found["tasks"] == {"limit": 3, "source": "covey.toml"}
    assert (found["usd"]["limit"], found["turns"]["source"]) == (1.5, "default")
    covey("budget", "set", "--tasks", "9")
    (folder / "covey.toml").write_text("[planning]\ntasks = 4\n")
    covey("config", "apply")
    assert covey("budget", "show", "--json").json["tasks"] == {"limit": 9, "source": "operator"}
    (folder / "covey.toml").write_text('[planning]\ntasks = -1\nplanner = "nobody"\nfault = "x"\n')
    wrong = covey("config", "check", "--json")
    assert wrong.code == 2
    assert [fault["path"] for fault in wrong.json["faults"]] == ["planning.tasks", "planning.planner", "planning.fault"]


@rule("P1")
def test_a_template_file_with_faults_is_refused_or_used_without_them_and_each_is_named(covey: Covey, folder: Path) -> None:
    (folder / "mine.toml").write_text('[coder]\ngood = { text = "Read the news" }\nbad = { text = "Read", evry = "2h" }\n')
    (folder / "covey.toml").write_text('[planning]\ntemplates = "mine.toml"\n')
    for words in (("config", "check"), ("up", "--detach"), ("config", "apply")):
        refused = covey(*words)
        assert refused.code == 2, words
        assert 'line 3: coder.bad.evry: there is no key "evry"; did you mean "every"?' in refused.err
    (folder / "covey.toml").write_text('[planning]\ntemplates = "mine.toml"\nfaults = "skip"\n')
    used = covey("config", "check")
    assert used.code == 0
    assert f"left out of {folder / 'mine.toml'}: line 3: coder.bad.evry there is no key" in used.err
    assert covey("config", "check", "--json").json["templateFaults"][0]["line"] == 3
    (folder / "covey.toml").write_text('[planning]\ntemplates = "nowhere.toml"\n')
    assert "there is no file" in covey("config", "check").err
