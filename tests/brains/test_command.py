"""A brain that is a program: what goes in, what comes out, and what each ending means. Real processes."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import struct
import termios
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.base.errors import LeaseLost, Misconfigured
from covey.brains.command import CommandBrain
from covey.brains.launching import Site, account_of
from covey.brains.making import make
from covey.brains.model import Outcome, Turn
from covey.brains.prompting import as_text
from tests.brains.turns import SITE, Noted, Releasing, a_message, a_task, a_turn, asked, is_gone, is_running, settings, until
from tests.rules import rule


async def ran(
    folder: Path, script: str, turn: Turn | None = None, *, hands: Noted | None = None, site: Site = SITE, **more: Any
) -> Outcome:
    """The outcome of a shell script as a brain."""
    brain = CommandBrain(settings(folder, kind="command", command=("sh", "-c", script), **more), site)
    return await brain.think(turn or a_turn(), hands or Noted())


# What goes in


@rule("K4a")
async def test_a_command_gets_the_turn_as_json_on_stdin_and_as_a_prompt_never_in_its_arguments(tmp_path: Path) -> None:
    turn = a_turn(kind="message", task=None, message=asked(a_message("Wie weit? 🦆")), guidance=["Minimize chatter."], deadline_s=60.0)
    outcome = await ran(tmp_path, "cat > turn.json; tr '\\0' '\\n' < /proc/$$/cmdline > args", turn)
    assert outcome.kind == "done"
    given = msgspec.json.decode((tmp_path / "turn.json").read_bytes())
    assert given.pop("prompt") == as_text(turn)
    assert msgspec.convert(given, Turn) == turn
    assert given["maxAttempts"] == 3
    assert given["message"]["message"]["content"]["body"] == "Wie weit? 🦆"
    assert "Wie weit" not in (tmp_path / "args").read_text()


async def test_a_command_that_wants_text_gets_the_prompt_alone(tmp_path: Path) -> None:
    turn = a_turn()
    assert (await ran(tmp_path, "cat", turn, options={"input": "text"})).summary == as_text(turn).strip()


@pytest.mark.parametrize("options", [{"input": "xml"}, {"inputs": "text"}])
def test_an_option_that_a_command_brain_does_not_have_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match=re.escape("xml" if "input" in options else "inputs")):
        make(settings(tmp_path, kind="command", command=("true",), options=options))


@rule("A1b")
async def test_a_command_runs_in_its_agents_folder_and_environment_with_nothing_else_of_the_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVEY_TOKEN", "the operator's")
    monkeypatch.setenv("COVEY_OPERATOR_TOKEN", "the operator's")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    monkeypatch.setenv("LC_TIME", "C")
    outcome = await ran(tmp_path, "env; echo CWD=$(pwd)", env={"GIVEN": "ümlaut", "TERM": "xterm", "COVEY_AGENT": "chief"})
    found = dict(line.split("=", 1) for line in outcome.summary.splitlines())
    shells = {"PWD", "OLDPWD", "SHLVL", "_"}
    passed_on = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ", "USER") if name in os.environ} | {"LC_TIME": "C"}
    passed_on |= {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    assert {name: value for name, value in found.items() if name not in shells} == passed_on | {
        "GIVEN": "ümlaut",
        "TERM": "xterm",
        "COVEY_AGENT": "coder",
        "COVEY_RUN": "run_test",
        "COVEY_URL": "http://127.0.0.1:8002",
        "COVEY_TOKEN": "the token of coder",
        "COVEY_SESSION": "",
        "COVEY_FRESH": "0",
        "CWD": str(tmp_path),
    }


def test_a_token_is_not_shown() -> None:
    assert "the token of coder" not in repr(SITE)


async def test_a_program_in_the_agents_folder_is_found_from_there(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "answer").chmod(0o755)
    brain = CommandBrain(settings(tmp_path, kind="command", command=("./answer",)), SITE)
    assert (await brain.think(a_turn(), Noted())).summary == "here"


async def test_a_huge_input_reaches_the_command_whole(tmp_path: Path) -> None:
    turn = a_turn(context=[{"kind": "note", "text": "x" * 1000, "at": 1.0}] * 5000)
    outcome = await ran(tmp_path, "wc -c", turn)
    assert int(outcome.summary) > 10_000_000


@pytest.mark.parametrize("script", ["echo ok", "exec 0<&-; echo ok", "head -c 10 > /dev/null; exec 0<&-; echo ok"])
async def test_a_command_need_not_read_its_input(tmp_path: Path, script: str) -> None:
    wrong: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: wrong.append(told))
    turn = a_turn(context=[{"kind": "note", "text": "x" * 1000, "at": 1.0}] * 1000)
    assert await ran(tmp_path, script, turn) == Outcome(summary="ok", exit_code=0)
    assert wrong == []


@rule("K4c")
async def test_the_process_is_recorded_before_it_gets_its_input(tmp_path: Path) -> None:
    waiting = -1

    class Slow(Noted):
        async def started(self, *, pid: int, pgid: int) -> None:
            nonlocal waiting
            await super().started(pid=pid, pgid=pgid)
            await until(lambda: b"COVEY_RUN=run_test" in environment_of(pid))
            assert os.getpgid(pid) == os.getsid(pid) == pgid == pid
            for _ in range(20):
                await asyncio.sleep(0)
            waiting = waiting_for(pid)

    hands = Slow()
    outcome = await ran(tmp_path, "cat > /dev/null; echo $$", hands=hands)
    assert waiting == 0
    assert hands.began == [(int(outcome.summary), int(outcome.summary))]


def environment_of(pid: int) -> list[bytes]:
    """What a process has in its environment; nothing while it is about to become another program."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except ProcessLookupError:
        return []


