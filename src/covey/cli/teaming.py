"""Team runs on the command line: have workers reach a goal, watch them, look at what came of it (Q2)."""

from __future__ import annotations

from typing import Any

import click

from covey.cli.mailing import PRIORITIES
from covey.cli.options import SECONDS, Named, Whole, as_agent, for_people, from_cursor, listed, reaching, words_of
from covey.cli.output import Ended, Progress, ago, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

DAY_S = 86_400.0
_ENDED = ("done", "failed", "cancelled")


@click.group(cls=Named)
def team_command() -> None:
    """Several agents reach a goal together: it is cut up, given to those who are able, and put together."""


@team_command.command("run", epilog='Example: covey team run "how do tides work?" --type research --workers intel,comms')
@click.argument("text")
@click.option(
    "--type",
    "type",
    type=click.Choice(["general", "research", "create"]),
    default="general",
    show_default=True,
    help="How rules cut it up.",
)
@click.option("--workers", metavar="A,B,…", help="Who may work; some able ones are picked if nobody is named.")
@click.option(
    "--mode",
    type=click.Choice(["coordinate", "route", "broadcast"]),
    default="coordinate",
    show_default=True,
    help="Cut it up; give the whole to the best one; have all do the same and compare.",
)
@click.option("--supervisor", metavar="AGENT", help="Whose brain plans it.")
@click.option("--part", "parts", multiple=True, metavar="TEXT", help="A part of it; give it once for each.")
@click.option("--capability", metavar="NAME", help="What its workers must be capable of.")
@click.option("--not-strict", is_flag=True, help="Have others do what nobody is capable of.")
@click.option("--span", type=Whole(1, 100), metavar="N", help="So many workers are under one supervisor; 5 if not given.")
@click.option("--priority", type=PRIORITIES)
@click.option("--project", "projectId", metavar="NAME")
@click.option("--estimate", "estimatedSeconds", type=SECONDS, metavar="SECONDS", help="How long a part takes.")
@click.option("--deadline", type=SECONDS, metavar="SECONDS", help="What is not done by then is cancelled.")
@click.option("--id", "teamId", metavar="ID", help="Your own id; begun twice it is one run.")
@click.option("--no-wait", is_flag=True, help="Begin it and go on.")
@click.option("--timeout", type=SECONDS, default=DAY_S, show_default=True, metavar="SECONDS", help="Watch it for so long.")
@as_agent
@reaching
def team_run(reach: Reach, text: str, by: str | None, no_wait: bool, timeout: float, **given: Any) -> None:
    """Have agents reach the goal TEXT (`-`: from standard input); exit code 0 only if four fifths of it are done."""
    run = reach.post("/api/v1/teams", _draft(reach, text, given), by=by)
    if no_wait:
        _show(reach, run)
        return
    run = _watched(reach, run, timeout)
    _show(reach, run)
    if run["state"] != "done":
        if run["state"] not in _ENDED and not reach.as_json:
            click.echo(f"covey: it has not ended within {timeout:g} s and goes on; `covey team show {run['teamId']}` shows it.", err=True)
        raise Ended("failed")


def _draft(reach: Reach, text: str, given: dict[str, Any]) -> dict[str, Any]:
    plain = ("type", "mode", "supervisor", "capability", "span", "priority", "projectId", "estimatedSeconds", "teamId")
    draft = {"goal": words_of(text)} | {name: given[name] for name in plain if given[name] is not None}
    if given["workers"] is not None:
        draft["workers"] = listed(given["workers"])
    if given["parts"]:
        draft["parts"] = [{"description": each} for each in given["parts"]]
    if given["not_strict"]:
        draft["strict"] = False
    if given["deadline"] is not None:
        draft["deadline"] = reach.now() + given["deadline"]
    return draft


