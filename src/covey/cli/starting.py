"""`covey up` and `covey down`, and the parts that run alone: agent, controller, console, gateway."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from covey.app import consoling, gateway, gateway_doors, hosting, noding, outer, snapshot
from covey.app.groups import CONSOLE, GATEWAY, own_ports
from covey.app.node_spec import node_spec
from covey.app.opening import run_dir
from covey.app.starting import Address, addresses, budgets_of, check_ports, down, look, make_ready, running_node, wait_ready
from covey.base.errors import Conflict, Failed, Misconfigured, Unknown
from covey.base.markers import marker
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity
from covey.base.progress import Tell
from covey.base.settings import Settings
from covey.cli.applying import in_its_light, refuse_leavers, undone
from covey.cli.budgeting import NAMES, told
from covey.cli.options import Whole, here, listed, nearest
from covey.cli.output import Progress, coloured, print_json, table
from covey.cli.reach import Reach
from covey.nodes.spawner import ExecSpawner


@click.command(epilog="Example: covey up --detach --base-port 9000")
@click.option("--detach", is_flag=True, help="Return once all is ready; the fleet goes on.")
@click.option("--only", metavar="A,B", help="Only these agents run on this machine.")
@click.option("--single-process", is_flag=True, help="All agents in one process, for tiny machines.")
@here
def up_command(reach: Reach, detach: bool, only: str | None, single_process: bool) -> int:
    """Start the fleet: one process an agent, the node that watches them, the API. On a running fleet: print its addresses."""
    reach.flag(only=listed(only) or None, processes=1 if single_process else None)
    return start(reach, detach=detach)


@click.command(epilog="Example: covey down")
@here
def down_command(reach: Reach) -> None:
    """Stop all processes of the fleet, cleanly; running tasks go back to their queues."""
    with Progress(as_json=reach.as_json) as progress:
        # where nothing ever ran, nothing is made either
        left = reach.run(down(reach.settings, progress.say)) if run_dir(reach.settings).exists() else []
    if left:
        raise Failed(
            f"these could not be ended, even by SIGKILL: {', '.join(left)}. `ps -o pid,user,stat,cmd -p PID` says whose they are, and"
            " whether the kernel holds them (D); `covey down` again ends what can be ended by then.",
            left=left,
        )
    reach.say({"stopped": True}, "the fleet is down; nothing of it is left running")


def start(reach: Reach, *, detach: bool) -> int:
    """Start what does not run yet, and print where it answers (A7a); the exit code."""
    if running_node(reach.settings) is not None:
        settings = snapshot.read(snapshot.path_of(reach.settings))
        _print(reach, reach.run(look(settings)), "the fleet runs already", reach.run(budgets_of(settings)))
        return 0
    settings = reach.settings
    began = time.monotonic()
    check_ports(settings)
    made_ready(settings)
    outer.remember(settings, reach.flags, os.environ, reach.file)
    if not reach.as_json:
        count = len(addresses(settings)) - len(own_ports(settings))
        click.echo(f"starting {count} agent{'' if count == 1 else 's'}; data in {os.path.relpath(settings.data_dir)}")
    if not detach:
        return reach.run(_in_the_foreground(reach, settings, began))
    node = reach.run(ExecSpawner().spawn(node_spec(settings)))
    reach.run(_announce(reach, settings, node, began))
    return 0


def made_ready(settings: Settings) -> Path:
    """The snapshot, once all is there that processes need; an agent that is no longer wanted goes only if it leaves nothing undone."""
    if (Path(settings.data_dir) / "store.db").exists() or settings.store:
        refuse_leavers(asyncio.run(undone(settings)))
    return asyncio.run(make_ready(settings))


async def _announce(reach: Reach, settings: Settings, node: Identity, began: float) -> None:
    """Wait until all is ready, and print where it answers."""
    with Progress(as_json=reach.as_json) as progress:
        found = await _waited(settings, node, progress.part)
    _print(reach, found, f"ready after {time.monotonic() - began:.1f} s", await budgets_of(settings))


async def _waited(settings: Settings, node: Identity, tell: Tell) -> list[Address]:
    """As `wait_ready`; a node that gave way to another one, which was started at the same time, is no failure."""
    try:
        return await wait_ready(settings, node, tell)
    except Failed:
        other = running_node(settings)
        if other is None or other.identity == node:
            raise
        return await wait_ready(settings, other.identity, tell)


def _print(reach: Reach, found: list[Address], headline: str, budgets: dict[str, Any]) -> None:
    """Where it answers, and what it may use a day (P3)."""
    if reach.as_json:
        shown = {name: budgets[name] for name in NAMES}
        print_json({"status": headline, "addresses": [each._asdict() for each in found], "budgets": shown})
        sys.stdout.flush()
        return
    click.echo(headline)
    table(["NAME", "STATE", "ADDRESS"], [[each.name, coloured("ready" if each.ready else "down"), each.url] for each in found], empty="")
    click.echo(f"in any 24 hours: {'; '.join(told(budgets))}")


async def _in_the_foreground(reach: Reach, settings: Settings, began: float) -> int:
    """Be the node, until Ctrl-C or SIGTERM takes the fleet down; the exit code."""
    me = Identity.of(os.getpid())
    assert me is not None
    noding.log_to_stderr()
    node = asyncio.create_task(noding.run(settings))
    ready = asyncio.create_task(_announce_the_foreground(reach, settings, me, began))
    await asyncio.wait({node, ready}, return_when=asyncio.FIRST_COMPLETED)
    if not node.done() and ready.exception() is not None:
        os.kill(os.getpid(), signal.SIGTERM)
        await node
        ready.result()
    ready.cancel()
    return await node


async def _announce_the_foreground(reach: Reach, settings: Settings, node: Identity, began: float) -> None:
    """As `_announce`, and how it is ended. A reader that has gone (`| head -1`) is an error like any other: the fleet goes down with it."""
    await _announce(reach, settings, node, began)
    if not reach.as_json:
        click.echo("Ctrl-C stops the fleet; `covey up --detach` leaves it running")


def one_agent(reach: Reach, name: str, port: int | None) -> int:
    """Be one agent, a node of its own, as containers run it; the exit code."""
    if _runs(reach, name):
        return EX_OWN_INSTANCE
    settings = in_its_light(reach)
    agent = settings.agent(name)
    if agent is None:
        raise Unknown(f"there is no agent {name!r}; {nearest(name, [each.id for each in settings.agents])}", field="agent")
    if agent.brain.kind == "external":
        raise Conflict(
            f"{name} is external: it has no process of ours. Its own session joins the fleet: `covey join`, or its client.", field="agent"
        )
    made_ready(settings)
    if port is not None and port != agent.port:
        agents = tuple(msgspec.structs.replace(each, port=port) if each.id == name else each for each in settings.agents)
        settings = msgspec.structs.replace(settings, agents=agents)
    noding.log_to_stderr()
    return asyncio.run(hosting.host(settings, [name], os.environ.get("COVEY_NODE") or name))


def _runs(reach: Reach, name: str) -> bool:
    """Whether a part of the fleet runs already, which is said (A10). Asked first: a second one must not change what the first goes by."""
    found = marker(run_dir(reach.settings) / f"{name}.lock")
    if found is not None:
        click.echo(f"covey: {name} runs already (pid {found.pid}); there is nothing to start.", err=True)
    return found is not None


def controller(reach: Reach) -> int:
    """Be the node, with no children; the exit code."""
    if _runs(reach, noding.NODE):
        return EX_OWN_INSTANCE
    outer.forget(reach.settings)
    made_ready(reach.settings)
    noding.log_to_stderr()
    return asyncio.run(noding.run(reach.settings, children=False))


def console(reach: Reach) -> int:
    """Be the API; the exit code."""
    return EX_OWN_INSTANCE if _runs(reach, CONSOLE) else consoling.main(str(made_ready(in_its_light(reach))))


def be_gateway(reach: Reach) -> int:
    """Be the gateway; the exit code.

    Raises:
        Misconfigured: It has nothing to serve.
    """
    if not gateway_doors.there():
        raise Misconfigured(gateway.NOTHING)
    return EX_OWN_INSTANCE if _runs(reach, GATEWAY) else gateway.main(str(made_ready(in_its_light(reach))))


@click.command(epilog="Example: AGENT_ID=coder PORT=8002 covey agent")
@click.argument("name", required=False, envvar="AGENT_ID", metavar="[AGENT]")
@click.option("--port", type=Whole(1, 65535), metavar="N", envvar="PORT", help="Another port than the settings give.")
@here
def agent_command(reach: Reach, name: str | None, port: int | None) -> int:
    """One agent alone, as containers run them; its name may come from AGENT_ID, its port from PORT."""
    if not name:
        raise click.UsageError("name the agent, or set AGENT_ID.")
    return one_agent(reach, name, port)


@click.command(epilog="Example: covey controller")
@here
def controller_command(reach: Reach) -> int:
    """The node without children: it leads, sweeps, and writes the shared files."""
    return controller(reach)


@click.command(epilog="Example: PORT=8000 covey console")
@click.option("--port", type=Whole(1, 65535), metavar="N", envvar="PORT", help="Another port than the settings give.")
@here
def console_command(reach: Reach, port: int | None) -> int:
    """The API and the console's pages alone; its port may come from PORT."""
    reach.flag(console_port=port)
    return console(reach)


@click.command(epilog="Example: PORT=8900 covey gateway")
@click.option("--port", type=Whole(1, 65534), metavar="N", envvar="PORT", help="Another port than the settings give.")
@here
def gateway_command(reach: Reach, port: int | None) -> int:
    """The gateway alone: MCP and A2A for all agents, as far as their extras are installed; its port may come from PORT."""
    reach.flag(gateway_port=port)
    return be_gateway(reach)
