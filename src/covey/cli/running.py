"""The fleet's processes: up, down, ps, and what an operator does to an agent. `agent`, `controller` and `console` are one part alone."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from covey.cli.options import as_agent, reaching
from covey.cli.output import Refused, ago, coloured, print_json, table
from covey.cli.reach import Reach, part


@click.command()
@click.option("--detach", is_flag=True, help="Return once all is ready; the fleet goes on.")
@click.option("--only", metavar="A,B", help="Only these agents run on this machine.")
@click.option("--single-process", is_flag=True, help="All agents in one process, for tiny machines.")
@reaching
def up_command(reach: Reach, detach: bool, only: str | None, single_process: bool) -> None:
    """Start the fleet: one process an agent, the node that watches them, the API. On a running fleet: print its addresses."""
    # starting loads the nodes' parts, which no other command needs
    from covey.cli.starting import start

    reach.flag(only=only.split(",") if only else None, processes=1 if single_process else None)
    sys.exit(start(reach, detach=detach))


@click.command()
@reaching
def down_command(reach: Reach) -> None:
    """Stop all processes of the fleet, cleanly; running tasks go back to their queues."""
    from covey.app.starting import down

    say = (lambda line: None) if reach.as_json else click.echo
    left = reach.run(down(reach.settings, say))
    if left:
        raise Refused({"code": "failed", "detail": f"these could not be ended: {', '.join(left)}"}, as_json=reach.as_json)
    print_json({"stopped": True}) if reach.as_json else click.echo("the fleet is down; nothing of it is left running")


@click.command()
@reaching
def ps_command(reach: Reach) -> None:
    """Agents, pids, states, queues, buddies."""
    page = reach.get("/api/v1/agents")
    if reach.as_json:
        print_json(page)
        return
    now = time.time()
    rows = [_row(each, now) for each in page["items"]]
    table(
        ["AGENT", "STATUS", "PID", "PORT", "QUEUE", "UNREAD", "CONTEXT", "BUDDY", "BEAT", "AT WORK ON"],
        rows,
        empty="the fleet has no agents.",
    )


def _row(agent: dict[str, Any], now: float) -> list[str]:
    flags = agent.get("flags") or {}
    state = next((word for word in ("stopped", "paused", "away") if flags.get(word)), agent["status"])
    task = agent.get("currentTask") or {}
    context = agent.get("context") or {}
    share = f"{100 * context['contextSize'] / context['maxContextSize']:.0f}%" if context.get("maxContextSize") else "-"
    return [
        agent["agentId"],
        coloured(state),
        str(agent.get("pid") or "-"),
        str(agent.get("port") or "-"),
        str(agent.get("queueLength", 0)),
        str(agent.get("unread", 0)),
        share,
        agent.get("buddyId") or "-",
        ago(agent.get("lastHeartbeat"), now),
        str(task.get("description") or ""),
    ]


@click.command()
@click.argument("agent")
@reaching
def status_command(reach: Reach, agent: str) -> None:
    """One agent's state, with every field."""
    print_json(reach.get(f"/api/v1/agents/{part(agent)}"))


def _act(reach: Reach, agent: str | None, everyone: bool, what: str, by: str | None, body: dict[str, Any] | None = None) -> None:
    if everyone == bool(agent):
        raise click.UsageError("name one agent, or give --all.")
    if everyone:
        path = {"stop": "/api/v1/emergency-stop", "resume": "/api/v1/resume"}[what]
    else:
        path = f"/api/v1/agents/{part(str(agent))}/{what}"
    found = reach.post(path, body, by=by)
    done = {"stop": "stopped", "resume": "resumed", "pause": "paused", "restart": "asked to restart"}[what]
    print_json(found) if reach.as_json else click.echo(f"{agent or 'every agent'} is {done}")


@click.command()
@click.argument("agent", required=False)
@click.option("--all", "everyone", is_flag=True, help="Every agent.")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def stop_command(reach: Reach, agent: str | None, everyone: bool, reason: str, by: str | None) -> None:
    """Emergency stop: nothing new is taken, running brains end within 5 s, their work goes back. Until `resume`."""
    _act(reach, agent, everyone, "stop", by, {"reason": reason})


@click.command()
@click.argument("agent", required=False)
@click.option("--all", "everyone", is_flag=True, help="Every agent.")
@as_agent
@reaching
def resume_command(reach: Reach, agent: str | None, everyone: bool, by: str | None) -> None:
    """Let an agent work again after stop, pause, or restarts that were given up."""
    _act(reach, agent, everyone, "resume", by)


@click.command()
@click.argument("agent")
@as_agent
@reaching
def restart_command(reach: Reach, agent: str, by: str | None) -> None:
    """Start an agent's process anew; its work goes back first."""
    _act(reach, agent, False, "restart", by)


@click.command()
@click.argument("agent")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def pause_command(reach: Reach, agent: str, reason: str, by: str | None) -> None:
    """Let an agent take nothing new until `resume`; what it does now it finishes."""
    _act(reach, agent, False, "pause", by, {"reason": reason})


@click.command()
@click.argument("name", required=False, envvar="AGENT_ID", metavar="[AGENT]")
@click.option("--port", type=click.IntRange(1, 65535), envvar="PORT", help="Another port than the settings give.")
@reaching
def agent_command(reach: Reach, name: str | None, port: int | None) -> None:
    """One agent alone, as containers run them; its name may come from AGENT_ID, its port from PORT."""
    from covey.cli.starting import one_agent

    if not name:
        raise click.UsageError("name the agent, or set AGENT_ID.")
    sys.exit(one_agent(reach, name, port))


@click.command()
@reaching
def controller_command(reach: Reach) -> None:
    """The node without children: it leads, sweeps, and writes the shared files."""
    from covey.cli.starting import controller

    sys.exit(controller(reach))


@click.command()
@reaching
def console_command(reach: Reach) -> None:
    """The API (and later the console's pages) alone."""
    from covey.cli.starting import console

    sys.exit(console(reach))


@click.command()
@click.argument("agent")
@click.option("-f", "--follow", is_flag=True, help="Go on as lines come.")
@click.option("--lines", type=click.IntRange(1, 10_000), default=50, show_default=True)
@reaching
def logs_command(reach: Reach, agent: str, follow: bool, lines: int) -> None:
    """What an agent's process printed."""
    path = Path(reach.settings.logs_dir) / "agents" / f"{agent}.out"
    if not path.exists():
        raise Refused(
            {"code": "not_found", "detail": f"there is no log of {agent!r} at {os.path.relpath(path)}; has it ever run here?"},
            as_json=reach.as_json,
        )
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file.readlines()[-lines:]:
            click.echo(line, nl=False)
        while follow:
            line = file.readline()
            click.echo(line, nl=False) if line else time.sleep(0.2)
