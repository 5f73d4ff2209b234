"""Contexts on the command line: what an agent remembers now, what its archive has, compression by hand (C3, C5)."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import click

from covey.cli.options import POSITION, Named, Whole, reaching
from covey.cli.output import clock, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part

TEXT_CHARS = 200


class Moment(click.ParamType[float]):
    """A time: Unix seconds, or a date with or without a time of day, as UTC unless it says otherwise."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Unix seconds."""
        try:
            at = float(value)
        except ValueError:
            at = math.nan
        if math.isfinite(at):
            return at
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time; give one as 2026-11-29, 2026-11-29T10:30 or in Unix seconds.", param, ctx)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


@click.group(cls=Named)
def context_command() -> None:
    """What agents remember: the live context, and the archive behind it."""


@context_command.command("show", epilog="Example: covey context show coder")
@click.argument("agent", metavar="AGENT")
@click.option("--whole", is_flag=True, help="Print each entry whole.")
@reaching
def context_show(reach: Reach, agent: str, whole: bool) -> None:
    """An agent's live context, oldest first."""
    found = reach.get(f"/api/v1/contexts/{part(agent, 'agent')}")
    if reach.as_json:
        print_json(found)
        return
    size, most = found["contextSize"], found["maxContextSize"]
    click.echo(f"{agent}: {size:,} of {most:,} tokens ({size / max(most, 1):.0%}), {found['coldEntries']:,} entries out of sight")
    if found["tooLarge"]:
        click.echo(f"error: {safe(found['tooLarge'])}")
    if found["checkpoint"]:
        point = found["checkpoint"]
        click.echo(f"checkpoint of {clock(point['at'])}: {point['item']} ({point['outcome']})")
    if found["sessionLimit"]:
        click.echo(f"session {found['session']} of its brain; at last {found['sessionTokens']:,} of {found['sessionLimit']:,} tokens")
    _print_entries(found["entries"], whole, empty=f"{agent} remembers nothing yet.")


@context_command.command("recall", epilog="Example: covey context recall coder 'release notes' --since 2026-11-01")
@click.argument("agent", metavar="AGENT")
@click.argument("text", required=False)
@click.option("--id", "ident", metavar="ID", help="An entry, all that a summary stands for, or what came of a message or task.")
@click.option("--since", type=Moment(), metavar="TIME", help="Made at or after this time.")
@click.option("--until", type=Moment(), metavar="TIME", help="Made at or before this time.")
@click.option("--limit", type=Whole(1, 200), default=20, show_default=True, metavar="N", help="So many at most.")
@click.option("--cursor", type=POSITION, metavar="N", help="Go on where the last page ended.")
@click.option("--whole", is_flag=True, help="Print each entry whole.")
@reaching
def context_recall(reach: Reach, agent: str, text: str | None, ident: str | None, whole: bool, **words: Any) -> None:
    """What an agent's archive has with all these words, of a time, or of an id."""
    page = reach.get(f"/api/v1/contexts/{part(agent, 'agent')}/recall", text=text, id=ident, **words)
    if reach.as_json:
        print_json(page)
        return
    _print_entries(page["items"], whole, empty=f"the archive of {agent} has nothing like that.")
    if page.get("cursor"):
        click.echo(f"more: --cursor {page['cursor']}")


@context_command.command("compress", epilog="Example: covey context compress coder")
@click.argument("agent", metavar="AGENT")
@reaching
def context_compress(reach: Reach, agent: str) -> None:
    """Compress an agent's context down to half its bound now; nothing of it is lost."""
    done = reach.post(f"/api/v1/contexts/{part(agent, 'agent')}/compress")
    if reach.as_json:
        print_json(done)
        return
    if not done["archived"]:
        click.echo(f"{agent}: {done['before']:,} tokens; there was nothing to compress.")
        return
    made = f", {done['summaries']} summaries made" if done["summaries"] else ""
    click.echo(f"{agent}: {done['before']:,} tokens before, {done['after']:,} now; {done['archived']} entries went to the archive{made}.")
    if done["tooLarge"]:
        click.echo(f"error: {safe(done['tooLarge'])}")


def _print_entries(entries: list[dict[str, Any]], whole: bool, *, empty: str) -> None:
    if whole:
        for each in entries:
            click.echo(f"\n{clock(each['at'])} {each['kind']} {each['id']} {each['source'] or ''}\n{safe(each['text'])}")
        return
    rows = [[clock(each["at"]), each["kind"], each["form"], f"{each['tokens']:,}", each["id"], _head(each["text"])] for each in entries]
    table(["AT", "KIND", "FORM", "TOKENS", "ID", "TEXT"], rows, empty=empty)


def _head(text: str) -> str:
    return safe(" ".join(text.split())[:TEXT_CHARS])
