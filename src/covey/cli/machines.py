"""Nodes on the command line: which machines run agents of this fleet."""

from __future__ import annotations

import click

from covey.cli.options import Named, reaching
from covey.cli.output import ago, coloured, print_json, table
from covey.cli.reach import Reach


@click.group(cls=Named)
def node_command() -> None:
    """The machines that run agents of this fleet."""


@node_command.command("list", epilog="Example: covey node list")
@reaching
def node_list(reach: Reach) -> None:
    """Every node, whether it lives, and which one leads."""
    found = reach.get("/api/v1/nodes")
    if reach.as_json:
        print_json(found)
        return
    now = reach.now()
    rows = [
        [
            each["nodeId"],
            coloured(each["state"]),
            "yes" if each["leads"] else "",
            str(each["pid"]),
            each["version"],
            ago(each["lastHeartbeat"], now),
            each["host"],
        ]
        for each in found["items"]
    ]
    table(["NODE", "STATE", "LEADS", "PID", "VERSION", "BEAT", "HOST"], rows, empty="no node has ever run; `covey up` starts one here.")
