"""Mail on the command line, while no agent runs."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Covey
from tests.rules import rule


@rule("M4a")
def test_a_sent_message_is_delivered_and_lies_in_its_mailbox(covey: Covey) -> None:
    sent = covey("send", "chief", "the build is red", "--subject", "build", "--priority", "high", "--json")
    assert sent.code == 0
    assert sent.json["outcomes"]["chief"]["status"] == "delivered"
    (mail,) = covey("inbox", "chief", "--json").json["items"]
    assert (mail["content"]["body"], mail["priority"], mail["from"]) == ("the build is red", "high", "operator")
    assert "on disk" in covey("send", "chief", "again").out


@rule("M4c")
def test_an_unknown_receiver_is_not_found_and_the_nearest_are_named(covey: Covey) -> None:
    ended = covey("send", "chef", "hi", "--json")
    assert ended.code == 4
    assert ended.json["code"] == "unknown"
    assert "chief" in ended.json["nearest"]
    assert "chief" in covey("send", "chef", "hi").err


@rule("T3")
def test_the_same_id_twice_is_the_same_message_and_a_strangers_id_is_refused(covey: Covey) -> None:
    covey("send", "chief", "hi", "--id", "mine")
    again = covey("send", "chief", "hi", "--id", "mine", "--json")
    assert (again.code, again.json["known"], again.json["differs"]) == (0, True, False)
    assert covey("send", "chief", "other", "--id", "mine", "--json").json["differs"] is True
    assert covey("send", "chief", "hi", "--id", "mine", "--from", "coder").code == 3
    assert len(covey("inbox", "chief", "--json").json["items"]) == 1


@rule("M6")
def test_several_receivers_each_have_an_outcome_and_one_refused_stops_no_other(covey: Covey) -> None:
    sent = covey("send", "chief,nobody", "hi", "--json")
    assert sent.code == 0
    assert {name: each["status"] for name, each in sent.json["outcomes"].items()} == {"chief": "delivered", "nobody": "unknown"}
    assert len(covey("send", "*", "hi", "--json").json["outcomes"]) == 8
    assert covey("send", "nobody,nowhere", "hi").code == 4
    assert covey("send", "nobody,coder", "hi", "--from", "coder").code == 3


@rule("M11")
def test_an_agent_is_acted_for_by_its_own_token(covey: Covey) -> None:
    covey("send", "chief", "hi", "--from", "coder")
    assert covey("inbox", "chief", "--json").json["items"][0]["from"] == "coder"
    assert covey("send", "chief", "hi", "--from", "nobody").code == 4


@rule("M7")
def test_a_deadline_asks_for_a_response_by_store_time(covey: Covey) -> None:
    before = time.time()
    covey("send", "chief", "well?", "--deadline", "120")
    content = covey("inbox", "chief", "--json").json["items"][0]["content"]
    assert content["requiresResponse"] is True
    assert before + 119 < content["deadline"] < time.time() + 121


def test_a_text_can_come_from_standard_input(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * 200_000))
    assert covey("send", "chief", "-").code == 0
    assert len(covey("inbox", "chief", "--json").json["items"][0]["content"]["body"]) == 200_000


@rule("M10")
@pytest.mark.parametrize(
    ("text", "code"),
    [("", "invalid"), ("x\0y", "invalid"), ("\udcff", "invalid"), ("x" * 300_000, "too-large")],
    ids=["empty", "nul", "latin-1", "long"],
)
def test_a_text_that_can_not_be_stored_is_refused(covey: Covey, text: str, code: str) -> None:
    ended = covey("send", "chief", text, "--json")
    assert (ended.code, ended.json["code"], ended.json["field"]) == (2, code, "content.body")
    assert covey("inbox", "chief", "--json").json["items"] == []


@rule("M10")
@pytest.mark.parametrize("word", ["", "coder/inbox", "../agents", "a b", "x" * 129])
@pytest.mark.parametrize(
    ("command", "field"),
    [
        ("status", "agent"),
        ("inbox", "agent"),
        ("restart", "agent"),
        ("thread", "id"),
        ("why", "id"),
        ("task show", "id"),
        ("approve", "id"),
    ],
)
def test_what_is_no_name_and_no_id_is_refused_and_leads_to_no_other_path(covey: Covey, command: str, field: str, word: str) -> None:
    ended = covey(*command.split(), word, "--json")
    assert (ended.code, ended.json["code"], ended.json["field"]) == (2, "invalid", field)


@pytest.mark.parametrize("command", ["status", "stop", "pause", "resume", "inbox", "context show", "logs"])
def test_an_agent_that_is_not_there_is_said_to_be_the_one_in_the_words(covey: Covey, command: str) -> None:
    ended = covey(*command.split(), "nobody", "--json")
    assert (ended.code, ended.json["code"], ended.json["field"]) == (4, "unknown", "agent")


def test_a_question_to_a_fleet_that_is_down_is_not_sent(covey: Covey) -> None:
    ended = covey("ask", "chief", "well?", "--json")
    assert ended.code == 5
    assert ended.json["code"] == "not_running"
    assert covey("inbox", "chief", "--json").json["items"] == []


@rule("M13")
def test_a_thread_is_shown_in_order_and_a_message_whole(covey: Covey) -> None:
    for text in ("one", "two"):
        covey("send", "chief", text, "--thread", "plan")
    shown = covey("thread", "plan").out
    assert shown.index("one") < shown.index("two")
    ident = covey("thread", "plan", "--json").json["items"][0]["messageId"]
    assert "delivered" in covey("read", ident).out
    assert covey("read", ident, "--json").json["items"][0]["state"] == "delivered"
    assert covey("thread", "none").code == 4
    assert covey("read", "msg_none").code == 4


def test_lists_go_on_from_a_cursor(covey: Covey) -> None:
    for number in range(3):
        covey("send", "chief", f"number {number}")
    first = covey("inbox", "chief", "--limit", "2", "--json").json
    rest = covey("inbox", "chief", "--limit", "2", "--cursor", first["cursor"], "--json").json
    assert [each["content"]["body"] for each in first["items"] + rest["items"]] == ["number 2", "number 1", "number 0"]
    assert f"--cursor {first['cursor']}" in covey("inbox", "chief", "--limit", "2").out


def test_there_are_no_dead_letters_and_that_is_said(covey: Covey) -> None:
    assert "no dead letters" in covey("dead").out
    assert covey("dead", "--json").json["items"] == []
    assert covey("dead", "requeue", "msg_none").code == 4
    assert covey("dead", "--json", "drop", "msg_none").json["code"] == "not_found"
    assert covey("search", "nothing", "--json").json["items"] == []


def test_what_others_wrote_can_not_steer_the_terminal(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "red \x1b[31m alert\x07", "--thread", "t")
    for words in (("inbox", "chief"), ("thread", "t")):
        assert "\x1b" not in covey(*words).out
