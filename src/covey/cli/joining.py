"""Coding assistants on the command line: join, leave, listen. What the assistants themselves run is `covey.seats.hook`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click

from covey.base.errors import Invalid, NotFound
from covey.base.markers import servers
from covey.base.target import in_url
from covey.cli.options import Seconds, bare, nearest, reaching
from covey.cli.output import Ended, print_json, safe
from covey.cli.reach import Reach
from covey.client.request import part
from covey.seats import assistants, joining, seat
from covey.seats.assistants import ASSISTANTS, Joining
from covey.seats.hook import main as hook
from covey.seats.seat import Seat

LOOK_S = 1.0
"""On this machine one looks so often while nothing comes."""
GATEWAY_PORT = 8900
_NEXT = {
    "claude": "Sessions of Claude Code that begin in {folder} from now on are {agent}, once you trust that folder.",
    "codex": "Codex sessions that begin from now on are {agent}; at the first one Codex asks you to review the hooks (/hooks).",
    "gemini": "Gemini sessions that begin from now on are {agent}, in folders that you have trusted (/permissions).",
    "openclaw": "OpenClaw has {agent}'s tools at its next start. It has no hooks: `covey listen {agent}` ends when something comes.",
}
_NOT_SERVED = (
    'covey: the gateway, which has the tools, does not run now. `pip install "covey[mcp]"` where that is not installed, then `covey up`;'
    " a fleet that runs without it needs `covey down` first."
)
who = click.option("--as", "agent", required=True, metavar="AGENT", help="The agent that the assistant is.")
which = click.argument("assistant", type=click.Choice(ASSISTANTS), metavar="|".join(ASSISTANTS))


class Fleet(NamedTuple):
    """How the assistant reaches the fleet."""

    api: str
    mcp: str
    home: str
    token: str
    served: bool = True
    """Whether the gateway runs, as far as is known."""
    changed: str = ""
    """The covey.toml that says from now on what the agent is, if it did not before."""


@click.command(epilog="Example: covey join claude --as coder --external")
@which
@who
@click.option("--external", is_flag=True, help="In covey.toml: the agent's brain is this assistant; one that is not there is added.")
@click.option("--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Claude's project; the current folder.")
@click.option("--name", "server", default="covey", show_default=True, help="What the fleet is called among the assistant's MCP servers.")
@click.option("--gateway", metavar="URL", help="The gateway's address, if it is not the one beside the fleet's API.")
@click.option("--env", "variable", metavar="NAME", help="Write ${NAME} in place of the token; you set it yourself.")
@click.option("--no-hooks", is_flag=True, help="The tools alone: the assistant has to look for its mail itself.")
@reaching
def join_command(reach: Reach, assistant: str, agent: str, project: Path | None, variable: str | None, **given: Any) -> None:
    """Give a coding assistant the fleet's tools and hooks, as an agent of the fleet.

    Its own settings are kept; `covey leave` puts them back as they were. The token is written where only you can read it.
    """
    _check_words(given["server"], variable)
    fleet = _elsewhere(reach, agent, given["gateway"]) if reach.url else _here(reach, agent, given["gateway"], external=given["external"])
    folder, work = seat.folder_of(), (project or Path.cwd()).resolve()
    token = "" if fleet.home else fleet.token
    made = Seat(assistant, agent, fleet.api, fleet.home, token, str(work), given["server"], changes=[])
    hook_words = assistants.hook_command(_program(), seat.path_of(folder, assistant, agent))
    wanted = Joining(
        agent=agent,
        server=made.server,
        mcp=fleet.mcp,
        token=fleet.token,
        variable=variable,
        hook=hook_words,
        hooks=not given["no_hooks"],
        folder=work,
        home=Path.home(),
        environ=os.environ,
    )
    _print_joined(reach, joining.join(folder, made, wanted), fleet)


def _check_words(server: str, variable: str | None) -> None:
    for field, word in (("--name", server), ("--env", variable or "X")):
        if not word.replace("-", "_").isidentifier() or not word.isascii() or (field == "--env" and "-" in word):
            raise Invalid(f"{field} is {word[:60]!r}; give letters, digits and _.", field=field)


def _here(reach: Reach, agent: str, gateway: str | None, *, external: bool) -> Fleet:
    """The fleet of this machine; with `external` the agent is made so first."""
    from covey.app.starting import url_of  # noqa: PLC0415 - as below
    from covey.cli.applying import in_its_light  # noqa: PLC0415 - a fleet elsewhere has no settings here
    from covey.cli.granting import all_tokens  # noqa: PLC0415 - as above

    changed = False
    if external:
        changed = _make_external(reach, agent)
        reach.flag()  # covey.toml is read anew
    settings = in_its_light(reach)
    if settings.agent(agent) is None:
        names = [each.id for each in settings.agents]
        raise NotFound(f"there is no agent {agent!r}; {nearest(agent, names)} With --external it is added.", field="--as")
    token = reach.run(all_tokens(settings, agent))[agent]
    running = {each.name: each.port for each in servers(Path(settings.data_dir) / "run")}
    mcp = gateway or url_of(settings.host, running.get("gateway", settings.gateway_port))
    served = gateway is not None or "gateway" in running
    return Fleet(
        url_of(settings.host, running.get("console", settings.console_port)),
        f"{mcp.rstrip('/')}/mcp",
        str(Path(settings.data_dir).resolve()),
        token,
        served,
        str(reach.file) if changed else "",
    )


def _make_external(reach: Reach, agent: str) -> bool:
    """Make the agent's brain external in covey.toml, and tell the fleet; whether that changed anything."""
    from covey.base.config import edit  # noqa: PLC0415 - as in `_here`
    from covey.base.config.template import TEMPLATE  # noqa: PLC0415 - as in `_here`
    from covey.cli.settling import edit_and_apply  # noqa: PLC0415 - as in `_here`

    now = reach.settings.agent(agent)
    if now is not None and now.brain.kind == "external":
        return False
    edit_and_apply(reach, lambda text: edit.set_agent(text or TEMPLATE, agent, {"brain": "external"}))
    return True


