"""What only reads makes nothing: no folder, no store, no token, where there is no fleet yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.cli import cli
from covey.cli.reach import Reach
from tests.cli.conftest import Covey
from tests.cli.test_words import leaves
from tests.postgres import Databases

READS = (
    "backup fleet.tar.gz",
    "buddy list",
    "completion bash",
    "config check",
    "config diff",
    "config show",
    "context recall coder word",
    "context show coder",
    "db backup store.backup",
    "db check",
    "db vacuum",
    "dead",
    "deferred list",
    "doctor",
    "down",
    "events",
    "export everything",
    "handoff list",
    "inbox coder",
    "incident list",
    "incident show incident_1",
    "install-service",
    "link list",
    "link show coder sales",
    "listen coder --timeout 0.1",
    "logs coder",
    "node list",
    "project list",
    "ps",
    "read msg_1",
    "search word",
    "status coder",
    "task list",
    "task show task_1",
    "task wait task_1 --timeout 0.1",
    "team list",
    "team show run_1",
    "thread dm:coder:sales",
    "threads paused",
    "token show operator",
    "uninstall",
    "upgrade",
    "version",
    "vote list",
    "vote show vote_1",
    "vote wait vote_1 --timeout 0.1",
    "webhook list",
    "budget show",
    "why coder",
)
MAKES = (
    "agent", "approve", "ask", "buddy check", "budget set", "config apply", "config remove-agent", "console", "context compress", "controller",
    "dead drop", "dead requeue", "deferred cancel", "deferred release", "db migrate", "gateway", "handoff accept", "handoff decline",
    "handoff offer", "hook", "import", "incident close", "init", "join", "leave", "link add", "link disable", "link enable", "link remove",
    "link set", "mcp", "pause", "project add", "project remove", "refuse", "restart", "restore", "resume", "send", "stop", "task add",
    "task cancel", "task reassign", "task retry", "task split", "team cancel", "team run", "threads resume", "token rotate", "up", "vote argue",
    "vote cast", "vote close", "vote next", "vote open", "webhook retry", "webhook test",
)  # fmt: skip


@pytest.mark.parametrize("words", READS)
def test_a_command_that_reads_makes_nothing_where_there_is_no_fleet(words: str, covey: Covey, folder: Path) -> None:
    ended = covey(*words.split(), "--dir", "elsewhere")
    assert ended.code in (0, 1, 4), ended
    assert list(folder.rglob("*")) == []


def test_of_each_command_it_is_said_whether_it_only_reads() -> None:
    groups = {"buddy", "budget", "config", "context", "db", "deferred", "handoff", "incident", "link", "node", "project", "task", "team"}
    groups |= {"threads", "token", "vote", "webhook"}
    reads = {" ".join(line.split()[: 2 if line.split()[0] in groups else 1]) for line in READS}
    there = {path.removeprefix("covey ") for path, _ in leaves(cli)} - groups
    assert there == reads | set(MAKES)


def test_where_there_is_no_fleet_one_reads_what_it_would_be(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text("[agents.wren]\n[agents.lark]\n")
    assert [agent["agentId"] for agent in covey("ps", "--json").json["items"]] == ["wren", "lark"]
    assert [path.name for path in folder.rglob("*")] == ["covey.toml"]


def test_whoever_looks_again_and_again_sees_the_fleet_that_was_made_meanwhile(covey: Covey, folder: Path) -> None:
    with Reach(home=folder) as looking:
        assert looking.get("/api/v1/agents/coder/inbox")["items"] == []
        assert covey("send", "coder", "are you there?").code == 0
        assert [mail["content"]["body"] for mail in looking.get("/api/v1/agents/coder/inbox")["items"]] == ["are you there?"]


def test_what_one_command_reads_and_then_makes_stays(covey: Covey, folder: Path) -> None:
    with Reach(home=folder) as reach:
        reach.get("/api/v1/agents")
        reach.post("/api/v1/messages", {"to": "coder", "content": {"body": "stay"}})
    assert "stay" in covey("inbox", "coder").out


def test_what_reads_gives_a_fleet_on_a_server_no_new_tokens(
    postgres: Databases, covey: Covey, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.fresh() as url:
        monkeypatch.setenv("COVEY_STORE", url)
        assert covey("send", "coder", "hello").code == 0
        ended = covey("ps", "--dir", "elsewhere")
        assert ended.code == 4
        assert "no tokens of the fleet" in ended.err
        assert not (folder / "elsewhere").exists()
        assert covey("ps").code == 0
