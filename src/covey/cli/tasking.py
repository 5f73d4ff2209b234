"""Tasks, approvals, and the question why."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.cli.mailing import PRIORITIES
from covey.cli.options import as_agent, reaching
from covey.cli.output import Refused, ago, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach, part


FOLLOW_S = 0.3
"""How often `events -f` looks for more."""


@click.group()
def task_command() -> None:
    """Add tasks, look at them, change them."""


@task_command.command("add")
@click.argument("agent")
@click.argument("text")
@as_agent
@click.option("--priority", type=PRIORITIES)
@click.option("--needs", metavar="ID,…", help="Tasks that must be done first.")
@click.option("--anyway", is_flag=True, help="Run even when what it needs failed.")
@click.option("--estimate", "estimated_seconds", type=float, metavar="SECONDS")
@click.option("--id", "task_id", metavar="ID", help="Your own id; added twice it is stored once.")
@click.option("--dedupe-key", metavar="KEY", help="While a task of this key is open, it is the answer.")
@click.option("--project", "project_id", metavar="NAME")
@click.option("--approval", is_flag=True, help="Wait until the operator approves.")
@click.option("--max-attempts", type=int)
@click.option("--delay", type=float, metavar="SECONDS", help="Not before so many seconds.")
@click.option("--deadline", type=float, metavar="SECONDS", help="Failed if it still waits after so many seconds.")
@click.option("--wait", is_flag=True, help="Wait until it has ended.")
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
    """Give AGENT (or @capability, or "*" for whoever is free) a task."""
    names = {
        "task_id": "taskId",
        "dedupe_key": "dedupeKey",
        "project_id": "projectId",
        "estimated_seconds": "estimatedSeconds",
        "max_attempts": "maxAttempts",
    }
    draft = {names.get(name, name): value for name, value in given.items() if value not in (None, False)}
    draft |= {"description": text, "agent": agent}
    if needs:
        draft["dependencies"] = [each for each in needs.split(",") if each]
    if delay is not None:
        draft["notBefore"] = time.time() + delay
    if deadline is not None:
        draft["deadline"] = time.time() + deadline
    task = reach.post("/api/v1/tasks", draft, by=by)
    if wait:
        task = _waited(reach, task["taskId"], 3600.0)
    _show(reach, task)


@task_command.command("list")
@click.option("--state", metavar="STATE", help="open, queued, blocked, running, done, failed or cancelled.")
@click.option("--agent", metavar="AGENT")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--cursor", type=int, help="Go on after this one.")
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
        click.echo(f"more: --cursor {page['cursor']}")


@task_command.command("show")
@click.argument("ident", metavar="ID")
@reaching
def task_show(reach: Reach, ident: str) -> None:
    """One task whole."""
    _show(reach, reach.get(f"/api/v1/tasks/{part(ident)}"))


@task_command.command("wait")
@click.argument("ident", metavar="ID")
@click.option("--timeout", type=float, default=3600.0, show_default=True, metavar="SECONDS")
@reaching
def task_wait(reach: Reach, ident: str, timeout: float) -> None:
    """Wait until a task has ended; exit code 0 only if it is done."""
    task = _waited(reach, ident, timeout)
    _show(reach, task)
    if task["state"] != "done":
        raise Refused(
            {"code": "failed", "detail": f"{ident} is {task['state']}: {task.get('error') or 'it has not ended in time'}"}, as_json=False
        )


def _waited(reach: Reach, ident: str, timeout: float) -> dict[str, Any]:
    until = time.monotonic() + timeout
    while True:
        left = until - time.monotonic()
        task: dict[str, Any] = reach.get(f"/api/v1/tasks/{part(ident)}/wait", wait=max(0.0, min(left, 60.0)))
        if task["state"] in ("done", "failed", "cancelled") or left <= 60.0:
            return task


def _show(reach: Reach, task: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(task)
        return
    where = task.get("holder") or task["queue"]
    click.echo(f"{task['taskId']}  {coloured(task['state'])}  {where}  {task['priority']}  {safe(task['description'])}")
    if task.get("known"):
        click.echo("it was there already; nothing was changed" + (", though this one differs" if task.get("differs") else ""))
    for word, value in (
        ("needs", ", ".join(task.get("dependencies") or [])),
        ("parent", task.get("parentId")),
        ("progress", task.get("progress")),
    ):
        if value:
            click.echo(f"  {word}: {safe(str(value))}")
    if task.get("finishedAt"):
        click.echo(f"  ended {clock(task['finishedAt'])} after {task.get('attempts', 0)} of {task.get('maxAttempts', 3)} attempts")
    if task.get("error"):
        click.echo(f"  error: {safe(task['error'])}")
    if task.get("result"):
        click.echo(safe(str(task["result"].get("summary", ""))))


def _change(reach: Reach, ident: str, what: str, body: dict[str, Any] | None, by: str | None) -> None:
    _show(reach, reach.post(f"/api/v1/tasks/{part(ident)}/{what}", body, by=by))


@task_command.command("cancel")
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def task_cancel(reach: Reach, ident: str, reason: str, by: str | None) -> None:
    """Cancel a task; its brain is ended within 5 s."""
    _change(reach, ident, "cancel", {"reason": reason}, by)


@task_command.command("retry")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def task_retry(reach: Reach, ident: str, by: str | None) -> None:
    """Queue a failed task again, with all its attempts."""
    _change(reach, ident, "retry", None, by)


@task_command.command("split")
@click.argument("ident", metavar="ID")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT…")
@click.option("--agent", metavar="AGENT", help="Who does the parts; the same queue if not given.")
@as_agent
@reaching
def task_split(reach: Reach, ident: str, texts: tuple[str, ...], agent: str | None, by: str | None) -> None:
    """Split a waiting task into parts; it is done when they are."""
    to = agent or reach.get(f"/api/v1/tasks/{part(ident)}").get("agent")
    parts = [{"description": text} | ({"agent": to} if to else {}) for text in texts]
    found = reach.post(f"/api/v1/tasks/{part(ident)}/split", {"parts": parts}, by=by)
    if reach.as_json:
        print_json(found)
        return
    for each in found["items"] if isinstance(found, dict) else found:
        _show(reach, each)


@task_command.command("reassign")
@click.argument("ident", metavar="ID")
@click.argument("to")
@as_agent
@reaching
def task_reassign(reach: Reach, ident: str, to: str, by: str | None) -> None:
    """Give a waiting task to another agent, or to @capability."""
    _change(reach, ident, "reassign", {"to": to}, by)


@click.command()
@click.argument("ident", metavar="ID")
@reaching
def approve_command(reach: Reach, ident: str) -> None:
    """Approve a task that waits for it."""
    _change(reach, ident, "approve", None, None)


@click.command()
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@reaching
def refuse_command(reach: Reach, ident: str, reason: str) -> None:
    """Refuse a task that waits for approval; it is cancelled."""
    _change(reach, ident, "refuse", {"reason": reason}, None)


@click.command()
@click.argument("ident", metavar="ID")
@reaching
def why_command(reach: Reach, ident: str) -> None:
    """One paragraph: where a task, message or agent stands, and what it waits for."""
    found = reach.get(f"/api/v1/why/{part(ident)}")
    print_json(found) if reach.as_json else click.echo(safe(found["sentence"]))


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Go on as things happen.")
@click.option("--since", metavar="SEQ", help="After this event.")
@click.option("--kind", metavar="KIND", help="Only this kind, or `task.` for all of tasks.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@reaching
def events_command(reach: Reach, follow: bool, since: str | None, kind: str | None, limit: int) -> None:
    """What happened in the fleet, in order."""
    while True:
        page = reach.get("/api/v1/events", since=since, kinds=kind, limit=limit)
        for each in page["items"]:
            _print_event(reach, each)
        since = page["cursor"]
        if not follow:
            return
        if not page.get("more"):
            time.sleep(FOLLOW_S)


def _print_event(reach: Reach, event: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(event)
        return
    known = ("cursor", "at", "kind", "agent", "subject")
    rest = " ".join(f"{name}={value}" for name, value in event.items() if name not in known and value not in (None, "", [], {}))
    click.echo(
        f"{event['cursor']}  {clock(event['at'])}  {event['kind']}  {event.get('agent') or '-'}  {event.get('subject') or '-'}  {safe(rest)}"
    )
