"""`covey up` step by step, and the parts that run alone. Loaded by those commands only."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import click
import msgspec

from covey.app import consoling, hosting, noding
from covey.app.starting import Address, check_ports, look, make_ready, running_node, wait_ready
from covey.base.errors import CoveyError, NotFound
from covey.base.processes import Identity
from covey.base.settings import Settings
from covey.cli.output import Refused, coloured, print_json, table
from covey.cli.reach import Reach
from covey.nodes.forkserver import Spec
from covey.nodes.spawner import ExecSpawner


def start(reach: Reach, *, detach: bool) -> int:
    """Start what does not run yet, and print where it answers (A7a); the exit code."""
    settings = reach.settings
    if running_node(settings) is not None:
        _print(reach, reach.run(look(settings)), "the fleet runs already")
        return 0
    began = time.monotonic()
    path = _made_ready(reach, check=True)
    if not reach.as_json:
        click.echo(f"starting {len(settings.agents)} agents; data in {os.path.relpath(settings.data_dir)}")
    if detach:
        node: Identity = reach.run(ExecSpawner().spawn(_node_spec(settings, path)))
        reach.run(_announce(reach, settings, node, began))
        return 0
    return int(reach.run(_in_the_foreground(reach, settings, began)))


def _made_ready(reach: Reach, *, check: bool) -> Path:
    try:
        if check:
            check_ports(reach.settings)
        return asyncio.run(make_ready(reach.settings))
    except CoveyError as error:
        raise Refused.of(error, as_json=reach.as_json) from error


def _node_spec(settings: Settings, path: Path) -> Spec:
    log = Path(settings.logs_dir) / "system" / "node.out"
    cwd = settings.root or str(Path.cwd())
    return Spec(
        name="node", entry="covey.app.noding:main", args=(str(path),), env=dict(os.environ), cwd=cwd, log=str(log), title="covey node"
    )


async def _announce(reach: Reach, settings: Settings, node: Identity, began: float) -> None:
    """Wait until all is ready, and print where it answers."""
    say = (lambda line: None) if reach.as_json else (lambda line: click.echo(f"  {line}"))
    found = await wait_ready(settings, node, say)
    _print(reach, found, f"ready after {time.monotonic() - began:.1f} s")


def _print(reach: Reach, found: list[Address], headline: str) -> None:
    if reach.as_json:
        print_json({"status": headline, "addresses": [each._asdict() for each in found]})
        return
    click.echo(headline)
    table(
        ["NAME", "STATE", "ADDRESS"], [[each.name, coloured("active" if each.ready else "stalled"), each.url] for each in found], empty=""
    )


async def _in_the_foreground(reach: Reach, settings: Settings, began: float) -> int:
    """Be the node, until Ctrl-C or SIGTERM takes the fleet down; the exit code."""
    me = Identity.of(os.getpid())
    assert me is not None
    noding.log_to_stderr()
    node = asyncio.create_task(noding.run(settings))
    ready = asyncio.create_task(_announce(reach, settings, me, began))
    await asyncio.wait({node, ready}, return_when=asyncio.FIRST_COMPLETED)
    if not node.done():
        if ready.exception() is not None:
            os.kill(os.getpid(), signal.SIGTERM)
            await node
            ready.result()
        if not reach.as_json:
            click.echo("Ctrl-C stops the fleet; `covey up --detach` leaves it running")
    ready.cancel()
    return await node


def one_agent(reach: Reach, name: str, port: int | None) -> int:
    """Be one agent, a node of its own, as containers run it; the exit code."""
    settings = reach.settings
    agent = settings.agent(name)
    if agent is None:
        names = ", ".join(each.id for each in settings.agents)
        raise Refused.of(NotFound(f"there is no agent {name!r}; the fleet has: {names}.", field="agent"), as_json=reach.as_json)
    if port is not None and port != agent.port:
        agents = tuple(msgspec.structs.replace(each, port=port) if each.id == name else each for each in settings.agents)
        settings = msgspec.structs.replace(settings, agents=agents)
    _made_ready(reach, check=False)
    noding.log_to_stderr()
    try:
        return asyncio.run(hosting.host(settings, [name], os.environ.get("COVEY_NODE", name)))
    except CoveyError as error:
        raise Refused.of(error, as_json=reach.as_json) from error


def controller(reach: Reach) -> int:
    """Be the node, with no children; the exit code."""
    _made_ready(reach, check=False)
    noding.log_to_stderr()
    return asyncio.run(noding.run(reach.settings, children=False))


def console(reach: Reach) -> int:
    """Be the API; the exit code."""
    return consoling.main(str(_made_ready(reach, check=False)))
