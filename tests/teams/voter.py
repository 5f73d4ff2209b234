"""A process of its own that casts one ballot: `python -m tests.teams.voter TASK STORE VOTER`.

TASK is `VOTE:OPTION`, or that with `:before` or `:after`: the process then kills itself with SIGKILL just before or after its commit.
It waits for a line, acts once, and prints in which state the vote is then.
"""

from __future__ import annotations

import sys
from typing import Any

from covey.agents.model import as_agent
from covey.store.batches import write_alone
from covey.teams.votes import casting
from tests.links.worker import Dying
from tests.store.worker import engine_of, say


def main(task: str, store: str, voter: str) -> None:
    """Set up, wait for the word, act."""
    vote, option, *when = task.split(":")
    engine: Any = engine_of(store)
    say("ready")
    sys.stdin.readline()
    chosen: Any = Dying(engine, when[0]) if when else engine
    say(write_alone(chosen, casting.cast, vote, as_agent(voter), option, 0.5).state)
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
