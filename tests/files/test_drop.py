"""The drop folder: taken exactly once, then in done/ or refused/ beside a reason (S2)."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from covey.agents.model import OPERATOR
from covey.base.clock import SystemClock
from covey.base.errors import StoreBusy, TooLarge
from covey.base.settings import Settings
from covey.files import drop as dropping
from covey.files import dropped
from covey.files.drop import Drop
from covey.files.dropped import FILE_BYTES
from covey.messages import reading as mail
from covey.store import Store, Transaction
from covey.store.transaction import Verb
from covey.tasks import reading as tasks
from tests.conftest import ManualClock
from tests.files.rounds import files_below, told_in_time
from tests.rules import rule

MESSAGE = {"to": "coder", "content": {"subject": "Review", "body": "please review"}}
TASK = {"description": "write it", "agent": "coder", "priority": "high"}


@pytest.fixture
def folder(settings: Settings) -> Path:
    return Path(settings.data_dir) / "drop"


@pytest.fixture
async def drop(fleet: Store, settings: Settings, clock: ManualClock) -> Drop:
    found = Drop(fleet, settings, clock)
    await found.round()
    return found


def move_in(folder: Path, name: str, content: object) -> None:
    """As a careful writer does it: whole, by a rename."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    part = folder.parent / f"{threading.get_ident()}.writing"
    part.write_bytes(text)
    part.rename(folder / name)


def tick(folder: Path) -> None:
    """Return when the file system's clock, which goes in steps of some milliseconds, has moved on."""
    probe = folder / ".probe"
    probe.touch()
    before = probe.stat().st_ctime_ns
    for _ in range(1_000_000):
        probe.touch()
        if probe.stat().st_ctime_ns != before:
            break
    probe.unlink()


