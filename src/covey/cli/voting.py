"""Votes on the command line: open one, cast in it, argue, look at it, end it (Q4)."""

from __future__ import annotations

from typing import Any

import click

from covey.cli.options import SECONDS, Named, Number, Whole, as_agent, for_people, from_cursor, listed, reaching, words_of
from covey.cli.output import Ended, clock, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

DAY_S = 86_400.0


@click.group(cls=Named)
def vote_command() -> None:
    """Votes among agents: weighted by confidence and expertise, secret until closed."""


@vote_command.command(
    "open", epilog='Example: covey vote open "Which database?" --voters coder,devops,ops --option SQLite --option PostgreSQL'
)
@click.argument("topic")
@click.option("--voters", required=True, metavar="A,B,…", help="Who votes.")
@click.option("--option", "options", multiple=True, required=True, metavar="TEXT", help="What may be chosen; give it once for each.")
@click.option("--quorum", type=Whole(0), default=0, metavar="N", help="So many must have chosen.")
@click.option("--deadline", "deadline_s", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS", help="It lasts no longer.")
@click.option("--expertise", multiple=True, type=(str, Number(0)), metavar="AGENT FACTOR", help="An agent's weight, 1 if not given.")
@click.option(
    "--tie", type=click.Choice(["none", "decider", "revote"]), default="none", show_default=True, help="decider: the lead decides."
)
@click.option("--debate", type=Whole(0, 5), default=0, metavar="N", help="So many more rounds, each after the arguments were shown.")
@click.option("--id", "vote_id", metavar="ID", help="Your own id; opened twice it is stored once.")
@click.option("--wait", is_flag=True, help="Wait until it is closed; exit code 0 only if it is decided.")
@as_agent
@reaching
def vote_open(reach: Reach, topic: str, voters: str, by: str | None, wait: bool, **given: Any) -> None:
    """Open a vote; its voters are asked by mail. The TOPIC `-` is read from standard input."""
    draft = {
        "topic": words_of(topic),
        "voters": listed(voters),
        "options": list(given["options"]),
        "quorum": given["quorum"],
        "deadlineS": given["deadline_s"],
        "expertise": dict(given["expertise"]),
        "tie": given["tie"],
        "debate": given["debate"],
    }
    vote = reach.post("/api/v1/votes", draft | ({"voteId": given["vote_id"]} if given["vote_id"] else {}), by=by)
    if wait:
        _show_closed(reach, vote["voteId"], DAY_S)
    else:
        _show(reach, vote)


@vote_command.command("cast", epilog="Example: covey vote cast vote_… SQLite --from coder --confidence 0.8 --argument 'one file'")
@click.argument("ident", metavar="ID")
@click.argument("option", required=False)
@click.option("--abstain", is_flag=True, help="Choose none of them.")
@click.option("--confidence", type=Number(0, 1), default=1.0, show_default=True, metavar="SHARE", help="How sure, 0 to 1.")
@click.option("--argument", default="", metavar="TEXT", help="Why; the others see it when the round is over.")
@as_agent
@reaching
def vote_cast(reach: Reach, ident: str, option: str | None, abstain: bool, confidence: float, argument: str, by: str | None) -> None:
    """Cast an agent's ballot (--from AGENT), or revise it; nobody sees it before the vote is closed."""
    if abstain == (option is not None):
        raise click.UsageError("name the option, or --abstain.")
    ballot = {"selection": option, "confidence": confidence, "argument": words_of(argument) if argument else ""}
    _show(reach, reach.post(f"/api/v1/votes/{part(ident)}/cast", ballot, by=by))


@vote_command.command("argue", epilog="Example: covey vote argue vote_… 'it is one file' --from coder")
@click.argument("ident", metavar="ID")
@click.argument("text")
@as_agent
@reaching
def vote_argue(reach: Reach, ident: str, text: str, by: str | None) -> None:
    """Make an agent's argument of this round."""
    _show(reach, reach.post(f"/api/v1/votes/{part(ident)}/argue", {"argument": words_of(text)}, by=by))


@vote_command.command("next", epilog="Example: covey vote next vote_…")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def vote_next(reach: Reach, ident: str, by: str | None) -> None:
    """End the round: all are shown the arguments and asked again. Five rounds of debate at most."""
    _show(reach, reach.post(f"/api/v1/votes/{part(ident)}/next-round", by=by))


@vote_command.command("close", epilog="Example: covey vote close vote_…")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def vote_close(reach: Reach, ident: str, by: str | None) -> None:
    """End a vote and count what was cast."""
    _show(reach, reach.post(f"/api/v1/votes/{part(ident)}/close", by=by))


@vote_command.command("show", epilog="Example: covey vote show vote_…")
@click.argument("ident", metavar="ID")
@as_agent
@reaching
def vote_show(reach: Reach, ident: str, by: str | None) -> None:
    """One vote: who has voted, and once it is closed what, and what it came to."""
    _show(reach, reach.get(f"/api/v1/votes/{part(ident)}", by=by))


@vote_command.command("wait", epilog="Example: covey vote wait vote_… --timeout 600")
@click.argument("ident", metavar="ID")
@click.option("--timeout", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS")
@reaching
def vote_wait(reach: Reach, ident: str, timeout: float) -> None:
    """Wait until a vote is closed; exit code 0 only if it is decided."""
    _show_closed(reach, ident, timeout)


@vote_command.command("list", epilog="Example: covey vote list --state open")
@click.option("--state", type=click.Choice(["open", "deciding", "closed"]))
@for_people
@from_cursor
@reaching
def vote_list(reach: Reach, state: str | None, limit: int, cursor: int | None) -> None:
    """Votes, newest first."""
    page = reach.get("/api/v1/votes", state=state, limit=limit, cursor=cursor)
    if reach.as_json:
        print_json(page)
        return
    rows = [_row(each) for each in page["items"]]
    table(["ID", "STATE", "VOTED", "UNTIL", "RESULT", "TOPIC"], rows, empty="there are no such votes; `covey vote open` opens one.")
    if page.get("cursor"):
        click.echo(f"there is more: --cursor {page['cursor']}")


def _row(vote: dict[str, Any]) -> list[str]:
    voters = [each for each in vote["voters"] if each["leftAt"] is None]
    voted = f"{sum(each['voted'] for each in voters)}/{len(voters)}"
    return [vote["voteId"], coloured(vote["state"]), voted, clock(vote["deadline"]), safe(_outcome(vote)), safe(vote["topic"])]


def _outcome(vote: dict[str, Any]) -> str:
    result = vote["result"]
    if result is None:
        return "-"
    return str(result["winner"]) if result["status"] == "complete" else str(result["status"]).replace("_", " ")


def _show_closed(reach: Reach, ident: str, timeout_s: float) -> None:
    vote = reach.until(lambda now: now["state"] == "closed", f"/api/v1/votes/{part(ident)}/wait", timeout_s)
    _show(reach, vote)
    if vote["result"] is None or vote["result"]["status"] != "complete":
        raise Ended("failed")


def _show(reach: Reach, vote: dict[str, Any]) -> None:
    if reach.as_json:
        print_json(vote)
        return
    click.echo(f"{vote['voteId']}  {coloured(vote['state'])}  asked by {vote['opener']}  {safe(' '.join(vote['topic'].split()))}")
    if vote["known"]:
        click.echo("it was so already; nothing was changed" + (", though this one differs" if vote["differs"] else ""))
    click.echo(f"  options: {safe(', '.join(vote['choices']))}")
    if vote["result"] is None:
        _print_open(vote)
    else:
        _print_result(vote, vote["result"])
    for each in vote["arguments"]:
        click.echo(f"  {each['agent']} argued in round {each['round']}: {safe(each['argument'])}")


def _print_open(vote: dict[str, Any]) -> None:
    if vote["state"] == "deciding":
        click.echo(f"  a tie; {vote['decider']} decides until {clock(vote['deadline'])}")
        return
    rounds = f"round {vote['round']} of {vote['lastRound']}, until {clock(vote['dueAt'])}; " if vote["lastRound"] > 1 else ""
    click.echo(f"  {rounds}closes {clock(vote['deadline'])}, or when all have voted; quorum {vote['quorum']}")
    for word, voted in (("has voted", True), ("is awaited", False)):
        names = [each["agent"] for each in vote["voters"] if each["voted"] is voted and each["leftAt"] is None]
        if names:
            click.echo(f"  {word}: {', '.join(names)}")


def _print_result(vote: dict[str, Any], result: dict[str, Any]) -> None:
    by = f" ({result['decidedBy']} decided the tie)" if result["decidedBy"] else ""
    strength = f", strength {result['strength']:.2f}" if result["cast"] else ""
    click.echo(f"  result: {safe(_outcome(vote))}{by}{strength}")
    for option, score in sorted(result["scores"].items(), key=lambda item: -item[1]["weightedScore"]):
        click.echo(f"    {safe(option)}: {score['weightedScore']:.3g} from {score['voteCount']}")
    for each in vote["ballots"] or []:
        chose = f"{safe(each['selection'])}, confidence {each['confidence']:g}" if each["selection"] is not None else "abstained"
        click.echo(f"  {each['agent']}, round {each['round']}: {chose}")
    for word, key in (("did not vote", "silent"), ("left the fleet", "left")):
        if result[key]:
            click.echo(f"  {word}: {', '.join(result[key])}")
    for each in result["changedWithoutArgument"]:
        click.echo(f"  changed in round {each['round']} without a new argument: {', '.join(each['agents'])}")
