"""The command line against a fleet that runs: started as a person starts it, and the same answers here and over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from covey.base.markers import NameLock, markers
from covey.base.processes import alive
from tests.cli.conftest import Covey
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, free_base_port, wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(180)]

BRAIN = """
def think(turn):
    return f"{turn.agent} did it" if turn.task is not None else f"{turn.agent} here"
"""
CONFIG = """# this fleet's own
[agents.chief]
[agents.coder]
[agents.intel]
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFleet]:
    """Three agents that run, started with --base-port."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "brain.py").write_text(BRAIN)
    (folder / "covey.toml").write_text(CONFIG.replace("]\n", ']\nbrain = "brain:think"\n'))
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")} | {
        "NO_COLOR": "1",
        "COVEY_LIMITS": "off",
        "COVEY_GATEWAY": "off",
    }
    found = RunningFleet(folder, free_base_port(), env)
    try:
        (folder / "up.json").write_text(found.covey("up", "--detach", "--json", "--base-port", str(found.base_port)).stdout)
        yield found
    finally:
        found.covey("down", check=False)
        left = [each for each in markers(folder / ".covey" / "run") if alive(each.identity)]
        for each in left:
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        assert not left, left


@pytest.fixture
def covey(fleet: RunningFleet, covey: Covey, monkeypatch: pytest.MonkeyPatch) -> Covey:
    """The command line in this process, in the folder of the fleet that runs."""
    monkeypatch.chdir(fleet.folder)
    return covey


@pytest.fixture(scope="module")
def url(fleet: RunningFleet) -> str:
    """Where its API answers."""
    return f"http://127.0.0.1:{fleet.base_port}"


def pids(fleet: RunningFleet) -> dict[str, int]:
    """Which process each name is now."""
    return {each.name: each.pid for each in markers(fleet.folder / ".covey" / "run")}


@rule("A7a")
def test_up_tells_where_all_answers_and_a_second_time_the_same(fleet: RunningFleet) -> None:
    first = json.loads((fleet.folder / "up.json").read_text())
    assert [each["name"] for each in first["addresses"]] == ["console", "chief", "coder", "intel"]
    assert all(each["ready"] for each in first["addresses"])
    before = pids(fleet)
    again = fleet.covey("up")
    assert f"http://127.0.0.1:{fleet.base_port + 1}" in again.stdout
    assert "runs already" in again.stdout
    assert fleet.json("up", "--detach")["addresses"] == first["addresses"]
    assert pids(fleet) == before


@rule("A10")
def test_a_part_that_runs_already_says_so_with_an_exit_code_of_its_own(fleet: RunningFleet) -> None:
    for words, env in ((("agent", "coder"), {}), (("agent",), {"AGENT_ID": "coder"}), (("controller",), {}), (("console",), {})):
        done = subprocess.run(
            [sys.executable, "-m", "covey", *words, "--base-port", str(fleet.base_port)],
            cwd=fleet.folder, env=fleet.env | env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 73, done.stderr
        assert done.stderr.count("runs already") == 1


@rule("A10")
def test_a_part_that_runs_already_and_is_started_with_other_settings_changes_nothing_of_the_fleet(fleet: RunningFleet) -> None:
    ports = [fleet.base_port + n for n in (1, 2, 3)]
    for words in (("agent", "coder"), ("controller",), ("console",)):
        assert fleet.covey(*words, check=False).returncode == 73
    assert [each["port"] for each in fleet.json("ps")["items"]] == ports
    assert fleet.covey("config", "diff").stdout.strip() == "nothing differs"
    assert fleet.covey("agent", "nobody", check=False).returncode == 4
    assert fleet.covey("agent", check=False).returncode == 2


def test_a_question_is_answered(covey: Covey) -> None:
    assert covey("ask", "coder", "who is there?").out == "coder here\n"
    found = covey("ask", "coder", "who is there?", "--from", "chief", "--json").json
    assert found["replies"][0]["content"]["body"] == "coder here"
    assert found["receipt"]["outcomes"]["coder"]["status"] == "delivered"


def test_a_question_that_nobody_answers_in_time_stands(covey: Covey) -> None:
    covey("pause", "intel")
    done = covey("ask", "intel", "well?", "--timeout", "0.3")
    assert done.code == 1
    assert "the question stands" in done.err
    covey("resume", "intel")
    wait_until(lambda: "intel here" in covey("inbox").out, 20, "no late answer came")


@rule("M7")
def test_a_question_that_was_given_up_is_no_answer_and_ends_with_1(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    covey("pause", "intel")
    monkeypatch.setenv("COVEY_WAIT_S", "0.2")
    done = covey("ask", "intel", "well, by now?", "--timeout", "30")
    covey("resume", "intel")
    assert (done.code, done.out) == (1, "")
    assert "intel did not answer" in done.err


@rule("K3")
def test_a_task_and_what_needs_it_are_done_in_order(covey: Covey) -> None:
    covey("task", "add", "intel", "collect", "--id", "figures", "--approval")
    covey("task", "add", "coder", "report", "--id", "report", "--needs", "figures")
    assert "figures" in covey("why", "report").out
    covey("approve", "figures")
    done = covey("task", "wait", "report", "--timeout", "30", "--json").json
    assert (done["state"], done["result"]["summary"]) == ("done", "coder did it")
    assert covey("task", "add", "coder", "more", "--wait", "--json").json["state"] == "done"


@pytest.mark.parametrize(
    "words",
    [
        ("ps",), ("status", "coder"), ("status", "nobody"), ("inbox",), ("inbox", "coder", "--limit", "1"), ("thread", "dm:coder:operator"),
        ("read", "hello"), ("read", "nosuch"), ("search", "hello"), ("dead",), ("task", "list"), ("task", "show", "said"), ("why", "said"),
        ("why", "hello"), ("why", "coder"), ("events", "--limit", "5"), ("events", "--kind", "task.", "--limit", "3"), ("project", "list"),
        ("send", "coder", "hello", "--id", "hello"), ("send", "codr", "hi"), ("send", "coder,nobody", "x", "--id", "both"),
        ("task", "add", "coder", "said", "--id", "said"), ("task", "cancel", "said"), ("task", "retry", "nosuch"), ("approve", "said"),
        ("restart", "nobody"), ("thread", "nosuch"), ("dead", "drop", "nosuch"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_answers_are_the_same_here_and_over_http(covey: Covey, url: str, words: tuple[str, ...]) -> None:
    covey("send", "coder", "hello", "--id", "hello")
    covey("send", "coder", "x", "--id", "both")
    covey("task", "add", "coder", "said", "--id", "said")
    covey("task", "wait", "said", "--timeout", "30")
    wait_until(lambda: covey("read", "hello", "--json").json["items"][0]["state"] == "handled", 30, "it is not handled")
    here = covey(*words, "--json")
    there = covey(*words, "--json", "--url", url)
    assert (there.code, there.err) == (here.code, here.err)
    assert settled(json.loads(there.out)) == settled(json.loads(here.out))


def test_what_serves_beside_the_agents_is_told_here_and_over_http(covey: Covey, url: str) -> None:
    for where in ((), ("--url", url)):
        assert covey("ps", "--json", *where).json["servers"][0]["port"] == int(url.rpartition(":")[2])
        assert "beside them: console (pid " in covey("ps", *where).out


def settled(value: Any) -> Any:
    """The answer without what moves on by itself."""
    if isinstance(value, dict):
        moving = ("lastHeartbeat", "status", "sentence", "timestamp", "retryAt", "unread", "messagesHandled", "lastActiveTime", "facts")
        return {key: settled(each) for key, each in value.items() if key not in moving}
    return [settled(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("serves", [True, False], ids=["beside it", "nowhere"])
def test_join_asks_a_fleet_elsewhere_where_its_gateway_serves(
    fleet: RunningFleet, covey: Covey, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serves: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("COVEY_TOKEN", covey("token", "show", "coder").out.strip())
    lock = NameLock(fleet.folder / ".covey" / "run" / "gateway.lock")
    if serves:
        assert lock.take("gateway", 36123)
    try:
        done = covey("join", "codex", "--as", "coder", "--url", url, "--json")
    finally:
        lock.release()
    assert done.code == 0, done.err
    assert done.json["mcp"] == f"http://127.0.0.1:{36123 if serves else 8900}/mcp"


def test_a_token_of_an_agent_acts_for_it_over_http(fleet: RunningFleet, covey: Covey, url: str) -> None:
    assert (
        covey("send", "chief", "hi", "--from", "coder", "--id", "c1", "--url", url, "--json").json["outcomes"]["chief"]["status"]
        == "delivered"
    )
    assert covey("read", "c1", "--json").json["items"][0]["from"] == "coder"
    token = covey("token", "show", "intel").out.strip()
    words = [sys.executable, "-m", "covey", "send", "chief", "hi", "--id", "c2", "--json"]
    env = fleet.env | {"COVEY_URL": url, "COVEY_TOKEN": token, "COVEY_AGENT": "intel"}
    done = subprocess.run(words, cwd=fleet.folder, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["status"] == "delivered"
    assert covey("read", "c2", "--json").json["items"][0]["from"] == "intel"
    wrong = subprocess.run(
        words, cwd=fleet.folder, env=env | {"COVEY_TOKEN": "x" * 40}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (wrong.returncode, json.loads(wrong.stdout)["code"]) == (3, "unauthorized")


@pytest.mark.parametrize("there", [False, True], ids=["here", "over http"])
def test_events_are_followed_as_they_happen(fleet: RunningFleet, covey: Covey, url: str, tmp_path: Path, there: bool) -> None:
    words = ["events", "-f", "--json", "--kind", "message.sent", *(["--url", url] if there else [])]
    said = tmp_path / "said"
    with said.open("w") as out:
        follower = subprocess.Popen([sys.executable, "-u", "-m", "covey", *words], cwd=fleet.folder, env=fleet.env, stdout=out)
    try:

        def heard() -> bool:
            covey("send", "chief", "listen")
            return said.read_text().count("\n") >= 2

        wait_until(heard, 40, lambda: f"nothing was told: {said.read_text()}")
        follower.send_signal(signal.SIGINT)
        assert follower.wait(timeout=20) == 130
        told = [json.loads(line) for line in said.read_text().splitlines()]
        assert {(each["kind"], each["head"]) for each in told} == {("message.sent", "listen")}
    finally:
        follower.kill()
        follower.wait()


@pytest.mark.parametrize(("words", "looks"), [(["--json"], '{"items"'), ([], "AGENT ")], ids=["for programs", "for people"])
def test_the_agents_are_watched_until_interrupted(fleet: RunningFleet, tmp_path: Path, words: list[str], looks: str) -> None:
    said = tmp_path / "said"
    with said.open("w") as out:
        command = [sys.executable, "-u", "-m", "covey", "ps", "--watch", "0.5", *words]
        watcher = subprocess.Popen(command, cwd=fleet.folder, env=fleet.env, stdout=out)
    try:
        wait_until(lambda: said.read_text().count(looks) >= 3, 40, lambda: f"it was not told again: {said.read_text()}")
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(timeout=20) == 130
        assert "\x1b" not in said.read_text(), "a file gets no signs for a terminal"
    finally:
        watcher.kill()
        watcher.wait()


@rule("A2")
def test_a_change_of_the_configuration_starts_anew_only_who_must(fleet: RunningFleet, covey: Covey) -> None:
    before = pids(fleet)
    file = fleet.folder / "covey.toml"
    file.write_text(
        file.read_text().replace("[agents.coder]", '[agents.coder]\nenv = { NEW = "1" }') + '\n[agents.tester]\nbrain = "brain:think"\n'
    )
    assert covey("config", "diff", "--json").json["restarts"] == ["coder"]
    done = covey("config", "apply", "--json").json
    assert (done["restarts"], done["starts"], done["ends"]) == (["coder"], ["tester"], [])
    wait_until(lambda: "tester" in pids(fleet) and pids(fleet).get("coder") not in (None, before["coder"]), 30, "nothing started anew")
    assert covey("ask", "tester", "there?").out == "tester here\n"
    assert covey("ask", "coder", "there?").out == "coder here\n"
    same = {name: pid for name, pid in pids(fleet).items() if name not in ("coder", "tester")}
    assert same == {name: before[name] for name in same}
    assert len(same) == 4
    assert file.read_text().startswith("# this fleet's own")


def test_a_removed_agents_work_goes_to_its_heir_and_its_process_ends(fleet: RunningFleet, covey: Covey) -> None:
    covey("pause", "intel")
    covey("task", "add", "intel", "left over", "--id", "left")
    covey("send", "intel", "unread", "--id", "unread")
    refused = covey("config", "remove-agent", "intel")
    assert refused.code == 3
    assert "intel has 1 open task and 1 unread message" in refused.err
    assert covey("status", "intel").code == 0
    assert covey("config", "remove-agent", "intel", "--tasks-to", "chief", "--json").json["ends"] == ["intel"]
    wait_until(lambda: "intel" not in pids(fleet), 30, "intel runs on")
    assert covey("task", "wait", "left", "--timeout", "30", "--json").json["result"]["summary"] == "chief did it"
    wait_until(lambda: covey("read", "unread", "--json").json["items"][0]["state"] == "handled", 30, "its mail is not handled")
    assert covey("read", "unread", "--json").json["items"][0]["receiver"] == "chief"


def test_what_needs_a_restart_of_all_is_said_and_not_done(fleet: RunningFleet, covey: Covey) -> None:
    before = pids(fleet)
    file = fleet.folder / "covey.toml"
    kept = file.read_text()
    file.write_text('[fleet]\ndurability = "normal"\n' + kept)
    done = covey("config", "apply", "--json").json
    assert (done["atNextStart"], done["restarts"]) == (["durability"], [])
    assert "only after `covey down` and `covey up`: durability" in covey("config", "diff").out
    assert pids(fleet) == before
    file.write_text(kept)


def test_a_rotated_token_holds_and_the_agent_starts_anew_with_it(fleet: RunningFleet, covey: Covey, url: str) -> None:
    before = pids(fleet)["chief"]
    covey("token", "rotate", "chief")
    wait_until(lambda: pids(fleet).get("chief") not in (None, before), 30, "chief did not start anew")
    assert covey("send", "coder", "hi", "--from", "chief", "--url", url).code == 0


def test_doctor_finds_a_running_fleet_well(covey: Covey) -> None:
    done = covey("doctor")
    assert done.code == 0, done.out
    assert "it runs: the node" in done.out


def test_logs_show_what_happened_to_an_agent(covey: Covey) -> None:
    wait_until(lambda: "agent.started" in covey("logs", "coder").out, 20, "its log is empty")
    assert "agent.started" in "".join(covey("logs", "coder", "--json").json["lines"])
    assert covey("logs", "codr").code == 4


@rule("A10")
def test_a_taken_port_names_its_holder(fleet: RunningFleet, tmp_path: Path) -> None:
    base = free_base_port()
    with socket.create_server(("127.0.0.1", base + 2)):
        done = subprocess.run(
            [sys.executable, "-m", "covey", "up", "--detach", "--base-port", str(base), "--json"],
            cwd=tmp_path, env=fleet.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    problem = json.loads(done.stdout)
    assert (done.returncode, problem["code"]) == (1, "port_taken")
    assert str(base + 2) in problem["detail"]
    assert str(os.getpid()) in problem["detail"]
    assert not markers(tmp_path / ".covey" / "run")


def test_down_leaves_nothing_and_up_goes_on(fleet: RunningFleet, covey: Covey) -> None:
    assert covey("down", "--json").json == {"stopped": True}
    assert pids(fleet) == {}
    assert covey("ask", "chief", "hi").code == 5
    covey("send", "chief", "waits", "--id", "waits")
    fleet.up("--base-port", str(fleet.base_port))
    wait_until(lambda: covey("read", "waits", "--json").json["items"][0]["state"] == "handled", 40, "it is not handled")
    fleet.down()
