"""What all commands share: the options of which fleet is meant, the reach that they make, values with bounds, and names that come near."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_GIVEN = "covey.options"
"""Where the shared options that were given stand in the context: `covey --dir X task --json list` is one line of words."""


def shared(*, url: bool = True, hidden: bool = False) -> Callable[[F], F]:
    """Give a group --json, --dir, --config, --base-port and --url; they are kept for its commands."""

    def decorate(command: F) -> F:
        return _with_options(_keeping(command), url=url, hidden=hidden)

    return decorate


def reaching(command: F) -> F:
    """Give a command its `reach`, of a fleet here or elsewhere."""
    return _with_options(_with_reach(command), url=True)


def here(command: F) -> F:
    """Give a command its `reach`, of a fleet on this machine only."""
    return _with_options(_with_reach(command), url=False)


def bare(command: F) -> F:
    """Give a command the shared options that were given as a mapping, and no reach: it needs no fleet."""

    @wraps(command)
    def called(*args: Any, **words: Any) -> Any:
        rest = _keep(words)
        return command(click.get_current_context().meta[_GIVEN], *args, **rest)

    return _with_options(called, url=False)  # type: ignore[return-value]


def _with_options(command: F, *, url: bool, hidden: bool = False) -> F:
    for option in reversed(_options(url=url, hidden=hidden)):
        command = option(command)
    return command


def _options(*, url: bool, hidden: bool) -> list[Callable[[F], F]]:
    folder = click.Path(file_okay=False, path_type=Path)
    file = click.Path(dir_okay=False, path_type=Path)
    found = [
        click.option("--json", "as_json", is_flag=True, hidden=hidden, help="Print JSON."),
        click.option(
            "--dir", "home", type=folder, envvar="COVEY_DIR", hidden=hidden, help="The fleet's folder; the current one if not given."
        ),
        click.option("--config", type=file, hidden=hidden, help="Another file than covey.toml."),
        click.option("--base-port", type=Whole(1, 64000), metavar="N", hidden=hidden, help="The console's port; agents' ports follow."),
    ]
    if url:
        told = "Reach a fleet elsewhere by its API, as http://host:8000; its token in COVEY_TOKEN."
        found.append(click.option("--url", envvar="COVEY_URL", metavar="URL", hidden=hidden, help=told))
    return found


def _keeping(command: F) -> F:
    @wraps(command)
    def kept(*args: Any, **words: Any) -> Any:
        return command(*args, **_keep(words))

    return kept  # type: ignore[return-value]


def _keep(words: dict[str, Any]) -> dict[str, Any]:
    """Note the shared options that were given; the rest."""
    given = click.get_current_context().meta.setdefault(_GIVEN, {})
    for name in ("as_json", "home", "config", "base_port", "url"):
        if value := words.pop(name, None):
            given[name] = value
    return words


def _with_reach(command: F) -> F:
    @wraps(command)
    def reached(*args: Any, **words: Any) -> Any:
        rest = _keep(words)
        from covey.cli.reach import Reach  # noqa: PLC0415 - help and wrong words don't pay for the settings and the event loop

        with Reach(**click.get_current_context().meta[_GIVEN]) as reach:
            return command(reach, *args, **rest)

    return reached  # type: ignore[return-value]


as_agent = click.option("--from", "by", metavar="AGENT", help="Act as this agent, by its token; the operator if not given.")


class Whole(click.IntRange):
    """A whole number within bounds; what is wrong is told with what may be given."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(_not_allowed(value, self), param, ctx)


class Number(click.FloatRange):
    """A finite number within bounds; what is wrong is told with what may be given. NaN, which compares as nothing, is wrong too."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            found = super().convert(value, param, ctx)
        except click.BadParameter:
            found = math.nan
        if not math.isfinite(found):
            self.fail(_not_allowed(value, self), param, ctx)
        return found


class Seconds(Number):
    """A number of seconds, finite and not negative, a year at most."""

    name = "number of seconds"

    def __init__(self, *, above: float = 0.0) -> None:
        super().__init__(min=above, max=366 * 86400.0)


def _not_allowed(given: Any, kind: Whole | Number) -> str:
    most = f"to {kind.max:,}".removesuffix(".0") if kind.max is not None else "on"
    return f"{str(given)[:60]!r} is no {kind.name} from {kind.min:,} {most}."


SECONDS = Seconds()
POSITION = Whole(0)
"""Where a list goes on."""
for_people = click.option("--limit", type=Whole(1, 200), metavar="N", default=50, show_default=True, help="So many at most.")
from_cursor = click.option("--cursor", type=POSITION, metavar="N", help="Go on after this one.")


def words_of(text: str) -> str:
    """The text of an argument; of `-`, what standard input holds."""
    return sys.stdin.read() if text == "-" else text


def listed(text: str | None) -> list[str]:
    """The parts of a list that is written with commas."""
    return [part for part in map(str.strip, (text or "").split(",")) if part]


def nearest(word: str, words: list[str]) -> str:
    """A half-sentence with the words that come near, or with all of them if none does and they are few."""
    from difflib import get_close_matches  # noqa: PLC0415 - 4 ms that only a wrong word pays

    near = get_close_matches(word, words, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there is: {', '.join(words[:20])}{' …' if len(words) > 20 else ''}." if words else "there is none."


class Named(click.Group):
    """A group of commands that names what comes near a wrong word."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, but for a wrong word."""
        if not ctx.resilient_parsing and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"there is no command {args[0]!r}; {nearest(args[0], self.list_commands(ctx))}", ctx=ctx)
        return super().resolve_command(ctx, args)