def _watched(reach: Reach, run: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """The run once it has ended; meanwhile a line on the terminal says how far it is."""
    progress = Progress(as_json=reach.as_json)

    def ended(now: dict[str, Any]) -> bool:
        progress.say(line_of(now))
        return now["state"] in _ENDED

    with progress:
        reach.until(ended, f"/api/v1/teams/{part(run['teamId'])}/wait", timeout_s)
    found: dict[str, Any] = reach.get(f"/api/v1/teams/{part(run['teamId'])}")
    return found | {"known": run["known"], "differs": run["differs"]}


def line_of(run: dict[str, Any]) -> str:
    """How far a run is, in a line. Pure."""
    if run["state"] == "planning":
        return f"{run['supervisor']} plans …"
    at_work = [f"{step['worker']}: {(step['progress'] or step['description'])[:40]}" for step in run["results"] if step["state"] == "out"]
    why = f"; {run['why']}" if run["why"] else ""
    return safe(f"{run['done']} of {run['total']} done; {', '.join(at_work[:5]) or 'nobody at work'}{why}").replace("\n", " ")


@team_command.command("list", epilog="Example: covey team list --state open")
@click.option("--state", type=click.Choice(["open", "planning", "working", "done", "failed", "cancelled"]))
@for_people
@from_cursor
@reaching
def team_list(reach: Reach, state: str | None, limit: int, cursor: int | None) -> None:
    """Team runs, newest first."""
    page = reach.get("/api/v1/teams", state=state, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    now = reach.now()
    rows = [
        [
            ago(run["createdAt"], now),
            run["teamId"],
            coloured(run["state"]),
            f"{run['done']}/{run['total']}",
            f"{run['qualityScore']:.2f}" if run["state"] in _ENDED else "-",
            safe(run["goal"]),
        ]
        for run in page["items"]
    ]
    table(["AGE", "ID", "STATE", "DONE", "QUALITY", "GOAL"], rows, empty='there are no such team runs; `covey team run "…"` begins one.')
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


@team_command.command("show", epilog="Example: covey team show team_…")
@click.argument("ident", metavar="ID")
@reaching
def team_show(reach: Reach, ident: str) -> None:
    """One team run: its steps with who did them, their results word for word, what they came to."""
    _show(reach, reach.get(f"/api/v1/teams/{part(ident)}"))


@team_command.command("cancel", epilog="Example: covey team cancel team_… --reason 'no longer needed'")
@click.argument("ident", metavar="ID")
@click.option("--reason", default="", metavar="TEXT")
@as_agent
@reaching
def team_cancel(reach: Reach, ident: str, reason: str, by: str | None) -> None:
    """Cancel a team run with its open tasks."""
    _show(reach, reach.post(f"/api/v1/teams/{part(ident)}/cancel", {"reason": reason}, by=by))


def _show(reach: Reach, run: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(run)
        return
    click.echo(f"{run['teamId']}  {coloured(run['state'])}  {run['done']} of {run['total']} done  {safe(' '.join(run['goal'].split()))}")
    if run["known"]:
        click.echo("it was there already; nothing was changed" + (", though this one differs" if run["differs"] else ""))
    for word in ("why", "note"):
        if run[word]:
            click.echo(f"  {safe(run[word])}")
    for step in run["results"]:
        _print_step(step)
    for team in run["teams"]:
        click.echo(
            f"  under {team['supervisor']}: {', '.join(team['workers'])}; {len(team['steps'])} steps, quality {team['qualityScore']:.2f}"
        )
    if run["comparison"] is not None and run["comparison"]["answers"]:
        click.echo(f"  agreement: {run['comparison']['agreement']:.0%}")
        for each in run["comparison"]["answers"]:
            click.echo(f"    {', '.join(each['workers'])}: {safe(each['answer'][:200])}")
    if run["state"] in _ENDED:
        click.echo(f"  quality: {run['qualityScore']:.2f}")


def _print_step(step: dict[str, Any]) -> None:
    failed = f" (failed before: {', '.join(step['failedBy'])})" if step["failedBy"] else ""
    click.echo(
        f"  {step['step']}. {step['type']}  {coloured(step['state'])}  {step['worker'] or '-'}{failed}  {safe(step['description'][:200])}"
    )
    said = (step["result"] or {}).get("summary") or step["error"] or (step["leftOut"] and f"covey task show {step['taskId']}")
    if said:
        click.echo("\n".join(f"     {each}" for each in safe(str(said)).splitlines()))