def reason(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.reason").read_bytes())
    return found


async def inbox(store: Store, agent: str = "coder") -> list[str]:
    page = await store.read(mail.inbox, agent, limit=10_000)
    return [message.body for message in page.items][::-1]


async def all_tasks(store: Store) -> list[str]:
    page = await store.read(tasks.listed, limit=10_000)
    return [task.description for task in page.items][::-1]


@rule("S2")
async def test_a_message_that_is_moved_in_is_sent_by_the_operator(drop: Drop, fleet: Store, folder: Path) -> None:
    move_in(folder, "review.json", MESSAGE)
    await drop.round()
    (message,) = (await fleet.read(mail.inbox, "coder")).items
    assert (message.from_, message.content["subject"], message.body) == (OPERATOR, "Review", "please review")
    assert files_below(folder) == {".lock", "done/review.json", "done/review.json.reason"}
    told = reason(folder / "done", "review.json")
    assert (told["status"], told["id"], told["outcomes"]["coder"]["status"]) == ("delivered", message.message_id, "delivered")


@rule("S2")
async def test_a_task_that_is_moved_in_is_queued(drop: Drop, fleet: Store, folder: Path) -> None:
    move_in(folder, "write.json", TASK)
    await drop.round()
    (task,) = (await fleet.read(tasks.listed)).items
    assert (task.description, task.agent, task.priority, task.created_by, task.state) == ("write it", "coder", "high", OPERATOR, "queued")
    assert reason(folder / "done", "write.json")["task"] == task.task_id


@rule("S2")
async def test_the_seeds_own_examples_are_taken(drop: Drop, fleet: Store, folder: Path) -> None:
    seed_task = {
        "taskId": "task_124",
        "description": "Schedule team sync",
        "priority": "medium",
        "dependencies": [],
        "createdBy": "ops",
        "createdAt": 1703271600,
    }
    seed_message = {
        "messageId": "msg_12345",
        "from": "operator",
        "to": "coder",
        "type": "task",
        "priority": "urgent",
        "timestamp": 1703275200,
        "content": {
            "subject": "Code review required",
            "body": "Please review the authentication module",
            "data": {},
            "requiresResponse": True,
        },
        "context": {"threadId": "thread_123", "relatedTasks": ["task_123"]},
    }
    move_in(folder, "task.json", seed_task)
    move_in(folder, "message.json", seed_message)
    await drop.round()
    assert (await fleet.read(tasks.show, "task_124")).created_by == OPERATOR
    assert reason(folder / "done", "task.json")["leftOut"] == ["createdAt", "createdBy"]
    (message,) = await fleet.read(mail.show, "msg_12345")
    assert (message.sent_at, message.thread_id) == (1703275200, "thread_123")


@rule("S2")
async def test_the_same_content_dropped_again_is_another_task(drop: Drop, fleet: Store, folder: Path) -> None:
    for _ in range(3):
        move_in(folder, "daily.json", TASK)
        await drop.round()
    assert await all_tasks(fleet) == ["write it"] * 3
    files = files_below(folder / "done")
    assert len(files) == 6
    assert {"daily.json", "daily.json.reason"} <= files


@rule("S2")
async def test_nothing_in_done_is_ever_overwritten(drop: Drop, fleet: Store, folder: Path) -> None:
    for number in range(5):
        move_in(folder, "x.json", MESSAGE | {"content": {"body": f"number {number}"}})
        await drop.round()
    kept = [json.loads(path.read_bytes())["content"]["body"] for path in (folder / "done").glob("*.json")]
    assert sorted(kept) == [f"number {number}" for number in range(5)]


@rule("S2", "T3")
async def test_an_id_of_its_own_is_taken_once_and_other_content_under_it_is_refused(drop: Drop, fleet: Store, folder: Path) -> None:
    named = MESSAGE | {"messageId": "mine-1"}
    move_in(folder, "a.json", named)
    await drop.round()
    move_in(folder, "b.json", named)
    await drop.round()
    move_in(folder, "c.json", named | {"content": {"body": "something else"}})
    await drop.round()
    assert await inbox(fleet) == ["please review"]
    assert reason(folder / "done", "b.json")["known"] is True
    assert "other content" in reason(folder / "refused", "c.json")["detail"]


@rule("S2")
async def test_files_are_taken_in_the_order_in_which_they_came(drop: Drop, fleet: Store, folder: Path) -> None:
    for number in (5, 1, 4, 2, 3):
        move_in(folder, f"{number}.json", MESSAGE | {"content": {"body": f"number {number}"}})
        tick(folder)
    await drop.round()
    assert await inbox(fleet) == [f"number {number}" for number in (5, 1, 4, 2, 3)]


@rule("S2", "K3")
async def test_a_task_may_need_one_that_was_dropped_before_it(drop: Drop, fleet: Store, folder: Path) -> None:
    move_in(folder, "1.json", TASK | {"taskId": "first"})
    move_in(folder, "2.json", TASK | {"taskId": "second", "dependencies": ["first"]})
    await drop.round()
    assert (await fleet.read(tasks.show, "second")).state == "blocked"


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not JSON"),
    "truncated": (b'{"to": "coder", "content": {"bo', "not JSON"),
    "no object": (b"[1, 2]", "no JSON object"),
    "neither": (b'{"to": "coder"}', "neither"),
    "both": (b'{"description": "x", "content": {"body": "x"}}', "both"),
    "not UTF-8": (b'{"to": "coder", "content": {"body": "\xff\xfe"}}', "not UTF-8"),
    "a NUL": (b'{"to": "coder", "content": {"body": "a\\u0000b"}}', "NUL"),
    "a lone surrogate": (b'{"to": "coder", "content": {"body": "\\ud800"}}', "surrogate"),
    "a surrogate for a key, twice": (b'{"\\ud800": 1, "\\ud800": 2, "content": {"body": "x"}}', ""),
    "NaN": (b'{"to": "coder", "timestamp": NaN, "content": {"body": "x"}}', ""),
    "a key twice": (b'{"to": "coder", "to": "ops", "content": {"body": "x"}}', "twice"),
    "deep": (b'{"content":' * 50_000, "deep"),
    "deep and whole": (b'{"content":' * 20_000 + b"1" + b"}" * 20_000, "deep"),
    "a wrong type": (b'{"to": "coder", "content": {"body": 7}}', "content.body"),
    "an unknown field": (b'{"to": "coder", "content": {"body": "x"}, "wishes": 3}', "wishes"),
    "an unknown agent": (b'{"to": "codr", "content": {"body": "x"}}', "coder"),
    "somebody else's name": (b'{"from": "chief", "to": "coder", "content": {"body": "x"}}', "from"),
    "an unknown dependency": (b'{"description": "x", "dependencies": ["nowhere"]}', "nowhere"),
    "a long number": (b'{"to": "coder", "timestamp": ' + b"9" * 5000 + b', "content": {"body": "x"}}', ""),
}


