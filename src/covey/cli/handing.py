"""Handoffs on the command line: a task offered to another agent, accepted, declined, listed (Q3)."""

from __future__ import annotations

from typing import Any

import click

from covey.base import wire
from covey.base.errors import Invalid, TooLarge
from covey.cli.options import SECONDS, Named, Number, as_agent, for_people, from_cursor, reaching, words_of
from covey.cli.output import Ended, ago, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

_STATES = click.Choice(["offered", "accepted", "declined", "expired", "withdrawn"])


@click.group(cls=Named)
def handoff_command() -> None:
    """Hand a task over to another agent, with its state and what is to be known of it."""


@handoff_command.command("offer", epilog='Example: covey handoff offer figures finance --reason "they are yours" --progress 0.5 --wait')
@click.argument("ident", metavar="TASK")
@click.argument("to")
@as_agent
@click.option("--reason", default="", metavar="TEXT")
@click.option("--state", "state", metavar="JSON", help="Where the work stands, as a JSON object; `-` reads it from standard input.")
@click.option("--progress", type=Number(0, 1), metavar="SHARE", help="How much of it is done, 0 to 1.")
@click.option("--note", "notes", multiple=True, metavar="TEXT", help="What TO is to remember; as often as you like.")
@click.option("--deadline", type=SECONDS, metavar="SECONDS", help="It goes back after so long; ten minutes if not given.")
@click.option("--wait", is_flag=True, help="Wait until it is answered; exit code 0 only if it is accepted.")
@reaching
def handoff_offer(
    reach: Reach,
    ident: str,
    to: str,
    by: str | None,
    reason: str,
    state: str | None,
    progress: float | None,
    notes: tuple[str, ...],
    deadline: float | None,
    wait: bool,
) -> None:
    """Offer TASK to the agent TO, or to the best of a @capability. It is set aside until the answer; one that runs goes on meanwhile."""
    draft: dict[str, Any] = {"taskId": ident, "to": to, "reason": reason, "context": [{"text": note} for note in notes]}
    if state is not None:
        draft["taskState"] = _object(words_of(state))
    if progress is not None:
        draft["progress"] = progress
    if deadline is not None:
        draft["deadline"] = reach.now() + deadline
    made = reach.post("/api/v1/handoffs", draft, by=by)
    if not wait:
        _show(reach, made)
        return
    left_s = max(0.0, made["deadline"] - reach.now()) + 30.0
    found = reach.until(lambda now: now["state"] != "offered", f"/api/v1/handoffs/{part(made['handoffId'])}/wait", left_s)
    _show(reach, found)
    if found["state"] != "accepted":
        raise Ended("failed")


def _object(text: str) -> dict[str, Any]:
    try:
        found = wire.parse(text)
    except (Invalid, TooLarge) as error:
        raise click.BadParameter(f"{error} It is a JSON object.", param_hint="--state") from error
    if not isinstance(found, dict):
        raise click.BadParameter("it is JSON, but no object; give a JSON object.", param_hint="--state")
    return found


@handoff_command.command("accept", epilog="Example: covey handoff accept ID --from finance")
@click.argument("ident", metavar="ID")
@click.option("--consent", is_flag=True, help="Also if the task was the receiver's own before.")
@as_agent
@reaching
def handoff_accept(reach: Reach, ident: str, consent: bool, by: str | None) -> None:
    """Accept an offer, as its receiver or for it: the task is the receiver's."""
    _show(reach, reach.post(f"/api/v1/handoffs/{part(ident)}/accept", {"consent": consent}, by=by))


@handoff_command.command("decline", epilog='Example: covey handoff decline ID --reason "too much to do" --from finance')
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def handoff_decline(reach: Reach, ident: str, reason: str, by: str | None) -> None:
    """Decline an offer, or as its giver withdraw it: the task goes on with its giver."""
    _show(reach, reach.post(f"/api/v1/handoffs/{part(ident)}/decline", {"reason": reason}, by=by))


@handoff_command.command("list", epilog="Example: covey handoff list --state offered --agent finance")
@click.option("--task", metavar="ID")
@click.option("--agent", metavar="AGENT", help="Who offered it, or whom it is offered to.")
@click.option("--state", type=_STATES)
@for_people
@from_cursor
@as_agent
@reaching
def handoff_list(
    reach: Reach, task: str | None, agent: str | None, state: str | None, limit: int, cursor: int | None, by: str | None
) -> None:
    """Handoffs, newest first."""
    page = reach.get("/api/v1/handoffs", by=by, task=task, agent=agent, state=state, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    now = reach.now()
    rows = [
        [ago(each["offeredAt"], now), each["handoffId"], each["taskId"], each["from"], each["to"], coloured(each["state"]), _note(each)]
        for each in page["items"]
    ]
    table(["AGE", "ID", "TASK", "FROM", "TO", "STATE", "NOTE"], rows, empty="there are no such handoffs; `covey handoff offer` makes one.")
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


def _note(each: dict[str, Any]) -> str:
    if each["state"] == "offered":
        return f"until {clock(each['deadline'])}" + (", and needs consent" if each.get("returns") else "")
    return safe(each.get("why") or "")


def _show(reach: Reach, found: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(found)
        return
    click.echo(f"{found['handoffId']}  {coloured(found['state'])}  {found['taskId']}  {found['from']} → {found['to']}")
    if found.get("known"):
        click.echo("it was so already; nothing was changed")
    if note := _note(found):
        click.echo(f"  {note}")
