"""`covey logs`: the log tree of a fleet on this machine, read and followed."""

from __future__ import annotations

import click

from covey.base.clock import SystemClock
from covey.base.errors import Unknown
from covey.cli.options import Whole, here, nearest
from covey.cli.output import print_json, safe
from covey.cli.reach import Reach
from covey.files.logs import follow, log_of, tail


@click.command(epilog="Example: covey logs coder -f")
@click.argument("agent")
@click.option("-f", "--follow", "going_on", is_flag=True, help="Go on as lines come.")
@click.option("--lines", type=Whole(1, 10_000), metavar="N", default=50, show_default=True)
@click.option("--output", is_flag=True, help="What its process printed, instead of what happened to it.")
@here
def logs_command(reach: Reach, agent: str, going_on: bool, lines: int, output: bool) -> None:
    """What happened to an agent, as lines of JSON; with --output what its process printed."""
    known = [each.id for each in reach.settings.agents]
    if agent not in known:
        raise Unknown(f"there is no agent {agent[:60]!r}; {nearest(agent, known)}", field="agent")
    found = tail(reach.settings, agent, lines, output=output)
    if going_on:
        for line in found:
            click.echo(safe(line))
        reach.run(_follow(reach, agent, output=output))
    elif reach.as_json:
        print_json({"agent": agent, "file": str(log_of(reach.settings, agent, output=output)), "lines": found})
    else:
        click.echo(safe("\n".join(found)) if found else f"there are no lines yet in {log_of(reach.settings, agent, output=output)}.")


async def _follow(reach: Reach, agent: str, *, output: bool) -> None:
    async for line in follow(reach.settings, agent, SystemClock(), output=output):
        click.echo(safe(line))