@rule("S2", "M10")
@pytest.mark.parametrize("case", HOSTILE)
async def test_what_cannot_be_taken_is_refused_with_a_sentence(
    drop: Drop, fleet: Store, folder: Path, clock: ManualClock, case: str
) -> None:
    content, said = HOSTILE[case]
    move_in(folder, "bad.json", content)
    move_in(folder, "good.json", MESSAGE)
    await drop.round()
    clock.at += 1.1
    await drop.round()
    assert files_below(folder / "refused") == {"bad.json", "bad.json.reason"}
    assert (folder / "refused/bad.json").read_bytes() == content
    told = reason(folder / "refused", "bad.json")
    assert said in told["detail"]
    assert told["status"] >= 400
    assert await inbox(fleet) == ["please review"]
    assert [event.subject for event in await told_in_time(fleet, "drop.refused")] == ["bad.json"]


@rule("S2", "M10")
async def test_a_file_of_ten_megabytes_is_refused_unread(drop: Drop, folder: Path, clock: ManualClock) -> None:
    move_in(folder, "big.json", b'{"content": "' + b"x" * 10_000_000 + b'"}')
    for _ in range(2):
        await drop.round()
        clock.at += 1.1
    assert reason(folder / "refused", "big.json")["code"] == "too-large"
    assert FILE_BYTES == 1024 * 1024


@rule("S2")
async def test_a_link_is_never_followed(drop: Drop, fleet: Store, folder: Path, clock: ManualClock, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(MESSAGE))
    (folder / "link.json").symlink_to(secret)
    for _ in range(2):
        await drop.round()
        clock.at += 1.1
    assert secret.read_text() == json.dumps(MESSAGE)
    assert (folder / "refused/link.json").is_symlink()
    assert "link" in reason(folder / "refused", "link.json")["detail"]
    assert await inbox(fleet) == []


@rule("S2")
def test_what_takes_a_files_place_at_the_last_moment_is_not_read_instead(tmp_path: Path) -> None:
    path, secret = tmp_path / "x.json", tmp_path / "secret.json"
    path.write_text("{}")
    secret.write_text("secret")
    found = dropped.find(path)
    assert found is not None
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(OSError, match="symbolic link"):
        dropped.read(found)
    path.unlink()
    secret.rename(path)
    with pytest.raises(FileNotFoundError):
        dropped.read(found)


@rule("S2")
def test_a_file_over_the_bound_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b" " * (FILE_BYTES + 1))
    found = dropped.find(path)
    assert found is not None
    path.unlink()
    with pytest.raises(TooLarge):
        dropped.read(found)


@rule("S2")
async def test_a_pipe_does_not_hold_up_the_folder(drop: Drop, fleet: Store, folder: Path, clock: ManualClock) -> None:
    os.mkfifo(folder / "pipe.json")
    move_in(folder, "good.json", MESSAGE)
    for _ in range(2):
        await asyncio.wait_for(drop.round(), timeout=20)
        clock.at += 1.1
    assert await inbox(fleet) == ["please review"]
    assert (folder / "refused/pipe.json").exists()


@rule("S2")
@pytest.mark.parametrize("name", [".hidden.json", "x.json.tmp", "x.part", "x.json~", ".x.json.swp"])
async def test_what_is_hidden_or_still_written_is_left_alone(drop: Drop, fleet: Store, folder: Path, clock: ManualClock, name: str) -> None:
    move_in(folder, name, MESSAGE)
    (folder / "subfolder").mkdir()
    for _ in range(3):
        await drop.round()
        clock.at += 5
    assert (folder / name).exists()
    assert (folder / "subfolder").is_dir()
    assert await inbox(fleet) == []


