"""Bearer tokens on the command line: shown on request, rotated in the file and in the store at once."""

from __future__ import annotations

from pathlib import Path

import click

from covey.agents import roster, tokens
from covey.agents.model import THE_OPERATOR
from covey.app.opening import open_store, prepare, want_store
from covey.app.tokens import tokens_of
from covey.base import token_file
from covey.base.errors import NotFound
from covey.base.settings import Settings
from covey.cli.options import Named, here, nearest
from covey.cli.output import print_json
from covey.cli.reach import Reach
from covey.nodes import restarting
from covey.store import Transaction


@click.group(cls=Named)
def token_command() -> None:
    """Bearer tokens of the operator and of each agent."""


@token_command.command("show", epilog="Example: export COVEY_TOKEN=$(covey token show operator)")
@click.argument("name", metavar="AGENT|operator")
@here
def token_show(reach: Reach, name: str) -> None:
    """Print a token. Keep it secret: whoever has it can act as that agent."""
    want_store(reach.settings)
    token = reach.run(all_tokens(reach.settings, name))[name]
    reach.say({"name": name, "token": token}, token)


@token_command.command("rotate", epilog="Example: covey token rotate coder")
@click.argument("name", metavar="AGENT|operator")
@here
def token_rotate(reach: Reach, name: str) -> None:
    """Make a new token. The old one opens nothing any more; an agent that runs is started anew with the new one."""
    why_not = reach.run(_rotate(reach.settings, name))
    if reach.as_json:
        print_json({"name": name, "rotated": True} | ({"detail": why_not} if why_not else {}))
        return
    click.echo(f"{name} has a new token; `covey token show {name}` prints it")
    if why_not:
        click.echo(f"nothing was started anew: {why_not}")


async def all_tokens(settings: Settings, name: str) -> dict[str, str]:
    """All tokens, `name`'s among them; they are made if the fleet has none yet.

    Raises:
        NotFound: Nobody of this name has one.
    """
    store = open_store(settings)
    try:
        await prepare(store, settings)
        found = await tokens_of(store, settings)
    finally:
        await store.close()
    if name not in found:
        raise NotFound(f"there is no token of {name!r}; {nearest(name, list(found))}", field="name")
    return found


async def _rotate(settings: Settings, name: str) -> str:
    """Why the agent's process is not started anew with it; empty if it is, or if the name is no agent's."""
    await all_tokens(settings, name)
    store = open_store(settings)
    try:
        token = token_file.rotate(Path(settings.data_dir), name)
        return await store.write(rotated, name, tokens.hash_of(token))
    finally:
        await store.close()


def rotated(tx: Transaction, name: str, token_hash: str) -> str:
    """The store knows the new token, and the agent's process is to start anew with it; why not, where nobody would do that."""
    tokens.put(tx, name, token_hash)
    agent = roster.seek(tx, name)
    if agent is None or agent.removed_at is not None:
        return ""
    return restarting.ask_if_any_would(tx, name, THE_OPERATOR, "its token was rotated")
