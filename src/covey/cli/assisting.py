"""`covey mcp`: the fleet's tools over standard input and output, for an assistant that starts its servers itself."""

from __future__ import annotations

import os
from typing import Any

import click

from covey.app import gateway_doors
from covey.app.opening import open_store, prepare
from covey.app.tokens import tokens_of
from covey.base.errors import Misconfigured, NotFound
from covey.base.settings import Settings
from covey.cli.options import here, nearest
from covey.cli.reach import Reach
from covey.doors.door import FleetDoor

MISSING = 'the official MCP package is not installed; pip install "covey[mcp]" brings it.'


@click.command(epilog="Example: covey --dir /srv/fleet mcp --as coder")
@click.option("--as", "name", metavar="AGENT", help="Be this agent, by its token in tokens.toml; else the token in COVEY_TOKEN says who.")
@click.option("--profile", type=click.Choice(["reader", "worker", "lead"]), help="Which tools are shown; as the agent's settings say.")
@here
def mcp_command(reach: Reach, name: str | None, profile: Any) -> None:
    """The fleet's tools as an MCP server on standard input and output. It needs no running gateway, nor a running fleet."""
    if not gateway_doors.has("mcp"):
        raise Misconfigured(MISSING)
    if name is None and not os.environ.get("COVEY_TOKEN"):
        raise click.UsageError("name the agent by --as, or set COVEY_TOKEN to its token.")
    reach.run(_serve(reach.settings, name, profile))


async def _serve(settings: Settings, name: str | None, profile: Any) -> None:
    from covey.mcp import stdio  # noqa: PLC0415 - a second of import that no other command pays

    store = open_store(settings)
    try:
        await prepare(store, settings)
        known = await tokens_of(store, settings)
        if name is not None and name not in known:
            raise NotFound(f"there is no token for {name[:60]!r}; {nearest(name, list(known))}", field="as")
        token = known[name] if name is not None else os.environ["COVEY_TOKEN"]
        await stdio.serve(FleetDoor(store=store, settings=settings, bell=None), token, profile)
    finally:
        await store.close()
