"""Links on the command line: who may write to whom, and how much; mail that waits for credit; threads that are paused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from covey.cli.options import POSITION, Named, Number, Whole, as_agent, for_people, reaching
from covey.cli.output import clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

F = TypeVar("F", bound=Callable[..., Any])
ENDPOINTS = click.Choice(["http", "mcp", "a2a", "hook"])


def _limits(command: F) -> F:
    """The options that say what is different about a link."""
    options = (
        click.option("--messages", type=Whole(1, 500), metavar="N", help="So many in each direction and window: 1 to 500, usually 30."),
        click.option("--hours", type=Whole(1, 168), metavar="H", help="The length of the window: 1 to 168, usually 6."),
        click.option("--debounce", type=Number(0, 60), metavar="SECONDS", help="How far two messages must be apart: 0 to 60, usually 5."),
        click.option("--limits", type=click.Choice(["on", "off"]), help="off lifts quota and debounce on this link."),
        click.option("--flag", metavar="WORD", help="Stand behind this feature flag; an empty one is none."),
        click.option(
            "--endpoint", "endpoints", multiple=True, type=(str, ENDPOINTS), metavar="AGENT WAY", help="How an end is best woken."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _change(words: dict[str, Any]) -> dict[str, Any]:
    named = {
        "messagesPerWindow": words["messages"],
        "windowHours": words["hours"],
        "debounceS": words["debounce"],
        "limits": words["limits"],
        "endpoints": dict(words["endpoints"]) or None,
    }
    found = {name: value for name, value in named.items() if value is not None}
    return found if words["flag"] is None else found | {"featureFlag": words["flag"] or None}


def _id(one: str, other: str) -> str:
    return part(":".join(["link", *sorted((one, other))]))


@click.group(cls=Named)
def link_command() -> None:
    """Who may write to whom, and how much."""


@link_command.command("list", epilog="Example: covey link list --agent coder")
@click.option("--agent", metavar="AGENT", help="Of this agent, those that the mesh implies too.")
@for_people
@click.option("--cursor", metavar="ID", help="Go on after this one.")
@reaching
def link_list(reach: Reach, agent: str | None, limit: int, cursor: str | None) -> None:
    """Links, with what each end may still send in its window."""
    page = reach.get("/api/v1/links", agent=agent, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    rows = [_row(each) for each in page["items"]]
    nothing = "none among the agents looked at so far." if page.get("cursor") else "no link has been used or made yet."
    table(["LINK", "STATE", "LIMIT", "LEFT", "FLAG", "WHY"], rows, empty=nothing)
    if page["links"] == "mesh" and agent is None:
        click.echo("All agents of one owner or organisation are linked; `covey link list --agent A` shows all links of A.")
    if page["limits"] == "off":
        click.echo("limits = off: no link of this fleet has a quota.")
    if page.get("cursor"):
        click.echo(f"more: covey link list{f' --agent {agent}' if agent else ''} --cursor {page['cursor']}")


def _row(link: dict[str, Any]) -> list[str]:
    limited = link["limits"] == "on"
    left = ", ".join(f"{name} {way['creditsRemaining']}" for name, way in link["directions"].items()) if limited else "-"
    limit = f"{link['messagesPerWindow']} / {link['windowHours']} h" if limited else "off"
    return [" - ".join(link["agents"]), coloured(link["status"]), limit, left, link["featureFlag"] or "-", safe(link["why"] or "")]


def _print_link(reach: Reach, link: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(link)
        return
    one, other = link["agents"]
    hours = link["windowHours"]
    limit = f"{link['messagesPerWindow']} messages / {hours} hour{'' if hours == 1 else 's'}, {link['debounceS']:g} s apart"
    click.echo(f"{one} - {other}: {coloured(link['status'])}{', ' + limit if link['limits'] == 'on' else ', no limits'}")
    for name, way in link["directions"].items():
        again = f", full again {clock(way['windowResetAt'])}" if way["windowResetAt"] else ""
        left = "as much as it likes" if way["creditsRemaining"] is None else f"{way['creditsRemaining']} more"
        click.echo(f"  {name} may send {left}{again}; woken by {link['endpoints'][name]}")
    if link["featureFlag"]:
        click.echo(f"  behind the feature flag {link['featureFlag']}")
    if link["why"]:
        click.echo(f"  {safe(link['why'])}")


@link_command.command("show", epilog="Example: covey link show chief coder")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@reaching
def link_show(reach: Reach, one: str, other: str) -> None:
    """One link."""
    _print_link(reach, reach.get(f"/api/v1/links/{_id(one, other)}"))


@link_command.command("add", epilog="Example: covey link add chief coder --messages 100 --hours 1")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@_limits
@reaching
def link_add(reach: Reach, one: str, other: str, **words: Any) -> None:
    """Link two agents of one owner or organisation."""
    _print_link(reach, reach.post("/api/v1/links", {"agents": [one, other], **_change(words)}))


@link_command.command("set", epilog="Example: covey link set chief coder --messages 5")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@_limits
@reaching
def link_set(reach: Reach, one: str, other: str, **words: Any) -> None:
    """Change a link's limits; mail that waits goes at once if they are raised."""
    _print_link(reach, reach.post(f"/api/v1/links/{_id(one, other)}", _change(words)))


