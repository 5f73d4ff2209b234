"""Mail: send, ask, look, search, dead letters."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.cli.options import as_agent, reaching
from covey.cli.output import Refused, ago, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach, part

PRIORITIES = click.Choice(["urgent", "high", "medium", "low"])


def _draft(to: str, text: str, **given: Any) -> dict[str, Any]:
    receivers: Any = to.split(",") if "," in to else to
    content = {"body": text, "subject": given["subject"], "requiresResponse": given.get("wants") or None, "deadline": given.get("deadline")}
    draft = {
        "to": receivers,
        "messageId": given["ident"],
        "type": given["kind"],
        "priority": given["priority"],
        "inReplyTo": given["reply_to"],
        "content": {name: value for name, value in content.items() if value is not None},
        "context": {"threadId": given["thread"]} if given["thread"] else None,
    }
    return {name: value for name, value in draft.items() if value is not None}


@click.command()
@click.argument("to")
@click.argument("text")
@as_agent
@click.option("--subject", metavar="TEXT")
@click.option("--priority", type=PRIORITIES)
@click.option("--type", "kind", metavar="TYPE", help="task, question, update, notification, request, response, feedback, alert …")
@click.option("--thread", metavar="ID")
@click.option("--reply-to", metavar="ID", help="The message that this one answers.")
@click.option("--deadline", type=float, metavar="SECONDS", help="Ask for a response within so many seconds.")
@click.option("--id", "ident", metavar="ID", help="Your own id; sent twice it is stored once.")
@reaching
def send_command(reach: Reach, to: str, text: str, by: str | None, deadline: float | None, **given: Any) -> None:
    """Send TEXT to an agent, to several (A,B), to all (*) or to @capability.

    Delivered means on disk in the receiver's mailbox, no more; `covey why ID` says what became of it.
    """
    draft = _draft(to, text, deadline=time.time() + deadline if deadline is not None else None, wants=deadline is not None, **given)
    receipt = reach.post("/api/v1/messages", draft, by=by)
    if reach.as_json:
        print_json(receipt)
    else:
        _print_receipt(receipt)
    if not any(outcome["status"] in ("delivered", "held", "deferred") for outcome in receipt["outcomes"].values()) and receipt["outcomes"]:
        raise Refused({"code": receipt["status"], "detail": receipt["sentence"]}, as_json=False)


def _print_receipt(receipt: dict[str, Any]) -> None:
    for name, outcome in receipt["outcomes"].items():
        click.echo(f"{name}: {coloured(outcome['status'])}. {outcome['sentence']}")
    if receipt.get("known"):
        click.echo(receipt["sentence"])
    click.echo(f"id {receipt['messageId']}, thread {receipt['threadId']}{', marked ' + receipt['note'] if receipt.get('note') else ''}")


@click.command()
@click.argument("to")
@click.argument("text")
@as_agent
@click.option("--subject", metavar="TEXT")
@click.option("--timeout", type=click.FloatRange(0.1, 300), default=60.0, show_default=True, metavar="SECONDS")
@reaching
def ask_command(reach: Reach, to: str, text: str, by: str | None, subject: str | None, timeout: float) -> None:
    """Send TEXT to an agent, wait for its reply, print it."""
    content = {"body": text, "requiresResponse": True} | ({"subject": subject} if subject else {})
    answer = reach.post(f"/api/v1/ask?wait={timeout}", {"to": to, "content": content}, by=by)
    if reach.as_json:
        print_json(answer)
        return
    replies = answer["replies"]
    if not replies:
        ident = answer["receipt"]["messageId"]
        text = f"{to} did not answer within {timeout:g} s; the question stands. `covey why {ident}` says where, a late answer comes to `covey inbox operator`."
        raise Refused({"code": "failed", "detail": text}, as_json=False)
    click.echo(safe(replies[0]["content"]["body"]))


@click.command()
@click.argument("agent", default="operator")
@click.option("--unread", is_flag=True, help="Only what waits.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--cursor", type=int, help="Go on after this one.")
@reaching
def inbox_command(reach: Reach, agent: str, unread: bool, limit: int, cursor: int | None) -> None:
    """The mail of AGENT (or the operator), newest first. Looking does not acknowledge."""
    page = reach.get(f"/api/v1/agents/{part(agent)}/inbox", unread=unread or None, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    _print_mail(page["items"], empty=f"{agent}'s mailbox is empty.")
    if page.get("cursor"):
        click.echo(f"more: covey inbox {agent} --cursor {page['cursor']}")


def _print_mail(messages: list[dict[str, Any]], *, empty: str) -> None:
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
        for each in messages
    ]
    table(["AGE", "ID", "FROM → TO", "TYPE", "PRIORITY", "STATE", "SUBJECT"], rows, empty=empty)


@click.command()
@click.argument("ident", metavar="ID")
@reaching
def read_command(reach: Reach, ident: str) -> None:
    """One message whole, with the state of each of its copies."""
    copies = reach.get(f"/api/v1/messages/{part(ident)}")
    if reach.as_json:
        print_json(copies)
        return
    items = copies["items"] if isinstance(copies, dict) else copies
    first = items[0]
    click.echo(f"{first['messageId']}  {first['from']} → {first['to']}  {first['type']}, {first['priority']}  {clock(first['timestamp'])}")
    for each in items:
        times = ", ".join(
            f"{word} {clock(each[word + 'At'])}" for word in ("delivered", "seen", "handled", "ended") if each.get(word + "At")
        )
        click.echo(f"  {each['receiver']}: {coloured(each['state'])} ({times}){' – ' + each['reason'] if each.get('reason') else ''}")
    click.echo(f"\n{safe(first['content']['subject'])}\n{safe(first['content']['body'])}".strip())


@click.command()
@click.argument("ident", metavar="ID")
@reaching
def thread_command(reach: Reach, ident: str) -> None:
    """A thread's messages in order."""
    page = reach.get(f"/api/v1/threads/{part(ident)}")
    if reach.as_json:
        print_json(page)
        return
    for each in page["items"]:
        click.echo(
            f"{clock(each['timestamp'])}  {each['from']} → {each['receiver']}  [{coloured(each['state'])}]\n  {safe(each['content']['body'])}"
        )


@click.command()
@click.argument("text")
@reaching
def search_command(reach: Reach, text: str) -> None:
    """Messages whose subject or body has all the words of TEXT."""
    page = reach.get("/api/v1/search", q=text)
    if reach.as_json:
        print_json(page)
        return
    _print_mail(page["items"], empty="nothing found; new mail can be found after 2 s.")


@click.group(invoke_without_command=True)
@reaching
def dead_command(reach: Reach) -> None:
    """Dead letters: mail whose brain failed on it five times."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    page = reach.get("/api/v1/dead")
    if reach.as_json:
        print_json(page)
        return
    _print_mail(page["items"], empty="there are no dead letters.")


def _dead(reach: Reach, ident: str, what: str) -> None:
    found = reach.post(f"/api/v1/dead/{part(ident)}/{what}")
    print_json(found) if reach.as_json else click.echo(f"{ident} is {what}{'d' if what.endswith('e') else 'ped'}.")


@dead_command.command("requeue")
@click.argument("ident", metavar="ID")
@reaching
def dead_requeue(reach: Reach, ident: str) -> None:
    """Try a dead letter again, with five new tries."""
    _dead(reach, ident, "requeue")


@dead_command.command("drop")
@click.argument("ident", metavar="ID")
@reaching
def dead_drop(reach: Reach, ident: str) -> None:
    """Drop a dead letter for good."""
    _dead(reach, ident, "drop")