def waiting_for(pid: int) -> int:
    """How many bytes lie in the pipe that is the process's input."""
    with Path(f"/proc/{pid}/fd/0").open("rb") as pipe:
        (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
    return int(count)


@rule("K4c")
async def test_a_run_whose_start_could_not_be_recorded_is_ended(tmp_path: Path) -> None:
    def lost(pid: int) -> None:
        raise LeaseLost("somebody else has it")

    hands = Noted(lost)
    with pytest.raises(LeaseLost):
        await ran(tmp_path, "cat > got; sleep 300", hands=hands)
    assert is_gone(hands.began[0][0])
    assert not (tmp_path / "got").exists() or (tmp_path / "got").read_bytes() == b""


# What comes out


async def test_plain_text_is_the_summary(tmp_path: Path) -> None:
    assert await ran(tmp_path, "echo; echo '  three files: ä 漢 🦆'; echo") == Outcome(summary="three files: ä 漢 🦆", exit_code=0)


async def test_nothing_printed_is_done_with_nothing_to_say(tmp_path: Path) -> None:
    assert await ran(tmp_path, "true") == Outcome(exit_code=0)


async def test_an_outcome_as_json_is_taken_with_all_its_parts(tmp_path: Path) -> None:
    printed = {
        "kind": "done",
        "summary": "two of them",
        "data": {"files": ["a", "b"]},
        "decisions": ["keep b"],
        "notes": ["a is old"],
        "messages": [{"to": "chief", "content": {"body": "done"}, "priority": "high"}],
        "tasks": [{"description": "delete a", "agent": "ops"}],
        "cost": {"usd": 0.25, "tokensIn": 10, "tokensOut": 2, "contextTokens": 12, "contextLimit": 100},
    }
    (tmp_path / "printed").write_bytes(msgspec.json.format(msgspec.json.encode(printed)))
    outcome = await ran(tmp_path, "cat printed")
    assert outcome == msgspec.convert(printed | {"exitCode": 0}, Outcome)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ('{"summary": "x", "sumary": "y", "also": 1}', "unknown keys: also, sumary"),
        ('{"kind": "finished"}', "kind: invalid enum value 'finished'"),
        ('{"summary": 5}', "summary: expected `str`, got `int`"),
        ('{"kind": "done", "data": {"x": NaN}}', "no JSON number"),
        ('{"kind": "done", "kind": "failed"}', "twice"),
        ('{"summary": "\\ud800"}', "lone surrogate"),
        ('{"summary": "\\u0000"}', "NUL"),
        ('{"kind": "done", "messages": [{"to": "chief", "body": "x"}]}', "messages[0].body"),
        ('{"kind": "done", "cost": {"usd": 1, "eur": 1}}', "cost.eur"),
    ],
)
async def test_a_wrong_outcome_is_a_failure_that_names_what_is_wrong(tmp_path: Path, printed: str, said: str) -> None:
    (tmp_path / "printed").write_text(printed)
    outcome = await ran(tmp_path, "cat printed")
    assert outcome.kind == "failed"
    assert said in outcome.error
    assert outcome.exit_code == 0


