"""The fleet's tokens: made where one is missing, kept in `tokens.toml`, known to the store by their hashes."""

from __future__ import annotations

from pathlib import Path

from covey.agents import tokens
from covey.agents.model import OPERATOR, OWNER
from covey.base import token_file
from covey.base.settings import Settings
from covey.store import Store, Transaction


async def tokens_of(store: Store, settings: Settings) -> dict[str, str]:
    """The operator's token, each agent's and each owner's (`owner:NAME`), by name; the store knows them all.

    Raises:
        Misconfigured: The file can be read by others, or is broken.
    """
    owners = sorted({f"{OWNER}{agent.owner}" for agent in settings.agents if agent.owner})
    found = token_file.ensure(Path(settings.data_dir), [OPERATOR, *(agent.id for agent in settings.agents), *owners])
    hashes = {name: tokens.hash_of(token) for name, token in found.items()}
    if not await store.read(_all_known, list(hashes.values())):
        await store.write(tokens.put_all, hashes)
    return found


def _all_known(tx: Transaction, hashes: list[str]) -> bool:
    return all(tokens.who(tx, each) is not None for each in hashes)