def _elsewhere(reach: Reach, agent: str, gateway: str | None) -> Fleet:
    """A fleet elsewhere, which must know the token as this agent's."""
    token = os.environ.get("COVEY_TOKEN", "")
    if not token:
        raise Invalid(f"a fleet elsewhere needs {agent}'s token: put it into COVEY_TOKEN.", field="COVEY_TOKEN")
    reach.get(f"/api/v1/agents/{part(agent, 'agent')}/glance")
    at = urlsplit(reach.url or "")
    mcp = gateway or f"{at.scheme}://{in_url(at.hostname or '')}:{_gateway_port(reach)}"
    return Fleet((reach.url or "").rstrip("/"), f"{mcp.rstrip('/')}/mcp", "", token)


def _gateway_port(reach: Reach) -> int:
    """Where the fleet's gateway serves, by its own record; the usual port if none runs beside its API."""
    running = {each["name"]: each["port"] for each in reach.get("/api/v1/agents")["servers"]}
    return int(running.get("gateway", GATEWAY_PORT))


def _program() -> tuple[str, ...]:
    """How this program is called from anywhere."""
    found = shutil.which("covey", path=str(Path(sys.executable).parent)) or shutil.which("covey")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "covey")


def _print_joined(reach: Reach, found: Seat, fleet: Fleet) -> None:
    files = [each.path for each in found.changes]
    if reach.as_json:
        print_json({"assistant": found.assistant, "agent": found.agent, "mcp": fleet.mcp, "files": files})
        return
    click.echo(f"{found.assistant} has joined as {found.agent}: tools at {fleet.mcp}. Changed:")
    for each in files:
        click.echo(f"  {each}")
    if fleet.changed:
        click.echo(f"  {fleet.changed} ({found.agent}'s brain is external; `covey leave` lets that stand)")
    click.echo(_NEXT[found.assistant].format(agent=found.agent, folder=found.folder))
    if not fleet.served:
        click.echo(_NOT_SERVED, err=True)
    click.echo(f"`covey leave {found.assistant} --as {found.agent}` puts the assistant's settings back.")


@click.command(epilog="Example: covey leave claude --as coder")
@which
@who
@reaching
def leave_command(reach: Reach, assistant: str, agent: str) -> None:
    """Take the fleet out of an assistant's settings. A file that nobody changed since is as it was before, byte for byte."""
    left = joining.leave(seat.folder_of(), assistant, agent)
    if reach.as_json:
        print_json({"assistant": assistant, "agent": agent, "files": [each._asdict() for each in left]})
        return
    for each in left:
        click.echo(f"{each.how}: {each.path}")
    click.echo(f"{assistant} is {agent} no more. The fleet is unchanged: {agent}'s brain is what covey.toml says, its mail is kept.")


@click.command(epilog="Example: covey listen coder --timeout 3600")
@click.argument("agent")
@click.option("--timeout", type=Seconds(above=0.0), default=86400.0, show_default=True, metavar="SECONDS", help="End with 1 after so long.")
@click.option("--after", default="", metavar="MARK", help="Only what came after this mark, which --json prints.")
@click.option("--all", "everything", is_flag=True, help="Also what can wait for the agent's next turn.")
@reaching
def listen_command(reach: Reach, agent: str, timeout: float, after: str, everything: bool) -> None:
    """Wait until something comes for AGENT that wakes an idle brain, print it in few words, and end.

    Nothing is acknowledged or taken by it. What waits already counts, unless --after says otherwise.
    """
    path = f"/api/v1/agents/{part(agent, 'agent')}/glance"
    by = None if reach.url or agent == "operator" else agent
    query = {"after": after or None, "idle": not everything}
    found = reach.until(lambda now: bool(now["fresh"]), path, timeout, look_s=LOOK_S, by=by, **query)
    if reach.as_json:
        print_json(found)
    elif found["fresh"]:
        click.echo(safe(found["text"]))
    else:
        click.echo(f"covey: nothing came for {agent} within {timeout:g} s.", err=True)
    if not found["fresh"]:
        raise Ended("failed")


@click.command(epilog="Example: covey hook ~/.local/state/covey/seats/claude-coder.json < event.json")
@click.argument("seat_file", metavar="SEAT", type=click.Path(path_type=Path))
@click.option("--idle", is_flag=True, help="Wait until something comes, say it on stderr, end with 2.")
@bare
def hook_command(_shared: dict[str, Any], seat_file: Path, idle: bool) -> int:
    """What a joined assistant runs after each tool, at its stop and at its start; `covey join` writes it into its settings.

    It tells what waits, once; it is silent and ends with 0 if nothing does, or if no fleet runs.
    """
    return hook([str(seat_file), *(["--idle"] if idle else [])])
