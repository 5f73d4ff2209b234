"""Tasks, approvals, the fleet's story, and the question why."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.cli.mailing import PRIORITIES
from covey.cli.options import SECONDS, Named, Whole, as_agent, for_people, from_cursor, listed, reaching, words_of
from covey.cli.output import Ended, ago, clock, coloured, print_json, print_json_line, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

_STATES = click.Choice(["open", "queued", "blocked", "running", "done", "failed", "cancelled"])
_ENDED = ("done", "failed", "cancelled")
LATEST = 50
AFTER = 200
"""So many events are shown without and with --since."""
_EVENT = ("cursor", "at", "kind", "agent", "subject")
DAY_S = 86_400.0


@click.group(cls=Named)
def task_command() -> None:
    """Add tasks, look at them, change them."""


@task_command.command("add", epilog='Example: covey task add finance "make the report" --needs figures --wait')
@click.argument("agent")
@click.argument("text")
@as_agent
@click.option("--priority", type=PRIORITIES)
@click.option("--needs", metavar="ID,…", help="Tasks that must be done first.")
@click.option("--anyway", is_flag=True, help="Run even when what it needs failed.")
@click.option("--estimate", "estimatedSeconds", type=SECONDS, metavar="SECONDS")
@click.option("--id", "taskId", metavar="ID", help="Your own id; added twice it is stored once.")
@click.option("--dedupe-key", "dedupeKey", metavar="KEY", help="While a task of this key is open, it is the answer.")
@click.option("--project", "projectId", metavar="NAME")
@click.option("--approval", is_flag=True, help="Wait until the operator approves.")
@click.option("--max-attempts", "maxAttempts", type=Whole(1, 100), metavar="N")
@click.option("--delay", type=SECONDS, metavar="SECONDS", help="Not before so many seconds.")
@click.option("--deadline", type=SECONDS, metavar="SECONDS", help="Failed if it still waits after so many seconds.")
@click.option("--wait", is_flag=True, help="Wait until it has ended; exit code 0 only if it is done.")
@reaching
def task_add(
    reach: Reach,
    agent: str,
    text: str,
    by: str | None,
    needs: str | None,
    delay: float | None,
    deadline: float | None,
    wait: bool,
    **given: Any,
) -> None:
    """Give AGENT (or @capability, or "*" for whoever is free) a task; the TEXT `-` is read from standard input."""
    draft = {name: value for name, value in given.items() if value is not None and value is not False}
    draft |= {"description": words_of(text), "agent": agent}
    if needs:
        draft["dependencies"] = listed(needs)
    for name, seconds in (("notBefore", delay), ("deadline", deadline)):
        if seconds is not None:
            draft[name] = reach.now() + seconds
    task = reach.post("/api/v1/tasks", draft, by=by)
    if wait:
        _show_ended(reach, task["taskId"], DAY_S)
    else:
        _show(reach, task)


@task_command.command("list", epilog="Example: covey task list --state open --agent coder")
@click.option("--state", type=_STATES)
@click.option("--agent", metavar="AGENT")
@for_people
@from_cursor
@reaching
def task_list(reach: Reach, state: str | None, agent: str | None, limit: int, cursor: int | None) -> None:
    """Tasks, newest first."""
    page = reach.get("/api/v1/tasks", state=state, agent=agent, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    now = time.time()
    rows = [
        [
            ago(each["createdAt"], now),
            each["taskId"],
            each.get("holder") or each["queue"],
            each["priority"],
            coloured(each["state"]),
            safe(each["description"]),
        ]
        for each in page["items"]
    ]
    table(["AGE", "ID", "WITH", "PRIORITY", "STATE", "TASK"], rows, empty='there are no such tasks; `covey task add AGENT "…"` adds one.')
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


@task_command.command("show", epilog="Example: covey task show figures")
@click.argument("ident", metavar="ID")
@reaching
def task_show(reach: Reach, ident: str) -> None:
    """One task whole."""
    _show(reach, reach.get(f"/api/v1/tasks/{part(ident)}"))


@task_command.command("wait", epilog="Example: covey task wait figures --timeout 600")
@click.argument("ident", metavar="ID")
@click.option("--timeout", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS")
@reaching
def task_wait(reach: Reach, ident: str, timeout: float) -> None:
    """Wait until a task has ended; exit code 0 only if it is done."""
    _show_ended(reach, ident, timeout)


def _show_ended(reach: Reach, ident: str, timeout_s: float) -> None:
    task = reach.until(lambda now: now["state"] in _ENDED, f"/api/v1/tasks/{part(ident)}/wait", timeout_s)
    _show(reach, task)
    if task["state"] != "done":
        if task["state"] not in _ENDED and not reach.as_json:
            click.echo(f"covey: {ident} has not ended within {timeout_s:g} s; `covey why {ident}` says what it waits for.", err=True)
        raise Ended("failed")


def _show(reach: Reach, task: dict[str, Any]) -> None:
    """A task. What it has by default is not in the answer."""
    if reach.as_json:
        print_json(task)
        return
    where = task.get("holder") or task["queue"]
    click.echo(f"{task['taskId']}  {coloured(task['state'])}  {where}  {task['priority']}  {safe(task['description'])}")
    if task.get("known"):
        click.echo("it was there already; nothing was changed" + (", though this one differs" if task.get("differs") else ""))
    for word, value in _details(task):
        if value:
            click.echo(f"  {word}: {safe(str(value))}")
    if task.get("finishedAt"):
        click.echo(f"  ended {clock(task['finishedAt'])} after {task.get('attempts', 0)} of {task.get('maxAttempts', 3)} attempts")
    if summary := (task.get("result") or {}).get("summary"):
        click.echo(safe(str(summary)))


def _details(task: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("needs", ", ".join(task.get("dependencies") or [])),
        ("part of", task.get("parentId")),
        ("approval", task.get("approval")),
        ("progress", task.get("progress")),
        ("error", task.get("error")),
    ]


def _change(reach: Reach, ident: str, what: str, body: dict[str, Any] | None, by: str | None = None) -> None:
    _show(reach, reach.post(f"/api/v1/tasks/{part(ident)}/{what}", body, by=by))


@task_command.command("cancel", epilog='Example: covey task cancel figures --reason "no longer needed"')
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def task_cancel(reach: Reach, ident: str, reason: str, by: str | None) -> None:
    """Cancel a task; its brain is ended within 5 s."""
    _change(reach, ident, "cancel", {"reason": reason}, by)


@task_command.command("retry", epilog="Example: covey task retry figures")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def task_retry(reach: Reach, ident: str, by: str | None) -> None:
    """Queue a failed task again, with all its attempts."""
    _change(reach, ident, "retry", None, by)


@task_command.command("split", epilog='Example: covey task split report "collect the figures" "write the text" --agent intel')
@click.argument("ident", metavar="ID")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT…")
@click.option("--agent", metavar="AGENT", help="Who does the parts; whoever the task is for if not given.")
@as_agent
@reaching
def task_split(reach: Reach, ident: str, texts: tuple[str, ...], agent: str | None, by: str | None) -> None:
    """Split a waiting task into parts; it is done when they are."""
    whole = reach.get(f"/api/v1/tasks/{part(ident)}")
    to = agent or whole.get("agent") or f"@{whole.get('capability') or 'general'}"
    found = reach.post(f"/api/v1/tasks/{part(ident)}/split", {"parts": [{"description": text, "agent": to} for text in texts]}, by=by)
    if reach.as_json:
        print_json(found)
        return
    for each in found["items"]:
        _show(reach, each)


@task_command.command("reassign", epilog="Example: covey task reassign figures intel")
@click.argument("ident", metavar="ID")
@click.argument("to")
@as_agent
@reaching
def task_reassign(reach: Reach, ident: str, to: str, by: str | None) -> None:
    """Give a waiting task to another agent, or to @capability."""
    _change(reach, ident, "reassign", {"to": to}, by)


@click.command(epilog="Example: covey approve task_0199f1c2…")
@click.argument("ident", metavar="ID")
@reaching
def approve_command(reach: Reach, ident: str) -> None:
    """Approve a task that waits for it."""
    _change(reach, ident, "approve", None)


@click.command(epilog='Example: covey refuse task_0199f1c2… --reason "too dear"')
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@reaching
def refuse_command(reach: Reach, ident: str, reason: str) -> None:
    """Refuse a task that waits for approval; it is cancelled."""
    _change(reach, ident, "refuse", {"reason": reason})


@click.command(epilog="Example: covey why figures")
@click.argument("ident", metavar="ID")
@reaching
def why_command(reach: Reach, ident: str) -> None:
    """One paragraph: where a task, message or agent stands, and what it waits for."""
    found = reach.get(f"/api/v1/why/{part(ident)}")
    reach.say(found, safe(found["sentence"]))


@click.command(epilog="Example: covey events -f --kind task.")
@click.option("-f", "--follow", is_flag=True, help="Go on as things happen; without --since from now on.")
@click.option("--since", metavar="SEQ", help="After this event, 0 for the oldest that is kept; the last 50 if not given.")
@click.option("--kind", metavar="KIND", help="Only this kind, or `task.` for all of tasks.")
@click.option("--agent", metavar="AGENT", help="Only what concerns this agent.")
@click.option("--limit", type=Whole(1, 1000), metavar="N", help="So many; 200 after --since, the last 50 without.")
@reaching
def events_command(reach: Reach, follow: bool, since: str | None, limit: int | None, **which: Any) -> None:
    """What happened in the fleet last, in order. With --json and -f it is a line of JSON for each event."""
    wanted = {"kinds": which["kind"], "agent": which["agent"], "limit": limit or AFTER}
    if follow:
        for event in reach.follow("/api/v1/events", since, **wanted):
            print_json_line(event) if reach.as_json else _print_event(event)
        return
    if since is None:
        page = reach.get("/api/v1/events", **{**wanted, "limit": None, "last": limit or LATEST})
    else:
        page = _page(reach, since, wanted)
    if reach.as_json:
        print_json(page)
        return
    if since is None and page["more"]:
        click.echo(f"the last {len(page['items'])}; all from the oldest that is kept: --since 0")
    for event in page["items"]:
        _print_event(event)
    if since is not None and page["more"]:
        click.echo(f"there is more: --since {page['cursor']}")


def _page(reach: Reach, since: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """As many events as are wanted; one page of the API holds fewer where others lie in between."""
    items: list[dict[str, Any]] = []
    while True:
        page: dict[str, Any] = reach.get("/api/v1/events", since=since, **wanted)
        items += page["items"]
        since = page["cursor"]
        if len(items) >= wanted["limit"] or not page["more"]:
            return page | {"items": items}


def _print_event(event: dict[str, Any]) -> None:
    rest = " ".join(f"{name}={value}" for name, value in event.items() if name not in _EVENT and value not in (None, "", [], {}))
    where = f"{event.get('agent') or '-'}  {event.get('subject') or '-'}"
    click.echo(f"{event.get('cursor')}  {clock(event.get('at'))}  {event['kind']}  {where}  {safe(rest)}")