@rule("S2")
async def test_a_file_written_in_place_is_taken_when_it_is_whole(drop: Drop, fleet: Store, folder: Path, clock: ManualClock) -> None:
    text = json.dumps(MESSAGE)
    with (folder / "slow.json").open("w") as file:
        for letter in text:
            file.write(letter)
            file.flush()
            clock.at += 0.1
            await drop.round()
    await drop.round()
    assert await inbox(fleet) == ["please review"]
    assert (folder / "done/slow.json").read_text() == text


@rule("S2")
async def test_a_broken_file_is_refused_only_after_a_second_without_change(drop: Drop, folder: Path, clock: ManualClock) -> None:
    path = folder / "x.json"
    path.write_text("{")
    await drop.round()
    clock.at += 0.9
    await drop.round()
    assert path.exists()
    path.write_text("{ ")
    clock.at += 0.5
    await drop.round()
    clock.at += 0.9
    await drop.round()
    assert path.exists()
    clock.at += 0.2
    await drop.round()
    assert (folder / "refused/x.json").exists()


@rule("S2")
async def test_odd_names_are_taken_like_any_other(drop: Drop, fleet: Store, folder: Path) -> None:
    names = ["ü ñ.json", "line\nbreak.json", "x" * 250, "no suffix", "-rf", os.fsdecode(b"\xff\xfe.json")]
    for name in names:
        move_in(folder, name, MESSAGE)
    await drop.round()
    assert await inbox(fleet) == ["please review"] * len(names)
    assert len(files_below(folder / "done")) == 2 * len(names)
    assert len(files_below(folder)) == 2 * len(names) + 1


