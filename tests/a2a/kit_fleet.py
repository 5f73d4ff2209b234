"""A fleet for a conformance kit to be pointed at: `python -m tests.a2a.kit_fleet full|bare|extension|older BASE_PORT`, until SIGTERM.

The card is on BASE_PORT, HTTP on the next port, gRPC on the one behind. Whoever shows no token is the operator, since the kits show
none; and each message is a new one, since the kits use one id for several.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

import msgspec

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.base.settings import A2aSettings, Settings
from tests.a2a.kit_brain import KitBrain
from tests.a2a.world import world_of
from tests.conftest import Database, opened
from tests.runner.office import QUICK

REQUIRED = "urn:a2a:tck:required-extension"
CARDS = {
    "full": A2aSettings(allow_private=("127.0.0.1", "localhost")),
    "bare": A2aSettings(streaming=False, push=False, extended_card=False),
    "older": A2aSettings(allow_private=("127.0.0.1", "localhost"), extended_card=False),
    "extension": A2aSettings(allow_private=("127.0.0.1", "localhost"), required_extensions=(REQUIRED,)),
}


def settings_of(card: str, port: int) -> Settings:
    """The fleet's settings with that card on these ports; its coder is the lead, whom gRPC means where no tenant is named."""
    agents = tuple(msgspec.structs.replace(each, port=port, task_lanes=8) if each.id == "coder" else each for each in QUICK.agents)
    return msgspec.structs.replace(QUICK, agents=agents, lead="coder", gateway_port=port + 1, a2a=CARDS[card])


async def main(card: str, port: int) -> None:
    """Serve until told to end."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    settings = settings_of(card, port)
    with tempfile.TemporaryDirectory(prefix="covey-kit-") as folder:
        place = Path(folder)
        async with opened(Database("sqlite", "", place / "store.db"), place, SystemClock()) as store:
            await store.write(configuring.configure, settings)
            async with world_of(store, KitBrain(), settings, open_to_all=True):
                print("ready", flush=True)
                await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
