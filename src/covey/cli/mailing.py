"""Mail: send, ask, look, search, dead letters."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.cli.options import SECONDS, Named, Seconds, as_agent, for_people, from_cursor, listed, reaching, words_of
from covey.cli.output import Ended, Refused, ago, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

PRIORITIES = click.Choice(["urgent", "high", "medium", "low"])
_TIMES = ("delivered", "held", "seen", "handled", "ended")


def _draft(to: str, text: str, **given: Any) -> dict[str, Any]:
    content = {
        "body": words_of(text),
        "subject": given["subject"],
        "requiresResponse": given["wants"] or None,
        "deadline": given["deadline"],
    }
    draft = {
        "to": listed(to) if "," in to else to,
        "messageId": given["ident"],
        "type": given["kind"],
        "priority": given["priority"],
        "inReplyTo": given["reply_to"],
        "content": _there(content),
        "context": {"threadId": given["thread"]} if given["thread"] else None,
    }
    return _there(draft)


def _there(words: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in words.items() if value is not None}


@click.command(epilog='Example: covey send coder "the build is red on main" --priority high')
@click.argument("to")
@click.argument("text")
@as_agent
@click.option("--subject", metavar="TEXT")
@click.option("--priority", type=PRIORITIES)
@click.option("--type", "kind", metavar="TYPE", help="task, question, update, notification, request, response, feedback, alert …")
@click.option("--thread", metavar="ID")
@click.option("--reply-to", metavar="ID", help="The message that this one answers.")
@click.option("--deadline", type=SECONDS, metavar="SECONDS", help="Ask for a response within so many seconds.")
@click.option("--id", "ident", metavar="ID", help="Your own id; sent twice it is stored once.")
@reaching
def send_command(reach: Reach, to: str, text: str, by: str | None, deadline: float | None, **given: Any) -> None:
    """Send TEXT to an agent, to several (A,B), to all (*) or to @capability; the TEXT `-` is read from standard input.

    Delivered means on disk in the receiver's mailbox, no more; `covey why ID` says what became of it.
    """
    due = reach.now() + deadline if deadline is not None else None
    receipt = reach.post("/api/v1/messages", _draft(to, text, deadline=due, wants=due is not None, **given), by=by)
    if reach.as_json:
        print_json(receipt)
    else:
        _print_receipt(receipt)
    outcomes = receipt["outcomes"].values()
    if not any(each["status"] in ("delivered", "held", "deferred", "suppressed") for each in outcomes):
        raise Ended("conflict")


def _print_receipt(receipt: dict[str, Any]) -> None:
    for name, outcome in receipt["outcomes"].items():
        click.echo(f"{name}: {coloured(outcome['status'])}. {safe(outcome['sentence'])}")
    if receipt["known"]:
        click.echo(f"it was sent before: {receipt['sentence']}")
    click.echo(f"id {receipt['messageId']}, thread {receipt['threadId']}{', marked ' + receipt['note'] if receipt['note'] else ''}")


@click.command(epilog='Example: covey ask devops "how is the system?"')
@click.argument("to")
@click.argument("text")
@as_agent
@click.option("--subject", metavar="TEXT")
@click.option("--timeout", type=Seconds(above=0.1), default=60.0, show_default=True, metavar="SECONDS")
@reaching
def ask_command(reach: Reach, to: str, text: str, by: str | None, subject: str | None, timeout: float) -> None:
    """Send TEXT to an agent, wait for its reply, print it."""
    _refuse_if_down(reach)
    content = _there({"body": words_of(text), "subject": subject, "requiresResponse": True})
    receipt = reach.post("/api/v1/messages", {"to": to, "content": content}, by=by)
    ident = receipt["messageId"]
    found = reach.until(lambda now: bool(now["items"]) or not now["waiting"], f"/api/v1/messages/{part(ident)}/replies", timeout)
    replies = found["items"]
    if reach.as_json:
        print_json({"receipt": receipt, "replies": replies, "waiting": found["waiting"]})
    else:
        for each in replies:
            click.echo(safe(each["content"]["body"]))
    if not replies:
        _say_silent(reach, to, ident, timeout)
        raise Ended("failed")


def _refuse_if_down(reach: Reach) -> None:
    """A question that nobody can answer now is not sent: one who asks waits for the answer."""
    agents = reach.get("/api/v1/agents")["items"]
    if not any(each["brain"] == "external" or (each.get("pid") and each["status"] != "stalled") for each in agents):
        detail = "no agent of this fleet runs, so nobody can answer. `covey up --detach` starts it; `covey send` leaves mail for later."
        raise Refused({"type": "urn:covey:not_running", "title": "not running", "status": 503, "detail": detail, "code": "not_running"})


def _say_silent(reach: Reach, to: str, ident: str, timeout: float) -> None:
    if not reach.as_json:
        text = f"covey: {to} did not answer within {timeout:g} s; the question stands. `covey why {ident}` says where,"
        click.echo(f"{text} and a late answer comes to `covey inbox`.", err=True)


@click.command(epilog="Example: covey inbox coder --unread")
@click.argument("agent", default="operator")
@click.option("--unread", is_flag=True, help="Only what waits.")
@for_people
@from_cursor
@reaching
def inbox_command(reach: Reach, agent: str, unread: bool, limit: int, cursor: int | None) -> None:
    """The mail of AGENT (or the operator), newest first. Looking does not acknowledge."""
    page = reach.get(f"/api/v1/agents/{part(agent, 'agent')}/inbox", unread=unread or None, limit=limit, cursor=cursor)
    _print_mail(reach, page, empty=f"{agent}'s mailbox is empty.")


def _print_mail(reach: Reach, page: dict[str, Any], *, empty: str) -> None:
    if reach.as_json:
        print_json(page)
        return
    now = time.time()
    rows = [
        [
            ago(each["timestamp"], now),
            each["messageId"],
            f"{each['from']} → {each.get('receiver') or each['to']}",
            each["type"],
            each["priority"],
            coloured(str(each.get("state"))),
            safe(each["content"]["subject"] or each["content"]["body"][:200]),
        ]
        for each in page["items"]
    ]
    table(["AGE", "ID", "FROM → TO", "TYPE", "PRIORITY", "STATE", "SUBJECT"], rows, empty=empty)
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


@click.command(epilog="Example: covey read msg_0199f1c2…")
@click.argument("ident", metavar="ID")
@reaching
def read_command(reach: Reach, ident: str) -> None:
    """One message whole, with the state of each of its copies. Looking does not acknowledge."""
    copies = reach.get(f"/api/v1/messages/{part(ident)}")
    if reach.as_json:
        print_json(copies)
        return
    first = copies["items"][0]
    click.echo(f"{first['messageId']}  {first['from']} → {first['to']}  {first['type']}, {first['priority']}  {clock(first['timestamp'])}")
    for each in copies["items"]:
        times = ", ".join(f"{word} {clock(at)}" for word in _TIMES if (at := each.get(f"{word}At")))
        click.echo(f"  {each['receiver']}: {coloured(each['state'])} ({times}){' – ' + safe(each['reason']) if each.get('reason') else ''}")
    click.echo(f"\n{safe(first['content']['subject'])}\n{safe(first['content']['body'])}".strip())


@click.command(epilog="Example: covey thread dm:chief:ops")
@click.argument("ident", metavar="ID")
@for_people
@from_cursor
@reaching
def thread_command(reach: Reach, ident: str, limit: int, cursor: int | None) -> None:
    """A thread's messages in order, each copy with its state."""
    page = reach.get(f"/api/v1/threads/{part(ident)}", limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    for each in page["items"]:
        click.echo(f"{clock(each['timestamp'])}  {each['from']} → {each['receiver']}  [{coloured(each['state'])}]")
        click.echo(f"  {safe(each['content']['body'])}")
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


@click.command(epilog='Example: covey search "build red"')
@click.argument("text")
@for_people
@reaching
def search_command(reach: Reach, text: str, limit: int) -> None:
    """Messages whose subject or body has all the words of TEXT."""
    _print_mail(reach, reach.get("/api/v1/search", q=text, limit=limit), empty="nothing found; new mail can be found after 2 s.")


@click.group(cls=Named, invoke_without_command=True, epilog="Example: covey dead requeue msg_0199f1c2…")
@for_people
@from_cursor
@reaching
def dead_command(reach: Reach, limit: int, cursor: int | None) -> None:
    """Dead letters: mail whose brain failed on it five times."""
    if click.get_current_context().invoked_subcommand is None:
        _print_mail(reach, reach.get("/api/v1/dead", limit=limit, cursor=cursor), empty="there are no dead letters.")


@dead_command.command("requeue", epilog="Example: covey dead requeue msg_0199f1c2…")
@click.argument("ident", metavar="ID")
@reaching
def dead_requeue(reach: Reach, ident: str) -> None:
    """Try a dead letter again, with five new tries."""
    found = reach.post(f"/api/v1/dead/{part(ident)}/requeue")
    reach.say(found, f"{ident} waits again in {_mailboxes(found)}.")


@dead_command.command("drop", epilog="Example: covey dead drop msg_0199f1c2…")
@click.argument("ident", metavar="ID")
@reaching
def dead_drop(reach: Reach, ident: str) -> None:
    """Drop a dead letter for good."""
    found = reach.post(f"/api/v1/dead/{part(ident)}/drop")
    reach.say(found, f"{ident} is dropped from {_mailboxes(found)}.")


def _mailboxes(found: dict[str, Any]) -> str:
    return "1 mailbox" if found["copies"] == 1 else f"{found['copies']} mailboxes"
