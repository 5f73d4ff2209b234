"""What the command line says of itself, and what it does with wrong words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from covey.api import fleet_port
from covey.cli import SECTIONS, cli, local
from covey.cli.options import Number, Whole
from covey.client.stream import Reader, Told
from tests.cli.conftest import Covey

HEAVY = ("psycopg", "psutil", "uvicorn", "prometheus_client", "structlog")
NO_API = (*HEAVY, "starlette", "apsw", "asyncio", "msgspec")


def leaves(group: click.Group, path: str = "covey") -> Iterator[tuple[str, click.Command]]:
    """Every command, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path} {name}")
        yield f"{path} {name}", command


def test_every_command_says_what_it_does_and_shows_an_example() -> None:
    found = dict(leaves(cli))
    assert len(found) > 50
    for path, command in found.items():
        assert command.help, path
        if not isinstance(command, click.Group) or command.invoke_without_command:
            assert re.match("Example: .*covey ", command.epilog or ""), path


def test_every_command_has_json_but_groups_that_only_hold_others() -> None:
    for path, command in leaves(cli):
        if not isinstance(command, click.Group):
            assert any("--json" in param.opts for param in command.params), path


def test_alone_it_shows_the_commands_by_section(covey: Covey) -> None:
    shown = covey()
    assert shown.code == 0
    assert [line.rstrip(":") for line in shown.out.splitlines() if line.rstrip(":") in SECTIONS] == list(SECTIONS)
    assert shown.out == covey("--help").out


def test_a_command_that_does_not_exist_names_what_comes_near(covey: Covey) -> None:
    for words, near in ((("staus",), "status"), (("task", "shwo", "x"), "show"), (("config", "chekc"), "check")):
        ended = covey(*words)
        assert ended.code == 2
        assert near in ended.err


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("handoff", "offer", "task_1", "ops", "--state", "[1]", "--json"), "--state"),
        (("send", "--json"), "TO"),
        (("send", "chief", "hi", "--priority", "soon", "--json"), "--priority"),
        (("send", "chief", "hi", "--deadline", "nan", "--json"), "--deadline"),
        (("ask", "chief", "hi", "--timeout", "inf", "--json"), "--timeout"),
        (("task", "list", "--limit", "0", "--json"), "--limit"),
        (("ps", "--nosuch", "--json"), "--nosuch"),
        (("stop", "--json"), None),
        (("nosuch", "--json"), None),
    ],
)
def test_wrong_usage_is_a_problem_object_with_json(covey: Covey, words: tuple[str, ...], field: str | None) -> None:
    ended = covey(*words)
    assert ended.code == 2
    assert ended.json["code"] == "invalid"
    assert ended.json.get("field") == field
    assert ended.err == ""


def numbers(command: click.Command) -> Iterator[tuple[str, click.ParamType[Any]]]:
    """A command's options that take numbers, one for each number."""
    for param in command.params:
        kinds = param.type.types if isinstance(param.type, click.Tuple) else [param.type]
        yield from ((param.opts[0], kind) for kind in kinds if isinstance(kind, type(click.INT) | type(click.FLOAT)))


def test_each_option_that_takes_a_number_says_what_was_given_and_what_may_be() -> None:
    found = [(path, option, kind) for path, command in leaves(cli) for option, kind in numbers(command)]
    assert len(found) > 50
    for path, option, kind in found:
        assert isinstance(kind, Whole | Number), (path, option)
        for given in ("nan", "inf", "-1", "x", "1e400"):
            with pytest.raises(click.BadParameter) as refused:
                kind.convert(given, None, None)
            assert re.fullmatch(rf"'{given}' is no (whole )?number (of seconds )?from [\d.]+ (on|to [\d,.]+)\.", refused.value.message), (
                option
            )


@pytest.mark.parametrize(
    "words",
    ["vote cast v x --confidence", "vote open t --voters a --option b --expertise a", "ps --watch", "context recall coder x --since"],
)
def test_what_is_no_number_is_told_as_it_was_given(covey: Covey, words: str) -> None:
    ended = covey(*words.split(), "nan")
    assert (ended.code, words.split()[-1 if "expertise" not in words else -2] in ended.err, "'nan'" in ended.err) == (2, True, True)


def test_json_as_the_text_of_a_message_is_no_option(covey: Covey) -> None:
    ended = covey("send", "nobody", "--", "--json")
    assert ended.code == 4
    assert ended.out == ""


def test_shared_options_may_stand_before_the_command(covey: Covey, folder: Path) -> None:
    (folder / "other").mkdir()
    assert covey("--json", "--dir", "other", "send", "chief", "hi").json["messageId"]
    assert (folder / "other" / ".covey").is_dir()
    assert not (folder / ".covey").exists()


def modules_after(words: list[str], folder: Path) -> tuple[set[str], str]:
    """The modules that a command loads, and what it printed."""
    code = f"import sys, json\nfrom covey.cli import run\ncode = run({words!r})\nprint(json.dumps([code, list(sys.modules)]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stdout + done.stderr
    return {name.partition(".")[0] for name in modules}, done.stdout


def test_help_and_version_load_next_to_nothing(folder: Path) -> None:
    for words in (["--help"], ["version"], ["completion", "zsh"]):
        modules, _ = modules_after(words, folder)
        assert not modules & set(NO_API), words


def test_a_send_loads_no_server_and_no_driver_but_its_own(folder: Path) -> None:
    modules, said = modules_after(["send", "chief", "hi"], folder)
    assert "delivered" in said
    assert not modules & set(HEAVY)


def test_each_shell_gets_its_completion(covey: Covey) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_COVEY_COMPLETE" in covey("completion", shell).out
    assert covey("completion", "tcsh").code == 2


def test_a_stream_is_put_together_from_parts() -> None:
    reader = Reader()
    text = b'retry: 1000\n\nid: 7\ndata: {"kind": "task.added"}\n\n: still here\n\nid: 8\r\nevent: resync\r\ndata: {"cursor": "8"}\r\n\r\n'
    for size in (1, 3, 1000):
        parts = [text[start : start + size] for start in range(0, len(text), size)]
        assert [told for part in parts for told in reader.feed(part)] == [
            Told("message", "7", {"kind": "task.added"}),
            Told("resync", "8", {"cursor": "8"}),
        ]


def test_all_that_the_api_does_can_be_called_while_the_fleet_is_down() -> None:
    parts = {path.stem for path in Path(fleet_port.__file__).parent.glob("fleet_*.py")} - {"fleet_port"}
    assert set(local.PARTS) == parts
