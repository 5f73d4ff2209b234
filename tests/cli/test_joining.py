"""join, leave and listen as a person calls them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from covey.cli.reach import Reach
from tests.cli.conftest import Covey
from tests.rules import rule


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home beside the fleet."""
    found = folder / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    for name in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return found


@rule("A5b")
def test_an_assistant_joins_as_a_new_external_agent_and_leaves(covey: Covey, folder: Path, home: Path) -> None:
    refused = covey("join", "claude", "--as", "reviewer")
    assert (refused.code, "--external" in refused.err) == (4, True)
    done = covey("join", "claude", "--as", "reviewer", "--external", "--json")
    assert done.code == 0, done.err
    assert done.json["mcp"] == "http://127.0.0.1:8900/mcp"
    assert 'brain = "external"' in (folder / "covey.toml").read_text()
    state = covey("status", "reviewer", "--json").json
    assert (state["brain"], state["flags"]["away"]) == ("external", True)
    started = covey("agent", "reviewer")
    assert (started.code, "it has no process of ours" in started.err) == (3, True)
    token = covey("token", "show", "reviewer").out.strip()
    assert token not in (home / ".claude.json").read_text() + (folder / ".claude/settings.local.json").read_text()
    program = shlex.split(json.loads((home / ".claude.json").read_text())["projects"][str(folder)]["mcpServers"]["covey"]["headersHelper"])
    shown = subprocess.run(program, capture_output=True, check=True, timeout=30, text=True).stdout
    assert json.loads(shown) == {"Authorization": f"Bearer {token}"}
    again = covey("join", "claude", "--as", "reviewer", "--external")
    assert (again.code, "covey leave claude --as reviewer" in again.out, "covey.toml" in again.out) == (0, True, False)
    left = covey("leave", "claude", "--as", "reviewer")
    assert (left.code, left.out.count("removed: ")) == (0, 2)
    assert not (home / ".claude.json").exists()
    assert not (folder / ".claude").exists()
    assert covey("leave", "claude", "--as", "reviewer").code == 4


@rule("A5b")
def test_who_joins_is_told_of_a_changed_covey_toml_and_of_a_gateway_that_does_not_run(covey: Covey, folder: Path, home: Path) -> None:
    done = covey("join", "claude", "--as", "coder", "--external", "--base-port", "9000")
    assert "tools at http://127.0.0.1:9900/mcp" in done.out
    assert f"{folder / 'covey.toml'} (coder's brain is external" in done.out
    assert (folder / "covey.toml").read_text().startswith("# covey.toml: what this fleet is.")
    assert 'pip install "covey[mcp]"' in done.err
    elsewhere = covey("join", "claude", "--as", "coder", "--gateway", "http://127.0.0.1:9901")
    assert (elsewhere.code, elsewhere.err) == (0, "")


@rule("A5b")
def test_a_gateway_whose_address_is_ipv6_is_named_with_brackets(covey: Covey, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_HOST", "::1")
    assert covey("join", "codex", "--as", "coder", "--json").json["mcp"] == "http://[::1]:8900/mcp"
    monkeypatch.setenv("COVEY_TOKEN", "a token")
    monkeypatch.setattr(Reach, "get", lambda *_, **__: {"servers": [{"name": "gateway", "port": 9900}]})
    elsewhere = covey("join", "codex", "--as", "coder", "--url", "http://[2001:db8::7]:8000", "--json")
    assert (elsewhere.code, elsewhere.json["mcp"]) == (0, "http://[2001:db8::7]:9900/mcp")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("join", "cursor", "--as", "coder"), 2),
        (("join", "claude"), 2),
        (("join", "claude", "--as", "codar"), 4),
        (("join", "claude", "--as", "coder", "--name", "a b"), 2),
        (("join", "codex", "--as", "coder", "--env", "A-B"), 2),
        (("join", "claude", "--as", "coder", "--url", "http://127.0.0.1:9"), 2),
        (("leave", "claude", "--as", "../../x"), 4),
    ],
)
def test_wrong_words_are_refused_and_nothing_is_written(covey: Covey, home: Path, words: tuple[str, ...], code: int) -> None:
    found = covey(*words)
    assert found.code == code, found.err
    assert not list(home.rglob("*.json"))


def test_listen_ends_when_something_comes_and_says_what(covey: Covey, home: Path, folder: Path) -> None:
    assert covey("listen", "coder", "--timeout", "0.1").code == 1
    words = [sys.executable, "-m", "covey", "--dir", str(folder), "send", "coder", "wake up"]
    threading.Timer(0.2, lambda: subprocess.run(words, capture_output=True, check=True, timeout=30)).start()
    woken = covey("listen", "coder", "--timeout", "30", "--json")
    assert (woken.code, woken.json["unread"]) == (0, 1)
    assert "wake up" in woken.json["text"]
    assert covey("listen", "coder", "--timeout", "0.1", "--after", woken.json["mark"]).code == 1
    assert "wake up" in covey("listen", "coder").out


def test_hook_without_a_seat_says_how_it_is_meant(covey: Covey) -> None:
    assert covey("hook").code == 2
    assert "covey join" in covey("hook", "--help").out


def test_join_writes_a_hook_that_can_be_run_from_anywhere(covey: Covey, home: Path, folder: Path) -> None:
    assert covey("join", "codex", "--as", "coder").code == 0
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    program, word, seat = hooks["Stop"][0]["hooks"][0]["command"].split()
    assert Path(program).is_absolute()
    assert (word, Path(seat)) == ("hook", home / ".local/state/covey/seats/codex-coder.json")
    assert Path(seat).stat().st_mode & 0o077 == 0
    assert covey("leave", "codex", "--as", "coder", "--json").json["files"][0]["how"] == "removed"