@pytest.mark.parametrize("printed", ['{"rows": 3}', "{not json}", '[{"kind": "done"}]', '{"kind": "done"} and more', "{" * 100_000])
async def test_json_that_is_no_outcome_is_text(tmp_path: Path, printed: str) -> None:
    (tmp_path / "printed").write_text(printed)
    assert await ran(tmp_path, "cat printed") == Outcome(summary=printed, exit_code=0)


async def test_a_huge_output_is_kept_by_head_and_tail_and_says_so(tmp_path: Path) -> None:
    outcome = await ran(tmp_path, "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert outcome.kind == "done"
    assert outcome.summary.startswith("first\nxxx")
    assert outcome.summary.endswith("xxx\nlast")
    assert f"… ({3_000_012 - 1024 * 1024:,} bytes left out) …" in outcome.summary
    assert len(outcome.summary) < 1024 * 1024 + 100


async def test_binary_output_becomes_text_that_can_be_stored(tmp_path: Path) -> None:
    outcome = await ran(tmp_path, "printf 'a\\000b\\377c\\303'")
    assert outcome == Outcome(summary="a\ufffdb\ufffdc\ufffd", exit_code=0)


# Endings


@pytest.mark.parametrize(
    ("code", "permanent"), [(1, False), (2, False), (75, False), (64, True), (65, True), (77, True), (78, True), (126, True), (127, True)]
)
async def test_an_exit_code_is_a_failure_with_the_end_of_stderr_and_some_are_permanent(tmp_path: Path, code: int, permanent: bool) -> None:
    outcome = await ran(tmp_path, f"echo half; echo 'no such branch' >&2; exit {code}")
    assert outcome == Outcome(
        kind="failed",
        error=f"the command ended with exit code {code}: no such branch",
        permanent=permanent,
        not_started=code in (78, 126, 127),
        exit_code=code,
    )


async def test_without_a_word_on_stderr_the_end_of_the_output_says_why(tmp_path: Path) -> None:
    assert (await ran(tmp_path, "echo 'tests: 2 failed'; exit 1")).error == "the command ended with exit code 1: tests: 2 failed"
    assert (await ran(tmp_path, "exit 1")).error == "the command ended with exit code 1, without a word"


async def test_a_long_stderr_is_bounded_to_its_end(tmp_path: Path) -> None:
    outcome = await ran(tmp_path, "head -c 500000 /dev/zero | tr '\\0' e >&2; echo end >&2; exit 1")
    assert outcome.error.endswith("eeend")
    assert len(outcome.error) < 2100


async def test_a_failed_outcome_is_its_own_and_the_exit_code_makes_any_other_one_too(tmp_path: Path) -> None:
    printed = '{"kind": "failed", "error": "no such branch", "permanent": true, "cost": {"usd": 1.0}}'
    (tmp_path / "printed").write_text(printed)
    assert (await ran(tmp_path, "cat printed")).error == "no such branch"
    outcome = await ran(tmp_path, "cat printed; exit 3")
    assert outcome.error == "the command ended with exit code 3: no such branch"
    assert outcome.permanent
    assert outcome.cost is not None
    assert (await ran(tmp_path, """echo '{"kind": "done", "summary": "all well"}'; exit 3""")).kind == "failed"


async def test_a_command_ended_by_a_signal_says_which(tmp_path: Path) -> None:
    outcome = await ran(tmp_path, "kill -KILL $$")
    assert (outcome.kind, outcome.error, outcome.exit_code) == ("failed", "the command was ended by SIGKILL, without a word", -9)
    assert not outcome.permanent


async def test_an_exit_code_that_somebody_else_was_told_is_never_taken_for_success(tmp_path: Path) -> None:
    outcome = await ran(tmp_path, "echo well", hands=Noted(lambda pid: os.waitpid(pid, 0)))
    assert outcome.kind == "failed"
    assert "its exit code was taken by somebody else" in outcome.error


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("no-such-program", "-p"), "the command no-such-program was not found; PATH is "),
        (("./gone",), "the command ./gone is not there"),
        (("./plain",), "the command ./plain is not executable"),
        (("./headless",), "a script needs a first line"),
        (("./lost",), "the interpreter in its first line is not"),
    ],
)
async def test_a_command_that_can_not_be_started_is_a_permanent_failure_that_names_it(
    tmp_path: Path, argv: tuple[str, ...], said: str
) -> None:
    for name, text, mode in (("plain", "x", 0o644), ("headless", "x", 0o755), ("lost", "#!/no/such/shell\n", 0o755)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    hands = Noted()
    outcome = await CommandBrain(settings(tmp_path, kind="command", command=argv), SITE).think(a_turn(), hands)
    assert outcome.kind == "failed"
    assert outcome.permanent
    assert said in outcome.error
    assert hands.began == []


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    outcome = await ran(tmp_path / "gone", "true")
    assert outcome.permanent
    assert f"the folder {tmp_path / 'gone'}" in outcome.error


async def test_a_machine_out_of_processes_is_no_permanent_failure(tmp_path: Path) -> None:
    def refused(launch: object) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    outcome = await ran(tmp_path, "true", site=Site(spawn=refused))
    assert outcome.kind == "failed"
    assert not outcome.permanent
    assert "temporarily unavailable" in outcome.error


# Progress


@rule("K4a")
async def test_lines_on_stderr_are_progress(tmp_path: Path) -> None:
    script = "printf '\\033[32mone third\\033[0m\\n' >&2; while [ ! -e on ]; do sleep 0.01; done; echo done"
    hands = Releasing(tmp_path / "on")
    assert (await ran(tmp_path, script, hands=hands)).summary == "done"
    assert hands.said == ["one third"]


async def test_progress_that_is_refused_does_not_end_the_run(tmp_path: Path) -> None:
    class Refusing(Releasing):
        async def progress(self, text: str) -> None:
            await super().progress(text)
            raise LeaseLost("old")

    outcome = await ran(tmp_path, "echo here >&2; while [ ! -e on ]; do sleep 0.01; done; echo done", hands=Refusing(tmp_path / "on"))
    assert outcome.summary == "done"


# Accounts


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another")
async def test_as_root_a_brain_runs_under_its_own_account() -> None:
    outcome = await ran(Path("/"), "id -un; id -G; echo $HOME $USER", user="nobody")
    name, groups, home = outcome.summary.splitlines()
    account = account_of("nobody")
    assert account is not None
    assert name == "nobody"
    assert {int(group) for group in groups.split()} == {account.gid, *account.groups}
    assert home == f"{account.home} nobody"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another")
@rule("K4c")
async def test_a_brain_under_another_account_is_ended_like_any_other() -> None:
    hands = Noted()
    thinking = asyncio.create_task(ran(Path("/"), "trap '' TERM; setsid sleep 300 & echo $! >&2; wait", hands=hands, user="nobody"))
    await until(lambda: bool(hands.said))
    child = int(hands.said[0])
    assert is_running(child)
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert not is_running(child)
    assert is_gone(hands.began[0][0])


def test_another_account_is_refused_without_root_and_so_is_one_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misconfigured, match="no such account"):
        make(settings(tmp_path, kind="command", command=("true",), user="no-such-person"))
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(Misconfigured, match="only root"):
        make(settings(tmp_path, kind="command", command=("true",), user="nobody"))


# The contract


@rule("K4a", "P1")
async def test_a_command_brain_has_one_lane_and_may_try_anything(tmp_path: Path) -> None:
    brain = CommandBrain(settings(tmp_path, kind="command", command=("true",)), SITE)
    assert brain.lanes == 1
    assert brain.can("whatever it is")
    await brain.close()


async def test_the_task_itself_is_in_the_turn(tmp_path: Path) -> None:
    turn = a_turn(task=a_task("Sum it", data={"column": "price"}))
    outcome = await ran(
        tmp_path, """python3 -c "import json,sys; t=json.load(sys.stdin); print(t['task']['taskId'], t['task']['data']['column'])" """, turn
    )
    assert outcome.summary == "task_1 price"
