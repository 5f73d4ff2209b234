"""`covey buddy`: who watches whom, and a look after one agent; the same over the API."""

from __future__ import annotations

from tests.cli.conftest import Covey
from tests.rules import rule
from tests.scenarios.conftest import free_base_port


@rule("B1")
def test_a_list_says_who_watches_whom(covey: Covey) -> None:
    found = covey("buddy", "list", "--json")
    assert found.code == 0
    pairs = {each["agentId"]: (each["buddyId"], each["watchedBy"]) for each in found.json["items"]}
    assert pairs["chief"] == ("ops", ["ops"])
    assert len(pairs) == 8
    said = covey("buddy", "list").out
    assert "chief" in said
    assert "never" in said


@rule("B1")
def test_an_agent_alone_has_the_operator_and_the_controller(covey: Covey, folder: object) -> None:
    from pathlib import Path

    (Path(str(folder)) / "covey.toml").write_text("[agents.solo]\n")
    found = covey("buddy", "list", "--json").json["items"]
    assert [(each["agentId"], each["buddyId"], each["watchedBy"]) for each in found] == [("solo", "operator", [])]
    assert "the controller does" in covey("buddy", "list").out
    assert covey("status", "solo", "--json").json["buddyId"] == "operator"


@rule("B2", "B3")
def test_an_agent_that_does_not_run_does_not_answer(covey: Covey) -> None:
    port = str(free_base_port())
    found = covey("buddy", "check", "coder", "--json", "--base-port", port)
    assert found.code == 1
    assert (found.json["answered"], found.json["reason"], found.json["todo"]) == (False, "no answer", "well")
    said = covey("buddy", "check", "coder", "--base-port", port)
    assert said.code == 1
    assert "coder does not answer (no answer)" in said.out
    assert "refused" in said.out
    events = covey("events", "--json").out
    assert "buddy.missed" in events
    assert "restart_asked" not in events


def test_wrong_words_are_told(covey: Covey) -> None:
    assert covey("buddy", "check", "codr").code == 4
    assert "coder" in covey("buddy", "check", "codr").err
    assert covey("buddy", "check").code == 2
    assert covey("buddy", "lst").code == 2