@rule("S2")
async def test_an_unreadable_file_is_refused(drop: Drop, folder: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    move_in(folder, "x.json", MESSAGE)
    real = os.open

    def forbidden(path: Any, *args: Any, **kwargs: Any) -> int:
        if str(path).endswith("x.json"):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    monkeypatch.setattr("covey.files.dropped.os.open", forbidden)
    for _ in range(2):
        await drop.round()
        clock.at += 1.1
    assert "Permission denied" in reason(folder / "refused", "x.json")["detail"]


@rule("S2")
async def test_while_the_store_takes_nothing_files_wait_and_nobody_is_refused(
    drop: Drop, fleet: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_in(folder, "x.json", MESSAGE)
    real = fleet.write

    async def busy(verb: Verb[Any], *args: Any, **kwargs: Any) -> Any:
        if verb is dropping.take:
            raise StoreBusy("another process holds the store.")
        return await real(verb, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(fleet, "write", busy)
        for _ in range(3):
            await drop.round()
    assert await inbox(fleet) == []
    assert files_below(folder / "refused") == set()
    await drop.round()
    assert await inbox(fleet) == ["please review"]
    assert len(await told_in_time(fleet, "drop.failed")) == 1
    assert len(await told_in_time(fleet, "drop.restored")) == 1


@rule("S2")
async def test_a_full_disk_keeps_a_stored_file_until_it_can_be_moved(
    drop: Drop, fleet: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_in(folder, "x.json", MESSAGE)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(dropping, "write_whole", full)
        for _ in range(3):
            await drop.round()
    await drop.round()
    assert await inbox(fleet) == ["please review"]
    assert reason(folder / "done", "x.json")["known"] is False
    assert len(await told_in_time(fleet, "drop.taken")) == 1


@rule("S2")
async def test_a_fault_of_ours_in_one_file_holds_up_no_other(
    drop: Drop, fleet: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dropped.decode

    def fails(found: Any, raw: bytes) -> Any:
        if found.name == "a.json":
            raise RuntimeError("boom")
        return real(found, raw)

    monkeypatch.setattr("covey.files.dropped.decode", fails)
    move_in(folder, "a.json", MESSAGE)
    move_in(folder, "b.json", MESSAGE)
    await drop.round()
    assert await inbox(fleet) == ["please review"]
    assert reason(folder / "refused", "a.json")["code"] == "failed"


@rule("S2")
async def test_two_processes_at_one_folder_take_each_file_once(fleet: Store, settings: Settings, folder: Path) -> None:
    loops = [Drop(fleet, settings, SystemClock()) for _ in range(4)]
    await loops[0].round()
    for number in range(40):
        move_in(folder, f"{number}.json", MESSAGE | {"content": {"body": f"number {number}"}})
    for _ in range(50):
        await asyncio.gather(*(loop.round() for loop in loops))
        if len(files_below(folder / "done")) == 80:
            break
    assert sorted(await inbox(fleet)) == sorted(f"number {number}" for number in range(40))


@rule("S2")
async def test_many_writers_at_once_under_the_same_names_lose_nothing_that_was_not_overwritten(
    fleet: Store, settings: Settings, folder: Path
) -> None:
    drop = Drop(fleet, settings, SystemClock())
    await drop.round()

    def write(writer: int) -> None:
        for number in range(25):
            place = folder / f"w{writer}.tmp"
            place.write_text(json.dumps(MESSAGE | {"content": {"body": f"{writer}.{number}"}}))
            place.rename(folder / f"{writer}-{number}.json")

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in writers:
        thread.start()
    for _ in range(400):
        await drop.round()
        if not any(thread.is_alive() for thread in writers) and len(files_below(folder / "done")) == 400:
            break
    for thread in writers:
        thread.join(timeout=10)
    assert sorted(await inbox(fleet)) == sorted(f"{writer}.{number}" for writer in range(8) for number in range(25))


@rule("S2")
async def test_a_file_that_replaces_one_just_taken_is_taken_too(
    drop: Drop, fleet: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dropped.decode

    def replaced(found: Any, raw: bytes) -> Any:
        if b"first" in raw:
            move_in(folder, "x.json", MESSAGE | {"content": {"body": "second"}})
        return real(found, raw)

    monkeypatch.setattr("covey.files.dropped.decode", replaced)
    move_in(folder, "x.json", MESSAGE | {"content": {"body": "first"}})
    await drop.round()
    await drop.round()
    assert await inbox(fleet) == ["first", "second"]


@rule("S2", "T3")
async def test_a_file_left_by_a_killed_process_answers_with_its_first_receipt(
    fleet: Store, settings: Settings, folder: Path, clock: ManualClock
) -> None:
    one = Drop(fleet, settings, clock)
    await one.round()
    move_in(folder, "x.json", MESSAGE)
    move_in(folder, "y.json", TASK)
    stored: list[str] = []

    def killed(found: Any, verdict: Any) -> None:
        stored.append(verdict.reason["id"])

    one._settle = killed  # type: ignore[method-assign]
    await one.round()
    other = Drop(fleet, settings, clock)
    await other.round()
    assert await inbox(fleet) == ["please review"]
    assert await all_tasks(fleet) == ["write it"]
    assert [reason(folder / "done", name)["id"] for name in ("x.json", "y.json")] == stored
    assert all(reason(folder / "done", name)["known"] for name in ("x.json", "y.json"))


@rule("S2")
async def test_an_idle_round_writes_nothing(drop: Drop, fleet: Store) -> None:
    def count(tx: Transaction) -> int:
        return tx.writes

    assert await fleet.read(count) == 0
    for _ in range(3):
        await drop.round()
    assert await told_in_time(fleet, "drop.") == []


@rule("S2")
async def test_a_folder_in_which_nothing_was_put_is_not_searched_and_what_is_moved_in_then_is_taken_at_once(
    drop: Drop, fleet: Store, folder: Path, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await drop.round()
        clock.at += 1.0
    with monkeypatch.context() as patch:
        patch.setattr(drop, "_lock", None)
        await drop.round()
    made = tmp_path / "made.json"
    made.write_text('{"to": "coder", "content": {"body": "hello"}}')
    made.rename(folder / "made.json")
    await drop.round()
    assert (folder / "done").is_dir()
    assert not (folder / "made.json").exists()
