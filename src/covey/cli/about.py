"""Commands about the program itself, which need no fleet: version, completion, install-service. They load next to nothing."""

from __future__ import annotations

import getpass
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from covey.base.errors import Failed
from covey.cli.options import bare
from covey.version import __version__

UNIT = """\
# A Covey fleet as a service of this machine. Put it in /etc/systemd/system/, then:
#   systemctl daemon-reload && systemctl enable --now covey
[Unit]
Description=Covey, a fleet of AI agents ({folder_named})
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User={user}
WorkingDirectory={folder}
ExecStart={covey} up{options}
ExecStop={covey} down{options}
# Agents outlive the node and are adopted by the next one; `covey down` ends them.
KillMode=process
Restart=on-failure
RestartSec=2
# 73: this fleet's own process holds the port already; trying again is of no use.
RestartPreventExitStatus=73
TimeoutStopSec=60
NoNewPrivileges=true
ProtectSystem=full
PrivateTmp=true

[Install]
WantedBy=multi-user.target
"""


@click.command(epilog="Example: covey version --json")
@bare
def version_command(given: Mapping[str, Any]) -> None:
    """The version of Covey, and of the Python it runs on."""
    found = {"version": __version__, "python": platform.python_version()}
    _print(given, found, f"covey {found['version']}, Python {found['python']}")


def _print(given: Mapping[str, Any], found: Mapping[str, Any], text: str) -> None:
    click.echo(json.dumps(found, indent=2) if given.get("as_json") else text)


@click.command(epilog='Example: eval "$(covey completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@bare
def completion_command(given: Mapping[str, Any], shell: str) -> None:
    """Print the completion script of a shell; load it from the shell's start-up file."""
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.get_current_context().find_root().command, {}, "covey", "_COVEY_COMPLETE").source()
    _print(given, {"shell": shell, "script": script}, script)


@click.command(epilog="Example: covey install-service --to /etc/systemd/system/covey.service")
@click.option("--to", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write it there instead of printing it.")
@bare
def install_service_command(given: Mapping[str, Any], file: Path | None) -> None:
    """Write a systemd unit that keeps the fleet of this folder. It holds no secrets; nothing is enabled."""
    words = [f"--config {_quoted(str(given['config'].resolve()))}"] if "config" in given else []
    words += [f"--base-port {given['base_port']}"] if "base_port" in given else []
    text = unit(Path(given.get("home", ".")).resolve(), program(), getpass.getuser(), words)
    if file is not None:
        _write(file, text)
    done = f"{file} is written; next: systemctl daemon-reload && systemctl enable --now {file.stem}" if file else text.rstrip()
    _print(given, {"file": str(file) if file else None, "unit": text}, done)


def unit(folder: Path, covey: str, user: str, words: Sequence[str] = ()) -> str:
    """The unit's text; `words` are further options of `covey up` and `covey down`. Pure."""
    return UNIT.format(
        folder=_escaped(str(folder)),
        folder_named=_escaped(folder.name),
        covey=_quoted(covey),
        user=user,
        options="".join(f" {word}" for word in words),
    )


def program() -> str:
    """The whole path of the `covey` that runs now."""
    beside = Path(sys.executable).with_name("covey")
    return str(beside) if os.access(beside, os.X_OK) else str(Path(sys.argv[0]).resolve())


def _escaped(text: str) -> str:
    """Text in which systemd reads nothing of its own."""
    return text.replace("%", "%%")


def _quoted(path: str) -> str:
    """A path as one word of a command line of systemd's."""
    return _escaped(path) if " " not in path else '"' + _escaped(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{file} can't be written: {error.strerror}.", field="--to") from error
