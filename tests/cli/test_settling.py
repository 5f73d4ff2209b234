"""init, config, project and token on the command line, while the fleet is down."""

from __future__ import annotations

import stat
from pathlib import Path

from covey.base.config.template import TEMPLATE
from tests.cli.conftest import Covey
from tests.rules import rule


def text(folder: Path) -> str:
    """What covey.toml says."""
    return (folder / "covey.toml").read_text()


def change(folder: Path, before: str, after: str) -> None:
    """Edit covey.toml by hand."""
    assert before in text(folder)
    (folder / "covey.toml").write_text(text(folder).replace(before, after))


def test_init_writes_the_template_and_overwrites_nothing(covey: Covey, folder: Path) -> None:
    assert covey("init", "fleet", "--json").json["file"] == str(folder / "fleet" / "covey.toml")
    assert text(folder / "fleet") == TEMPLATE
    (folder / "fleet" / "covey.toml").write_text("# mine\n")
    assert covey("init", "fleet").code == 3
    assert text(folder / "fleet") == "# mine\n"
    assert covey("init", "fleet", "--force").code == 0
    assert text(folder / "fleet") == TEMPLATE
    assert covey("--dir", "fleet", "config", "check").code == 0


@rule("A2")
def test_config_check_tells_every_fault_with_its_line(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text('[fleet]\nlease_s = "long"\n\n[agents.coder]\nport = 99999\nbrian = "rules"\n')
    ended = covey("config", "check")
    assert ended.code == 2
    assert all(f"line {number}" in ended.err for number in (2, 5, 6))
    assert [fault["line"] for fault in covey("config", "check", "--json").json["faults"]] == [2, 5, 6]
    for words in (("ps",), ("up", "--detach"), ("send", "coder", "hi")):
        assert covey(*words).code == 2


def test_config_check_and_show_of_the_default_fleet(covey: Covey) -> None:
    assert "8 agents" in covey("config", "check").out
    assert covey("config", "check", "--json").json == {"ok": True, "file": None, "agents": 8}
    assert "[agents.chief]" in covey("config", "show").out
    assert covey("config", "show", "--json", "--base-port", "9100").json["agents"]["chief"]["port"] == 9101


def test_what_is_secret_is_not_shown(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text('[fleet]\nstore = "postgresql://me:hidden@db/covey"\n[agents.one]\nenv = { KEY = "hidden" }\n')
    for words in (("config", "show"), ("config", "show", "--json")):
        shown = covey(*words)
        assert shown.code == 0
        assert "hidden" not in shown.out


def test_changes_are_told_and_applied_once(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("ps")
    covey("config", "apply")
    change(folder, "[agents.coder]", "[agents.tester]\n\n[agents.coder]")
    told = covey("config", "diff", "--json").json
    assert [(each["how"], each["section"], each["name"]) for each in told["changes"]] == [("added", "agents", "tester")]
    assert "tester" not in covey("ps").out
    assert "tester" in covey("config", "apply").out
    assert "tester" in covey("ps").out
    assert covey("config", "diff", "--json").json["changes"] == []
    assert covey("send", "tester", "hi", "--from", "coder").code == 0


@rule("A2")
def test_an_agent_with_open_work_is_removed_only_with_an_heir(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("task", "add", "intel", "collect", "--id", "figures")
    covey("send", "intel", "hi")
    before = text(folder)
    ended = covey("config", "remove-agent", "intel", "--json")
    assert ended.code == 3
    assert "1 open task and 1 unread message" in ended.json["detail"]
    assert text(folder) == before
    assert covey("config", "remove-agent", "intel", "--tasks-to", "nobody").code == 4
    assert covey("config", "remove-agent", "intle").code == 4
    done = covey("config", "remove-agent", "intel", "--tasks-to", "chief", "--json").json
    assert done["handedOver"] == {"tasks": 1, "messages": 1}
    assert "agents.intel" not in text(folder)
    assert "# Projects:" in text(folder)
    assert covey("task", "show", "figures", "--json").json["agent"] == "chief"
    assert covey("send", "intel", "hi").code == 4


def test_an_agent_taken_out_by_hand_keeps_the_fleet_from_starting_while_it_has_work(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text("[agents.one]\n[agents.two]\n")
    covey("config", "apply")
    covey("task", "add", "two", "something")
    (folder / "covey.toml").write_text("[agents.one]\n")
    for words in (("config", "apply"), ("up", "--detach", "--base-port", "21500")):
        ended = covey(*words)
        assert ended.code == 3
        assert "two has 1 open task" in ended.err
        assert "two" in covey("config", "diff").out
    assert covey("config", "apply", "--tasks-to", "one").code == 0


@rule("A1b")
def test_a_project_is_written_with_the_comments_kept_and_applied(covey: Covey, folder: Path) -> None:
    (folder / "site").mkdir()
    assert covey("project", "add", "website", "site", "--agents", "coder,comms").code == 0
    assert "# Projects:" in text(folder)
    assert 'path = "site"' in text(folder)
    (found,) = covey("project", "list", "--json").json["items"]
    assert found == {"name": "website", "path": str(folder / "site"), "agents": ["coder", "comms"]}
    assert "website" in covey("project", "list").out
    assert covey("send", "coder", "hi").code == 0
    assert covey("project", "remove", "websit").code == 4
    assert covey("project", "remove", "website").code == 0
    assert covey("project", "list", "--json").json["items"] == []


def test_a_project_that_the_file_refuses_changes_nothing(covey: Covey, folder: Path) -> None:
    assert covey("project", "add", "website", "site", "--agents", "nobody").code == 2
    assert not (folder / "covey.toml").exists()
    covey("init")
    assert covey("project", "add", "a b", "site").code == 2
    assert text(folder) == TEMPLATE


def test_a_path_outside_of_the_folder_is_written_whole(covey: Covey, folder: Path) -> None:
    (folder / "fleet").mkdir()
    covey("--dir", "fleet", "project", "add", "near", "fleet/inside")
    covey("--dir", "fleet", "project", "add", "far", "outside")
    assert 'path = "inside"' in text(folder / "fleet")
    assert f'path = "{folder / "outside"}"' in text(folder / "fleet")


def test_a_token_is_shown_on_request_and_the_old_one_is_void_after_a_rotation(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    old = covey("token", "show", "coder").out.strip()
    assert covey("token", "show", "coder", "--json").json == {"name": "coder", "token": old}
    rotated = covey("token", "rotate", "coder")
    new = covey("token", "show", "coder").out.strip()
    assert new != old
    assert new not in rotated.out
    file = folder / ".covey" / "tokens.toml"
    assert new in file.read_text()
    assert old not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert covey("send", "chief", "hi", "--from", "coder").code == 0
    assert covey("token", "show", "codr").code == 4
    assert covey("token", "rotate", "nobody", "--json").json["code"] == "not_found"
    kinds = [each["kind"] for each in covey("events", "--kind", "agent.restart_asked,token.changed", "--json").json["items"]]
    assert set(kinds) == {"token.changed"}, "nobody is asked where no node runs"
    assert "nothing was started anew: the fleet is down" in rotated.out
    assert "`covey up`" in covey("token", "rotate", "coder", "--json").json["detail"]
    assert "nothing" not in covey("token", "rotate", "operator").out