def _doing(name: str, line: str) -> None:
    """A command that does one thing to a link."""

    @link_command.command(name, help=line, epilog=f"Example: covey link {name} chief coder")
    @click.argument("one", metavar="A")
    @click.argument("other", metavar="B")
    @reaching
    def command(reach: Reach, one: str, other: str) -> None:
        _print_link(reach, reach.post(f"/api/v1/links/{_id(one, other)}/{name}"))


for _name, _line in (
    ("enable", "Open a link for mail again."),
    ("disable", "Close a link for mail until it is enabled."),
    ("remove", "Remove a link; its mail that waits is closed, its quota is kept."),
):
    _doing(_name, _line)


@click.group(cls=Named)
def deferred_command() -> None:
    """Mail that waits for the next window of its link."""


@deferred_command.command("list", epilog="Example: covey deferred list --from coder")
@as_agent
@for_people
@click.option("--cursor", type=POSITION, metavar="N", help="Go on after this one.")
@reaching
def deferred_list(reach: Reach, by: str | None, limit: int, cursor: int | None) -> None:
    """Mail that waits for credit, oldest first."""
    page = reach.get("/api/v1/deferred", by=by, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    rows = [
        [each["messageId"], f"{each['from']} → {each['receiver']}", clock(each["deliverAt"]), _head(each["content"])]
        for each in page["items"]
    ]
    table(["ID", "FROM → TO", "DELIVERED AT", "SUBJECT"], rows, empty="no mail waits for credit.")
    if page.get("cursor"):
        click.echo(f"more: covey deferred list --cursor {page['cursor']}")


def _head(content: dict[str, Any]) -> str:
    return safe(content["subject"] or content["body"][:200])


@deferred_command.command("cancel", epilog="Example: covey deferred cancel msg_…")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def deferred_cancel(reach: Reach, ident: str, by: str | None) -> None:
    """Take a message back before it is delivered."""
    found = reach.post(f"/api/v1/deferred/{part(ident)}/cancel", by=by)
    reach.say(found, f"{ident} is taken back.")


@deferred_command.command("release", epilog="Example: covey deferred release msg_…")
@click.argument("ident", metavar="ID")
@reaching
def deferred_release(reach: Reach, ident: str) -> None:
    """Deliver a message at once, outside its quota."""
    found = reach.post(f"/api/v1/deferred/{part(ident)}/release")
    reach.say(found, f"{ident} is delivered.")


@click.group(cls=Named)
def threads_command() -> None:
    """Threads in which two agents took turns for too long."""


@threads_command.command("paused", epilog="Example: covey threads paused --json")
@reaching
def threads_paused(reach: Reach) -> None:
    """Threads in which no agent may send, and why."""
    page = reach.get("/api/v1/paused-threads")
    if reach.as_json:
        print_json(page)
        return
    rows = [[each["threadId"], clock(each["at"]), safe(each["reason"])] for each in page["items"]]
    table(["THREAD", "SINCE", "WHY"], rows, empty="no thread is paused.")


@threads_command.command("resume", epilog="Example: covey threads resume dm:chief:coder")
@click.argument("ident", metavar="ID")
@reaching
def threads_resume(reach: Reach, ident: str) -> None:
    """Let agents send in a thread again; their turns are counted anew."""
    found = reach.post(f"/api/v1/threads/{part(ident)}/resume")
    reach.say(found, f"agents may send in {ident} again.")
