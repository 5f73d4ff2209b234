"""Buddies on the command line: who watches whom, and a look after one agent right now (B1, B2)."""

from __future__ import annotations

from typing import Any

import click

from covey.cli.options import Named, as_agent, reaching
from covey.cli.output import ago, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

_TODO = {
    "well": "nothing is to be done.",
    "ping": "it is to be pinged.",
    "restart": "its buddy would ask its node for a restart.",
    "escalate": "its buddy would tell the lead.",
    "wait": "its buddy waits for what was done already.",
}


@click.group(cls=Named)
def buddy_command() -> None:
    """Who watches whom, and how they are."""


@buddy_command.command("list", epilog="Example: covey buddy list")
@reaching
def buddy_list(reach: Reach) -> None:
    """Every agent, the one it watches, and what came of its checks."""
    found = reach.get("/api/v1/buddies")
    if reach.as_json:
        print_json(found)
        return
    now = reach.now()
    rows = [_row(each, now) for each in found["items"]]
    table(["AGENT", "WATCHES", "CHECKED", "OUTCOME", "ANSWERED", "COVERS", "COVERED BY", "WHY"], rows, empty="the fleet has no agents.")
    alone = [each["agentId"] for each in found["items"] if not each["watchedBy"]]
    if alone:
        click.echo(f"Nobody watches {', '.join(alone)}: the controller does.")


def _row(each: dict[str, Any], now: float) -> list[str]:
    return [
        each["agentId"],
        each["buddyId"],
        ago(each["lastCheck"], now),
        coloured(each["outcome"] or "-"),
        f"{each['answered']}/{each['checks']}",
        ", ".join(each["covering"]) or "-",
        each["coveredBy"] or "-",
        safe(each["reason"] or ""),
    ]


@buddy_command.command("check", epilog="Example: covey buddy check coder")
@click.argument("agent")
@as_agent
@reaching
def buddy_check(reach: Reach, agent: str, by: str | None) -> int:
    """See how an agent is, over its own port, as its buddy does; nothing is done about it. Exit code 1 if it does not answer."""
    found = reach.post(f"/api/v1/agents/{part(agent, 'agent')}/buddy-check", {}, by=by)
    if reach.as_json:
        print_json(found)
    elif found["answered"]:
        beat = clock(found["lastHeartbeat"])
        size = f"{found['contextSize']} of {found['maxContextSize']} tokens"
        click.echo(f"{agent} is {coloured(found['status'])}: {found['queueLength']} tasks wait, context {size}, last heartbeat {beat}.")
        if found["covering"]:
            click.echo(f"It covers {', '.join(found['covering'])}.")
    else:
        pinged = f" The health ping: {found['ping']}." if found["ping"] else ""
        click.echo(f"{agent} does not answer ({found['reason']}): {safe(found['why'])}.{pinged} {_TODO[found['todo']]}")
    return 0 if found["answered"] else 1
