"""Tasks, approvals, why and the fleet's story on the command line, while no agent runs."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Covey
from tests.rules import rule


@rule("K3")
def test_a_task_that_needs_another_waits_for_it(covey: Covey) -> None:
    assert covey("task", "add", "intel", "collect", "--id", "figures", "--json").json["state"] == "queued"
    added = covey("task", "add", "finance", "report", "--needs", "figures", "--id", "report")
    assert "blocked" in added.out
    assert "needs: figures" in added.out
    assert covey("task", "show", "report", "--json").json["dependencies"] == ["figures"]
    assert covey("task", "add", "finance", "x", "--needs", "nosuch").code in (2, 4)


@rule("K8")
def test_why_says_what_a_task_waits_for(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    covey("task", "add", "finance", "report", "--needs", "figures", "--id", "report")
    assert "figures" in covey("why", "report").out
    assert "figures" in covey("why", "report", "--json").json["sentence"]
    assert covey("why", "nosuch").code == 4


@rule("T3")
def test_the_same_task_twice_is_one(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    assert "there already" in covey("task", "add", "intel", "collect", "--id", "figures").out
    assert "differs" in covey("task", "add", "intel", "other", "--id", "figures").out
    assert len(covey("task", "list", "--json").json["items"]) == 1


@rule("K1")
def test_a_move_that_the_table_does_not_have_is_refused_by_a_rule(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    assert covey("task", "cancel", "figures", "--reason", "no longer needed", "--json").json["state"] == "cancelled"
    ended = covey("task", "retry", "figures", "--json")
    assert (ended.code, ended.json["code"]) == (3, "illegal_move")
    assert "no longer needed" in covey("task", "show", "figures").out


def test_a_task_is_reassigned_split_and_listed(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    assert covey("task", "reassign", "figures", "finance", "--json").json["agent"] == "finance"
    parts = covey("task", "split", "figures", "here", "there", "--json").json["items"]
    assert {(each["agent"], each["parentId"]) for each in parts} == {("finance", "figures")}
    assert len(covey("task", "list", "--state", "open", "--agent", "finance", "--json").json["items"]) == 3
    assert "figures" in covey("task", "list").out
    assert covey("task", "reassign", "figures", "nobody").code == 4
    assert covey("task", "list", "--state", "odd").code == 2


def test_a_task_for_a_capability_is_split_among_the_same(covey: Covey) -> None:
    covey("task", "add", "@code", "write it", "--id", "it")
    parts = covey("task", "split", "it", "one", "two", "--json").json["items"]
    assert [each["capability"] for each in parts] == ["code", "code"]


@rule("K5a")
def test_the_operator_approves_or_refuses(covey: Covey) -> None:
    for name in ("one", "two"):
        assert covey("task", "add", "devops", "deploy", "--approval", "--id", name, "--json").json["state"] == "blocked"
    assert covey("approve", "one", "--json").json["state"] == "queued"
    refused = covey("refuse", "two", "--reason", "too dear")
    assert "cancelled" in refused.out
    assert "too dear" in refused.out
    assert covey("approve", "one").code == 3


def test_waiting_ends_with_the_time_or_the_task(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    ended = covey("task", "wait", "figures", "--timeout", "0.2")
    assert ended.code == 1
    assert "has not ended" in ended.err
    covey("task", "cancel", "figures")
    ended = covey("task", "wait", "figures", "--json")
    assert (ended.code, ended.json["state"]) == (1, "cancelled")
    assert covey("task", "wait", "nosuch").code == 4


def test_events_are_told_in_order_and_go_on_from_a_cursor(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures")
    covey("task", "cancel", "figures")
    page = covey("events", "--kind", "task.", "--json").json
    assert [each["kind"] for each in page["items"]] == ["task.added", "task.cancelled"]
    rest = covey("events", "--kind", "task.", "--since", page["items"][0]["cursor"], "--json").json
    assert [each["kind"] for each in rest["items"]] == ["task.cancelled"]
    assert "task.cancelled" in covey("events").out
    assert covey("events", "--since", "yesterday").code == 2
    few = covey("events", "--kind", "task.", "--since", "0", "--limit", "1", "--json").json
    assert [each["kind"] for each in few["items"]][:1] == ["task.added"]


def test_without_a_cursor_the_last_events_are_told_and_that_there_are_more(covey: Covey) -> None:
    for number in range(3):
        covey("task", "add", "intel", "collect", "--id", f"t{number}")
    last = covey("events", "--kind", "task.", "--limit", "2")
    assert [line.split()[-1] for line in last.out.splitlines()[:1]] == ["0"], "the way to all of them is said"
    assert "the last 2;" in last.out
    assert ["t1" in last.out, "t2" in last.out, "t0" in last.out] == [True, True, False]
    assert "the last" not in covey("events", "--kind", "task.", "--limit", "3").out
    page = covey("events", "--kind", "task.", "--limit", "2", "--json").json
    assert [each["subject"] for each in page["items"]] == ["t1", "t2"]
    covey("task", "cancel", "t1")
    more = covey("events", "--since", page["cursor"], "--json").json
    assert [each["kind"] for each in more["items"]] == ["task.cancelled"], "one reads on from there"


def test_the_agents_are_shown_and_their_flags_set(covey: Covey) -> None:
    assert [each["agentId"] for each in covey("ps", "--json").json["items"]][:2] == ["chief", "coder"]
    assert "chief" in covey("ps").out
    assert covey("pause", "coder", "--json").json["agents"] == ["coder"]
    assert "paused" in covey("status", "coder").out
    assert covey("status", "coder", "--json").json["flags"]["paused"] is True
    assert len(covey("stop", "--all", "--json").json["agents"]) == 8
    covey("resume", "coder")
    assert covey("status", "coder", "--json").json["flags"]["stopped"] is False
    assert len(covey("resume", "--all", "--json").json["agents"]) == 8
    assert covey("status", "nobody").code == 4
    assert covey("stop").code == 2
    assert covey("stop", "coder", "--all").code == 2
    down = covey("restart", "coder", "--json")
    assert (down.code, down.json["code"]) == (5, "not_running")


@pytest.mark.parametrize(("option", "field"), [("--estimate", "estimatedSeconds"), ("--max-attempts", "--max-attempts")])
def test_nought_is_a_number_that_was_given(covey: Covey, option: str, field: str) -> None:
    ended = covey("task", "add", "coder", "Run the tests", option, "0", "--json")
    assert (ended.code, ended.json["field"]) == (2, field)
    assert covey("task", "list", "--json").json["items"] == []


def test_only_the_lead_and_the_operator_may_stop_others(covey: Covey) -> None:
    assert covey("stop", "coder", "--from", "sales").code == 3
    assert covey("stop", "coder", "--from", "chief").code == 0
