"""Incidents: what befell agents, what was done about it, how long it took."""

from __future__ import annotations

from typing import Any

import click

from covey.cli.options import POSITION, Named, for_people, reaching
from covey.cli.output import clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part


@click.group(cls=Named)
def incident_command() -> None:
    """What befell agents, what was done about it, and how long it took."""


@incident_command.command("list", epilog="Example: covey incident list --open")
@click.option("--open", "only_open", is_flag=True, help="Only those that have not ended.")
@click.option("--agent", metavar="AGENT", help="Only this agent's.")
@click.option("--kind", metavar="KIND", help="Only this kind, as crash_loop.")
@click.option("--cursor", type=POSITION, metavar="N", help="Go on after this one.")
@for_people
@reaching
def incident_list(reach: Reach, only_open: bool, limit: int, **which: Any) -> None:
    """Incidents, newest first."""
    page = reach.get("/api/v1/incidents", open="true" if only_open else None, limit=limit, **which)
    if reach.as_json:
        print_json(page)
        return
    rows = [
        [each["incidentId"], clock(each["openedAt"]), each["agent"] or "-", each["kind"], _how(each), safe(each["cause"])]
        for each in page["items"]
    ]
    table(["ID", "OPENED", "AGENT", "KIND", "END", "CAUSE"], rows, empty="no incidents.")
    if page.get("cursor"):
        click.echo(f"more: covey incident list --cursor {page['cursor']}")


def _how(incident: dict[str, Any]) -> str:
    """How it ended, and after how long."""
    return f"{incident['outcome']}, {_span(incident['tookS'])}" if incident["tookS"] is not None else "open"


def _span(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


@incident_command.command("show", epilog="Example: covey incident show inc_…")
@click.argument("ident", metavar="ID")
@reaching
def incident_show(reach: Reach, ident: str) -> None:
    """The story of one: cause, each step with its time, end."""
    _show(reach, reach.get(f"/api/v1/incidents/{part(ident)}"))


@incident_command.command("close", epilog='Example: covey incident close inc_… --reason "looked at"')
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why, for the story.")
@reaching
def incident_close(reach: Reach, ident: str, reason: str) -> None:
    """Close one by hand; what is still wrong opens a new one."""
    _show(reach, reach.post(f"/api/v1/incidents/{part(ident)}/close", {"reason": reason}))


def _show(reach: Reach, incident: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(incident)
        return
    about = f" about {incident['subject']}" if incident["subject"] else ""
    click.echo(f"{incident['incidentId']}  {incident['agent'] or 'the fleet'}  {coloured(incident['kind'])}{about}")
    click.echo(f"{clock(incident['openedAt'])}  {safe(incident['cause'])}")
    for each in incident["steps"]:
        click.echo(f"  +{each['afterS']:8.3f} s  {each['action']:14}  {safe(each['sentence'])}")
    if incident["tookS"] is not None:
        click.echo(f"ended: {incident['outcome']}, {incident['tookS']:.3f} s from cause to cure")
    else:
        click.echo(f"open. {safe(incident['next'] or '')}")
    if incident["calledAt"] is not None:
        click.echo(f"the operator was told {clock(incident['calledAt'])}")
