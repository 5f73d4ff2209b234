"""Budgets on the command line: what idle agents and paid brains may use a day, and what is used (P3)."""

from __future__ import annotations

from typing import Any

import click

from covey.cli.options import Named, Number, Whole, reaching
from covey.cli.output import clock, print_json, safe, table
from covey.cli.reach import Reach

NAMES = ("tasks", "turns", "usd")


@click.group(cls=Named)
def budget_command() -> None:
    """What may be used in any 24 hours: generated tasks an agent, turns of brains that cost money, US dollars."""


@budget_command.command("show", epilog="Example: covey budget show --json")
@reaching
def budget_show(reach: Reach) -> None:
    """The budgets, what is spent of them, and what was planned for each agent."""
    _print(reach, reach.get("/api/v1/budget"))


@budget_command.command("set", epilog="Example: covey budget set --turns 500 --usd 20")
@click.option("--tasks", type=Whole(0), metavar="N", help="Generated tasks an agent; with --agent for that one alone.")
@click.option("--turns", type=Whole(0), metavar="N", help="Turns of brains that cost money, in the whole fleet.")
@click.option("--usd", type=Number(0), metavar="DOLLARS", help="What brains may cost, in the whole fleet.")
@click.option("--agent", metavar="AGENT", help="Whose generated tasks are meant.")
@click.option("--reset", multiple=True, type=click.Choice(NAMES), help="Let this one be as covey.toml says again.")
@reaching
def budget_set(reach: Reach, agent: str | None, reset: tuple[str, ...], **given: Any) -> None:
    """Set budgets. They hold at once and over restarts, before what covey.toml says."""
    new = {name: value for name, value in given.items() if value is not None} | dict.fromkeys(reset)
    if not new:
        raise click.UsageError("say which one: --tasks, --turns, --usd, or --reset.")
    _print(reach, reach.post("/api/v1/budget", new | ({"agent": agent} if agent is not None else {})))


def _print(reach: Reach, found: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(found)
        return
    click.echo("in any 24 hours:")
    for line in told(found):
        click.echo(f"  {line}")
    rows = [
        [each["agentId"], f"{each['spent']:,.0f} / {each['limit']:,.0f}", clock(each.get("nextAt")), safe(each.get("why") or "")]
        for each in found["agents"]
    ]
    table(["AGENT", "TASKS", "NEXT LOOK", "THE LAST ONE"], rows, empty="there are no agents.")


def told(found: dict[str, Any]) -> list[str]:
    """The budgets in a line each. Pure."""
    tasks, turns, usd = found["tasks"], found["turns"], found["usd"]
    return [
        f"generated tasks: {tasks['limit']:,.0f} an agent ({tasks['source']})",
        f"turns of paid brains: {turns['spent']:,.0f} of {turns['limit']:,.0f} used ({turns['source']}){_again(turns)}",
        f"money: ${usd['spent']:.2f} of ${usd['limit']:.2f} used ({usd['source']}){_again(usd)}",
    ]


def _again(fund: dict[str, Any]) -> str:
    at = fund.get("renewsAt")
    return f"; spent until {clock(at)}" if at is not None else "; none may be used" if not fund["limit"] else ""
