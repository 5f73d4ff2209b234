"""Agents looked at, and what an operator does to them: ps, status, stop, pause, resume, restart."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.cli.options import Number, as_agent, reaching
from covey.cli.output import ago, begin_screen, clock, coloured, print_json, print_json_line, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

WATCH_S = 2.0


@click.command(epilog="Example: covey ps --watch")
@click.option(
    "-w",
    "--watch",
    "every_s",
    is_flag=False,
    flag_value=WATCH_S,
    type=Number(min=0.5, max=3600),
    metavar="[SECONDS]",
    help=f"Again and again, each {WATCH_S:g} s if not said, until Ctrl-C.",
)
@reaching
def ps_command(reach: Reach, every_s: float | None) -> None:
    """Agents, pids, states, queues, buddies. With --json and --watch it is a line of JSON each time."""
    if every_s is None:
        page = reach.get("/api/v1/agents")
        if reach.as_json:
            print_json(page)
        else:
            _print_all(page)
        return
    while True:
        page = reach.get("/api/v1/agents")
        if reach.as_json:
            print_json_line(page)
        else:
            begin_screen()
            click.echo(f"{clock(time.time())}, again each {every_s:g} s\n")
            _print_all(page)
        time.sleep(every_s)


def _print_all(page: dict[str, Any]) -> None:
    now = time.time()
    head = ["AGENT", "STATUS", "PID", "PORT", "QUEUE", "UNREAD", "CONTEXT", "BUDDY", "BEAT", "AT WORK ON"]
    table(head, [_row(each, now) for each in page["items"]], empty="the fleet has no agents.")
    if servers := [f"{each['name']} (pid {each['pid']}, port {each['port']})" for each in page["servers"]]:
        click.echo(f"beside them: {', '.join(servers)}")
    if page["items"] and not servers and not any(each.get("pid") for each in page["items"]):
        click.echo("nothing of this fleet runs; `covey up` starts it")


def _row(agent: dict[str, Any], now: float) -> list[str]:
    context = agent["context"]
    return [
        agent["agentId"],
        coloured(_state(agent)),
        str(agent.get("pid") or "-"),
        str(agent["port"]),
        str(agent["queueLength"]),
        str(agent["unread"]),
        f"{100 * context['contextSize'] / max(context['maxContextSize'], 1):.0f}%",
        agent["buddyId"] or "-",
        ago(agent["lastHeartbeat"], now),
        safe((agent["currentTask"] or {}).get("description", "")),
    ]


def _state(agent: dict[str, Any]) -> str:
    """Its status, or the flag that stands beside it."""
    flag: str | None = next((word for word in ("stopped", "paused", "away") if agent["flags"].get(word)), None)
    return flag or str(agent["status"])


@click.command(epilog="Example: covey status coder --json")
@click.argument("agent")
@reaching
def status_command(reach: Reach, agent: str) -> None:
    """One agent's state; with --json every field of it."""
    found = reach.get(f"/api/v1/agents/{part(agent, 'agent')}")
    if reach.as_json:
        print_json(found)
        return
    click.echo(f"{found['agentId']}  {coloured(_state(found))}  {found['role']}")
    for word, value in _lines(found):
        if value:
            click.echo(f"  {word + ':':<10} {safe(str(value))}")


def _lines(agent: dict[str, Any]) -> list[tuple[str, Any]]:
    task, metrics, context = agent["currentTask"], agent["metrics"], agent["context"]
    running = (
        f"pid {agent['pid']} on {agent['node']}, last heartbeat {clock(agent['lastHeartbeat'])}" if agent.get("pid") else "not running"
    )
    waiting = [f"{each['taskId']} ({each['state']}): {each['description']}" for each in agent["taskQueue"][:5]]
    return [
        ("error", agent.get("error")),
        ("process", running),
        ("address", agent["url"]),
        ("brain", f"{agent['brain']}; able to {', '.join(agent['capabilities'])}"),
        ("buddy", agent["buddyId"]),
        ("covers", ", ".join(agent["covering"])),
        ("at work", f"{task['taskId']}: {task['description']}" if task else ""),
        ("waiting", f"{agent['queueLength']} tasks, {agent['unread']} unread messages"),
        *(("", each) for each in waiting),
        ("done", f"{metrics['tasksCompleted']} tasks, {metrics['messagesHandled']} messages"),
        ("context", f"{context['contextSize']} of {context['maxContextSize']} tokens"),
    ]


def _act(reach: Reach, agent: str, what: str, done: str, by: str | None, body: dict[str, Any] | None = None) -> None:
    found = reach.post(f"/api/v1/agents/{part(agent, 'agent')}/{what}", body, by=by)
    reach.say(found, f"{agent} is {done}")


def _act_on_all(reach: Reach, path: str, done: str, by: str | None, body: dict[str, Any] | None = None) -> None:
    found = reach.post(path, body, by=by)
    reach.say(found, f"every agent is {done}")


def _one_or_all(agent: str | None, everyone: bool) -> str | None:
    """The agent, or None for all of them."""
    if everyone == bool(agent):
        raise click.UsageError("name one agent, or give --all.")
    return agent


@click.command(epilog='Example: covey stop --all --reason "look at this first"')
@click.argument("agent", required=False)
@click.option("--all", "everyone", is_flag=True, help="Every agent.")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def stop_command(reach: Reach, agent: str | None, everyone: bool, reason: str, by: str | None) -> None:
    """Emergency stop: nothing new is taken, running brains end within 5 s, their work goes back. Until `resume`."""
    if name := _one_or_all(agent, everyone):
        _act(reach, name, "stop", "stopped", by, {"reason": reason})
    else:
        _act_on_all(reach, "/api/v1/emergency-stop", "stopped", by, {"reason": reason})


@click.command(epilog="Example: covey resume --all")
@click.argument("agent", required=False)
@click.option("--all", "everyone", is_flag=True, help="Every agent.")
@as_agent
@reaching
def resume_command(reach: Reach, agent: str | None, everyone: bool, by: str | None) -> None:
    """Let an agent work again after stop, pause, or restarts that were given up."""
    if name := _one_or_all(agent, everyone):
        _act(reach, name, "resume", "resumed", by)
    else:
        _act_on_all(reach, "/api/v1/resume", "resumed", by)


@click.command(epilog="Example: covey restart coder")
@click.argument("agent")
@as_agent
@reaching
def restart_command(reach: Reach, agent: str, by: str | None) -> None:
    """Start an agent's process anew; its work goes back first."""
    _act(reach, agent, "restart", "to be restarted by its node", by)


@click.command(epilog="Example: covey pause coder")
@click.argument("agent")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def pause_command(reach: Reach, agent: str, reason: str, by: str | None) -> None:
    """Let an agent take nothing new until `resume`; what it does now it finishes."""
    _act(reach, agent, "pause", "paused", by, {"reason": reason})
