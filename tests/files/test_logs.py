"""The seeds' log tree, written from the events (S3)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.base.errors import Unknown
from covey.base.ids import Ids, new_secret
from covey.base.settings import Settings
from covey.files import logfiles, logs
from covey.files.logfiles import Follower, append, last_lines, rotate_in_place
from covey.files.loglines import TEXT_CHARS, files_of, line_of, redacted
from covey.files.logs import Logs
from covey.messages import sending
from covey.messages.model import draft
from covey.store import Store, events
from covey.store.events import Bookmark, Event
from covey.tasks import adding, working
from covey.tasks.model import TaskDraft
from tests.conftest import ManualClock
from tests.files.rounds import files_below, go, told_in_time
from tests.rules import rule

ANYTHING = st.recursive(
    st.text(max_size=30) | st.integers(-(2**53), 2**53) | st.none(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=8,
)
FLEET_LOGS = {
    "system/protocol-controller.log",
    "system/health-checks.log",
    "communication/messages.log",
    "communication/buddy-checks.log",
    "performance/task-metrics.log",
    "performance/context-metrics.log",
}


@pytest.fixture
def root(settings: Settings) -> Path:
    return Path(settings.logs_dir)


@pytest.fixture
def writer(fleet: Store, settings: Settings, clock: ManualClock) -> Logs:
    return Logs(fleet, settings, clock)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def event(kind: str, agent: str | None = None, **data: Any) -> Event:
    return Event(Bookmark(0, 1), 1.8e9, kind, agent, "msg_1", data)


@rule("S3")
async def test_all_logs_of_the_fleet_are_there_after_the_first_round(writer: Logs, fleet: Store, root: Path) -> None:
    await go(fleet, writer)
    assert files_below(root) >= FLEET_LOGS
    assert (root / "agents").is_dir()


@rule("S3")
async def test_what_happens_stands_in_its_log_and_in_its_agents(writer: Logs, fleet: Store, root: Path) -> None:
    sent = await fleet.write(sending.send, draft("coder", "please review", subject="Review"), as_agent("chief"))
    task = await fleet.write(adding.add, TaskDraft(description="write it", agent="coder"), THE_OPERATOR)
    claimed = await fleet.write(working.claim, "coder", "run_1", lease_s=60)
    assert claimed is not None
    await fleet.write(working.finish, "coder", claimed[1], "done")
    await fleet.write(living.arrive, "coder", node="here", pid=7, start_ticks=1, boot_id="b", port=8002)
    await go(fleet, writer)
    (message,) = lines_of(root / "communication/messages.log")
    assert (message["kind"], message["subject"], message["head"]) == ("message.sent", sent.message_id, "Review")
    assert [line["subject"] for line in lines_of(root / "performance/task-metrics.log")] == [task.task_id]
    assert [line["kind"] for line in lines_of(root / "system/health-checks.log")] == ["agent.started"]
    assert [line["kind"] for line in lines_of(root / "agents/coder.log")][-4:] == [
        "task.added",
        "task.claimed",
        "task.done",
        "agent.started",
    ]
    assert "message.sent" in [line["kind"] for line in lines_of(root / "agents/chief.log")]


@rule("S3")
async def test_each_event_is_written_once_over_rounds_and_restarts(
    fleet: Store, settings: Settings, clock: ManualClock, root: Path
) -> None:
    for number in range(6):
        await fleet.write(sending.send, draft("coder", f"number {number}"), THE_OPERATOR)
        await go(fleet, Logs(fleet, settings, clock))
    assert [line["head"] for line in lines_of(root / "communication/messages.log")] == [f"number {number}" for number in range(6)]


@rule("S3")
async def test_two_that_lead_in_turn_write_each_event_once(fleet: Store, settings: Settings, clock: ManualClock, root: Path) -> None:
    turns = [Logs(fleet, settings, clock) for _ in range(2)]
    for number in range(6):
        await fleet.write(sending.send, draft("coder", f"number {number}"), THE_OPERATOR)
        await go(fleet, turns[number % 2])
    assert [line["head"] for line in lines_of(root / "communication/messages.log")] == [f"number {number}" for number in range(6)]


@rule("S3")
async def test_a_round_in_which_nothing_happened_writes_nothing(writer: Logs, fleet: Store, root: Path) -> None:
    await go(fleet, writer)
    before = {name: os.lstat(root / name) for name in files_below(root)}
    news = await fleet.read(events.last)
    await writer.round()
    assert {name: os.lstat(root / name) for name in files_below(root)} == before
    assert await fleet.read(events.last) == news


@rule("S3")
async def test_more_events_than_a_page_are_all_written(writer: Logs, fleet: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PAGE", 3)
    for number in range(10):
        await fleet.write(sending.send, draft("coder", f"number {number}"), THE_OPERATOR)
    await go(fleet, writer)
    await go(fleet, writer)
    assert len(lines_of(root / "communication/messages.log")) == 10


@rule("S3")
async def test_a_body_is_never_logged_beyond_its_head(writer: Logs, fleet: Store, root: Path) -> None:
    await fleet.write(sending.send, draft("coder", "A" * 50 + " the middle of it " + "z" * 500), THE_OPERATOR)
    await go(fleet, writer)
    text = (root / "communication/messages.log").read_text()
    assert "the middle" in text
    assert "z" * 50 not in text


def every_token() -> list[str]:
    """Secrets as they look: ours, and those of well-known services."""
    return [
        new_secret(),
        "sk-" + "abcdEFGH1234" * 3,
        "ghp_" + "a1B2c3D4" * 5,
        "AKIA" + "ABCDEFGH12345678",
        "xoxb-123456789012-abcdefABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ]


@rule("S3")
@pytest.mark.parametrize("secret", every_token(), ids=["ours", "sk", "ghp", "akia", "xoxb", "jwt"])
@pytest.mark.parametrize("form", ["{}", "failed: {} was refused", "Authorization: Bearer {}", "url?key={}&a=b", '{{"token": "{}"}}'])
def test_a_secret_never_gets_into_a_log(secret: str, form: str) -> None:
    line = line_of(event("task.failed", "coder", error=form.format(secret), deep={"list": [form.format(secret)]}))
    assert secret.encode() not in line
    assert b"[redacted]" in line


@rule("S3")
@pytest.mark.parametrize("said", ["password=hunter22", "api_key: abc123", "my-token = 12345"])
def test_what_is_called_a_secret_is_none_to_be_read(said: str) -> None:
    name, value = said.replace(":", "=").split("=", 1)
    shown = redacted(f"it said {said}")
    assert name.strip() in shown
    assert value.strip(" '").split()[0] not in shown


@rule("S3")
def test_ids_and_digests_are_no_secrets() -> None:
    ids = Ids()
    for ident in (ids.new("msg", 1.8e9), ids.new("thread", 1.8e9), "0" * 39 + "a", "drop:job.json:" + "ab" * 16):
        assert redacted(ident) == ident
        assert ident.encode() in line_of(event("message.sent", "coder", about=ident))


@rule("S3")
@hypothesis_settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=20), ANYTHING, max_size=5))
def test_whatever_an_event_says_is_one_short_line_of_json(data: dict[str, Any]) -> None:
    line = line_of(Event(Bookmark(0, 1), 1.8e9, "message.sent", "coder", "msg_1", data))
    assert line.count(b"\n") == 1
    assert isinstance(json.loads(line), dict)


@rule("S3")
def test_a_line_is_bounded_whatever_it_is_about() -> None:
    receivers = {f"agent-{number}": "delivered" for number in range(10_000)}
    line = line_of(event("message.sent", "coder", to=receivers, why="x" * 100_000, many=["y" * 1000] * 1000))
    assert len(line) < 40 * TEXT_CHARS


@rule("S3")
@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "UPPER", "x" * 100])
def test_a_name_that_no_agent_bears_makes_no_file(name: str) -> None:
    assert files_of(event("message.sent", name)) == ["communication/messages.log"]


@rule("S3")
def test_a_log_is_rotated_by_size_and_bounded_in_number(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    for number in range(100):
        append(path, f"line {number:04d}\n".encode() * 10, file_bytes=250)
    assert files_below(tmp_path) == {"x.log", *(f"x.log.{number}" for number in range(1, logfiles.FILES))}
    assert all(each.stat().st_size <= 250 for each in tmp_path.iterdir())
    assert path.read_text().splitlines()[-1] == "line 0099"
    assert (logfiles.FILE_BYTES, logfiles.FILES) == (10_000_000, 5)


@rule("S3")
def test_a_process_that_keeps_its_output_open_goes_on_in_the_emptied_file(tmp_path: Path) -> None:
    path = tmp_path / "coder.out"
    with path.open("ab", buffering=0) as held:
        for round_ in range(8):
            held.write(f"{round_}".encode() * 1000)
            assert rotate_in_place(path, file_bytes=500)
            assert path.stat().st_size == 0
        held.write(b"after")
    assert path.read_bytes() == b"after"
    assert files_below(tmp_path) == {"coder.out", *(f"coder.out.{number}" for number in range(1, logfiles.FILES))}
    assert (tmp_path / "coder.out.1").read_bytes() == b"7" * 500
    assert not rotate_in_place(path, file_bytes=500)


@rule("S3")
async def test_a_rounds_duty_is_the_output_of_the_processes_too(
    writer: Logs, fleet: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "agents").mkdir(parents=True)
    (root / "agents/coder.out").write_bytes(b"x" * 11_000_000)
    await go(fleet, writer)
    assert (root / "agents/coder.out").stat().st_size == 0
    assert (root / "agents/coder.out.1").stat().st_size == logfiles.FILE_BYTES


@rule("S3")
async def test_a_full_disk_loses_no_line_and_doubles_none(writer: Logs, fleet: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await go(fleet, writer)
    await fleet.write(sending.send, draft("coder", "kept"), as_agent("chief"))
    write, calls = os.write, 0

    def full(descriptor: int, text: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls % 2:
            return write(descriptor, bytes(text)[:5])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("covey.files.logfiles.os.write", full)
        await go(fleet, writer)
        await go(fleet, writer)
    await go(fleet, writer)
    assert [line["head"] for line in lines_of(root / "communication/messages.log")] == ["kept"]
    assert [line["kind"] for line in lines_of(root / "agents/chief.log")].count("message.sent") == 1
    assert len(await told_in_time(fleet, "logs.failed")) == 1
    assert len(await told_in_time(fleet, "logs.restored")) == 1


@rule("S3")
async def test_what_was_written_before_the_disk_was_full_is_not_written_again(
    writer: Logs, fleet: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await go(fleet, writer)
    await fleet.write(sending.send, draft("coder", "hello"), as_agent("chief"))

    def full_for_one(path: Path, lines: bytes) -> None:
        if path.name == "chief.log":
            raise OSError(28, "No space left on device")
        append(path, lines)

    with monkeypatch.context() as patch:
        patch.setattr(logs, "append", full_for_one)
        for _ in range(3):
            await go(fleet, writer)
    await go(fleet, writer)
    assert [line["head"] for line in lines_of(root / "communication/messages.log")] == ["hello"]
    assert [line["kind"] for line in lines_of(root / "agents/chief.log")].count("message.sent") == 1


@rule("S3")
async def test_one_log_that_cannot_be_written_holds_up_no_other(writer: Logs, fleet: Store, root: Path) -> None:
    (root / "agents/coder.log").mkdir(parents=True)
    for number in range(3):
        await fleet.write(adding.add, TaskDraft(description=f"{number}", agent="coder"), THE_OPERATOR)
        await fleet.write(adding.add, TaskDraft(description=f"{number}", agent="ops"), THE_OPERATOR)
        await go(fleet, writer)
    assert len([line for line in lines_of(root / "agents/ops.log") if line["kind"] == "task.added"]) == 3
    assert [each.subject for each in await told_in_time(fleet, "logs.lost")] == ["agents/coder.log"]


@rule("S3")
async def test_a_log_that_is_a_link_or_a_pipe_is_not_written(writer: Logs, fleet: Store, root: Path, tmp_path: Path) -> None:
    (root / "agents").mkdir(parents=True)
    target = tmp_path / "precious"
    target.write_text("precious")
    (root / "agents/coder.log").symlink_to(target)
    os.mkfifo(root / "agents/ops.log")
    for name in ("coder", "ops"):
        await fleet.write(adding.add, TaskDraft(description="x", agent=name), THE_OPERATOR)
    await go(fleet, writer)
    assert target.read_text() == "precious"
    assert len(await told_in_time(fleet, "logs.lost")) == 2


@rule("S3")
def test_the_last_lines_are_read_over_the_older_files(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    for number in range(50):
        append(path, f"line {number}\n".encode(), file_bytes=100)
    assert last_lines(path, 30) == [f"line {number}" for number in range(20, 50)]
    assert last_lines(path, 1) == ["line 49"]
    assert last_lines(tmp_path / "none.log", 5) == []


@rule("S3")
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]), max_size=200),
        max_size=40,
    ),
    st.integers(1, 50),
)
def test_the_last_lines_are_the_last_lines(tmp_path_factory: pytest.TempPathFactory, written: list[str], count: int) -> None:
    path = tmp_path_factory.mktemp("tail") / "x.log"
    path.write_text("".join(f"{line}\n" for line in written))
    assert last_lines(path, count) == written[-count:]


@rule("S3")
def test_following_goes_on_over_both_kinds_of_rotation(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    follower = Follower(path)
    assert follower.read() == []
    append(path, b"one\ntw")
    assert follower.read() == ["one"]
    append(path, b"o\n")
    append(path, b"three\n", file_bytes=5)
    assert follower.read() == ["two", "three"]
    append(path, b"four, and long enough\n")
    assert follower.read() == ["four, and long enough"]
    assert rotate_in_place(path, file_bytes=5)
    append(path, b"five\n")
    assert follower.read() == ["five"]
    follower.close()


@rule("S3")
async def test_an_agents_log_can_be_tailed_and_followed(writer: Logs, fleet: Store, settings: Settings) -> None:
    await fleet.write(adding.add, TaskDraft(description="first", agent="coder"), THE_OPERATOR)
    await go(fleet, writer)
    assert json.loads(logs.tail(settings, "coder", 1)[0])["head"] == "first"
    following = logs.follow(settings, "coder", SystemClock())
    await fleet.write(adding.add, TaskDraft(description="second", agent="coder"), THE_OPERATOR)
    await go(fleet, writer)
    line = await asyncio.wait_for(anext(following), timeout=20)
    assert json.loads(line)["head"] == "second"


@rule("S3")
async def test_no_log_is_read_outside_the_folder(settings: Settings) -> None:
    for name in ("../x", "/etc/passwd", ""):
        with pytest.raises(Unknown):
            logs.tail(settings, name)
        with pytest.raises(Unknown):
            logs.follow(settings, name, SystemClock())
