"""Join and leave: the user's settings are kept, the token is private, and leaving puts back what was there, byte for byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from covey.base.errors import Conflict, CoveyError, Failed, Invalid, NotFound
from covey.base.replacing import replace
from covey.seats import joining, seat
from covey.seats.assistants import ASSISTANTS
from tests.api.world import token_of
from tests.seats.conftest import joining_of, seat_of

BEFORE: dict[str, dict[str, bytes]] = {
    "claude": {
        ".claude.json": b'{\n\t"theme": "dark",\n\t"n": 1e3, "deep": {"\xc3\xa4": [1, 2]},\n\t"projects": {"/elsewhere": {"mcpServers": {}}}\n}',
        "work/.claude/settings.local.json": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
    },
    "codex": {
        ".codex/config.toml": b'# mine\nmodel = "o5"  # the best\n\n[mcp_servers.other]\ncommand = "x"',
        ".codex/hooks.json": b'{"hooks":{}}',
    },
    "gemini": {".gemini/settings.json": b'{\r\n  "ui": {"theme": "x"}\r\n}\r\n'},
    "openclaw": {".openclaw/openclaw.json": b'{"mcp": {"servers": {"other": {"url": "http://x"}}}}'},
}


def tree(home: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below the home with its mode, and every folder."""
    state = home / ".local"
    return {
        str(path.relative_to(home)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
        for path in home.rglob("*")
        if state != path and state not in path.parents
    }


def give(home: Path, assistant: str) -> None:
    """The user has settings already; some can be read by others."""
    for name, raw in BEFORE[assistant].items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(raw)
        (home / name).chmod(0o644)


def parsed(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())
    return found


@pytest.mark.parametrize("full", [False, True], ids=["with nothing", "with settings"])
@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_leaving_puts_all_back_byte_for_byte_and_joining_twice_is_joining_once(home: Path, assistant: str, full: bool) -> None:
    if full:
        give(home, assistant)
    before = tree(home)
    found = joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    once = tree(home)
    assert {change.path for change in found.changes} <= {str(home / name) for name in once}
    joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    assert tree(home) == once
    left = joining.leave(seat.folder_of(), assistant, "coder")
    assert {each.how for each in left} == ({"restored"} if full else {"removed"})
    assert tree(home) == before
    with pytest.raises(NotFound):
        joining.leave(seat.folder_of(), assistant, "coder")


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_the_users_own_settings_are_kept(home: Path, assistant: str) -> None:
    give(home, assistant)
    before = {name: parsed(home / name) for name in BEFORE[assistant]}
    joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    for name, was in before.items():
        assert within(was, parsed(home / name)), name


def within(part: Any, whole: Any) -> bool:
    """Whether all of one value is in another."""
    if isinstance(part, dict):
        return all(key in whole and within(value, whole[key]) for key, value in part.items())
    return bool((whole[: len(part)] if isinstance(part, list) else whole) == part)


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_what_others_changed_meanwhile_stays_and_ours_goes(home: Path, assistant: str) -> None:
    give(home, assistant)
    found = joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    for change in found.changes:
        path = Path(change.path)
        if path.suffix == ".toml":
            path.write_text("first = 1\n" + path.read_text() + '\n[later]\nsecond = "2"\n')
        else:
            path.write_text(json.dumps(json.loads(path.read_text()) | {"first": 1}))
    left = joining.leave(seat.folder_of(), assistant, "coder")
    assert {each.how for each in left} == {"cleaned"}
    for name, raw in BEFORE[assistant].items():
        was = tomllib.loads(raw.decode()) if name.endswith(".toml") else json.loads(raw)
        more = {"first": 1, "later": {"second": "2"}} if name.endswith(".toml") else {"first": 1}
        assert parsed(home / name) == was | more
        assert (home / name).stat().st_mode & 0o777 == 0o644
        assert token_of("coder") not in (home / name).read_text()


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_the_token_stands_only_where_nobody_else_can_read_it_and_never_in_the_project(home: Path, assistant: str) -> None:
    give(home, assistant)
    joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    holders = [path for path in home.rglob("*") if path.is_file() and token_of("coder").encode() in path.read_bytes()]
    state = seat.path_of(seat.folder_of(), assistant, "coder")
    assert set(holders) > {state} if assistant != "claude" else holders == [state], "Claude Code keeps copies of its settings"
    for path in holders:
        assert path.stat().st_mode & 0o077 == 0, path
        assert home / "work" not in path.parents


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_with_a_variable_no_token_is_written(home: Path, assistant: str) -> None:
    made = seat_of(home, assistant)._replace(token="", home="/srv/fleet")
    joining.join(seat.folder_of(), made, joining_of(home, variable="MY_TOKEN"))
    texts = [path.read_text() for path in home.rglob("*") if path.is_file()]
    assert not [text for text in texts if token_of("coder") in text]
    assert [text for text in texts if "MY_TOKEN" in text]


def test_what_each_assistant_reads(home: Path) -> None:
    for assistant in ASSISTANTS:
        joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    bearer = {"Authorization": f"Bearer {token_of('coder')}"}
    url = "http://127.0.0.1:8900/mcp"
    claude = parsed(home / ".claude.json")["projects"][str(home / "work")]["mcpServers"]["covey"]
    assert claude == {"type": "http", "url": url, "headersHelper": "covey hook /s/claude-coder.json --headers"}
    assert parsed(home / ".codex/config.toml")["mcp_servers"]["covey"] == {"url": url, "http_headers": bearer}
    gemini = parsed(home / ".gemini/settings.json")
    assert gemini["mcpServers"]["covey"] == {"url": url, "type": "http", "headers": bearer}
    assert list(gemini["hooks"]) == ["SessionStart", "AfterTool", "AfterAgent"]
    openclaw = parsed(home / ".openclaw/openclaw.json")["mcp"]["servers"]["covey"]
    assert openclaw == {"url": url, "transport": "streamable-http", "headers": bearer}
    hooks = parsed(home / "work/.claude/settings.local.json")["hooks"]
    assert [each["command"].split()[1] for event in hooks.values() for group in event for each in group["hooks"]] == ["hook"] * 4
    assert [each.get("asyncRewake") for each in hooks["Stop"][0]["hooks"]] == [None, True]
    assert list(parsed(home / ".codex/hooks.json")["hooks"]) == ["SessionStart", "PostToolUse", "Stop"]


@pytest.mark.parametrize(
    ("assistant", "name", "raw", "error"),
    [
        ("claude", ".claude.json", b"{", Invalid),
        ("claude", ".claude.json", b"[]", Invalid),
        ("claude", ".claude.json", b'{"projects": 1}', Invalid),
        ("claude", "work/.claude/settings.local.json", b'{"hooks": {"Stop": {}}}', Invalid),
        ("gemini", ".gemini/settings.json", b"// mine\n{}", Invalid),
        ("gemini", ".gemini/settings.json", b"\xff\xfe", Invalid),
        ("gemini", ".gemini/settings.json", b'{"mcpServers": {"covey": {}}}', Conflict),
        ("codex", ".codex/config.toml", b"a = ", Invalid),
        ("codex", ".codex/config.toml", b'[mcp_servers.covey]\nurl = "mine"\n', Conflict),
        ("codex", ".codex/config.toml", b"mcp_servers = { x = { } }\n", Conflict),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_named_and_nothing_is_written(
    home: Path, assistant: str, name: str, raw: bytes, error: type[CoveyError]
) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(raw)
    before = tree(home)
    with pytest.raises(error, match=name.rsplit("/", maxsplit=1)[-1]):
        joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home))
    assert tree(home) == before


def test_a_projects_settings_that_are_a_link_are_not_followed(home: Path) -> None:
    (home / "work/.claude").mkdir()
    (home / "work/.claude/settings.local.json").symlink_to(home / ".bashrc")
    with pytest.raises(Invalid, match="is a link"):
        joining.join(seat.folder_of(), seat_of(home), joining_of(home))
    assert not (home / ".bashrc").exists()


def test_a_users_settings_that_are_a_link_stay_one(home: Path) -> None:
    (home / "dots").mkdir()
    (home / "dots/config.toml").write_text("a = 1\n")
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to(home / "dots/config.toml")
    before = tree(home)
    joining.join(seat.folder_of(), seat_of(home, "codex"), joining_of(home))
    assert (home / ".codex/config.toml").is_symlink()
    joining.leave(seat.folder_of(), "codex", "coder")
    assert tree(home) == before


def test_a_file_that_can_t_be_written_leaves_all_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give(home, "claude")
    before = tree(home)
    written: list[Path] = []

    def once(path: Path, raw: bytes, mode: int) -> None:
        written.append(path)
        if len(written) == 2:
            raise OSError(28, "No space left on device", str(path))
        replace(path, raw, mode)

    monkeypatch.setattr(joining, "replace", once)
    with pytest.raises(Failed, match="all is as it was"):
        joining.join(seat.folder_of(), seat_of(home), joining_of(home))
    assert tree(home) == before
    assert not list(seat.folder_of().glob("*.json"))


def test_two_agents_of_one_assistant_have_a_server_each(home: Path) -> None:
    give(home, "codex")
    before = tree(home)
    joining.join(seat.folder_of(), seat_of(home, "codex"), joining_of(home))
    second = seat_of(home, "codex", agent="chief")._replace(server="covey-chief")
    joining.join(seat.folder_of(), second, joining_of(home, server="covey-chief", hook="covey hook /s/codex-chief.json"))
    assert set(parsed(home / ".codex/config.toml")["mcp_servers"]) == {"other", "covey", "covey-chief"}
    joining.leave(seat.folder_of(), "codex", "coder")
    assert set(parsed(home / ".codex/config.toml")["mcp_servers"]) == {"other", "covey-chief"}
    joining.leave(seat.folder_of(), "codex", "chief")
    after = tree(home)
    assert {name: json.loads(raw) for name, (raw, _) in after.items() if name.endswith(".json")} == {".codex/hooks.json": {"hooks": {}}}
    assert after[".codex/config.toml"][0].strip() == before[".codex/config.toml"][0]


def test_without_hooks_the_tools_alone_are_there(home: Path) -> None:
    for assistant in ASSISTANTS:
        joining.join(seat.folder_of(), seat_of(home, assistant), joining_of(home, hooks=False))
    assert "hooks" not in parsed(home / ".gemini/settings.json")
    assert not (home / ".codex/hooks.json").exists()
    assert not (home / "work/.claude").exists()
    assert parsed(home / ".claude.json")["projects"]


def test_a_seat_that_is_broken_is_said_to_be(home: Path) -> None:
    path = seat.path_of(seat.folder_of(), "claude", "coder")
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(Invalid, match="is broken"):
        joining.leave(seat.folder_of(), "claude", "coder")
