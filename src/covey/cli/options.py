"""The options that all commands share, and the reach that they make."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from covey.cli.reach import Reach

F = TypeVar("F", bound=Callable[..., Any])


def reaching(command: F) -> F:
    """Give a command its `reach`, from --dir, --config, --url, --base-port and --json."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.option(
        "--url", envvar="COVEY_URL", metavar="URL", help="Reach a fleet elsewhere by its API, e.g. http://host:8000 (token in COVEY_TOKEN)."
    )
    @click.option(
        "--dir",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="COVEY_DIR",
        help="The fleet's folder; the current one if not given.",
    )
    @click.option("--config", type=click.Path(dir_okay=False, path_type=Path), help="Another file than covey.toml.")
    @click.option("--base-port", type=click.IntRange(1, 64000), help="The console's port; agents' ports follow.")
    @wraps(command)
    def with_reach(
        *args: Any, as_json: bool, url: str | None, folder: Path | None, config: Path | None, base_port: int | None, **more: Any
    ) -> Any:
        flags = {"dir": str(folder.absolute()) if folder else None, "base_port": base_port}
        with Reach(folder=Path.cwd(), config=config, url=url, as_json=as_json, flags=flags) as reach:
            return command(reach, *args, **more)

    return with_reach  # type: ignore[return-value]


as_agent = click.option("--from", "by", metavar="AGENT", help="Act as this agent, by its token; the operator if not given.")
