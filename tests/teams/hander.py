"""A process of its own that does one thing with the task `t`: `python -m tests.teams.hander TASK STORE AGENT`.

TASK is the name of one of the verbs below, alone or with `:before` or `:after`: the process then kills itself with SIGKILL just before
or after its commit. It waits for a line, finds all it needs in the store, acts once, and prints what came of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from covey.agents.model import as_agent
from covey.base.errors import CoveyError
from covey.brains.model import Parcel, Passed
from covey.store import Transaction
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.tasks import reading, working
from covey.teams.handoffs import answering, lapsing, offering
from covey.teams.handoffs import reading as handoffs
from covey.teams.handoffs.model import HandoffDraft
from tests.links.worker import Dying
from tests.store.worker import engine_of, say

SAID = [Passed(text="mind the dog")]


def claim(tx: Transaction, agent: str) -> str:
    found = working.claim(tx, agent, "", lease_s=3600.0)
    return "nothing" if found is None else found[0].state


def offer(tx: Transaction, agent: str) -> str:
    return offering.offer(tx, HandoffDraft(task_id="t", to="sales", context=SAID), as_agent(agent)).state


def hand_over(tx: Transaction, agent: str) -> str:
    """What settling a brain's outcome does."""
    row = reading.seek(tx, "t")
    assert row is not None
    return offering.offer_held(tx, agent, row.token or "none", Parcel(to="sales", context=SAID)).state


def accept(tx: Transaction, agent: str) -> str:
    return answering.accept(tx, _offer(tx), as_agent(agent)).state


def decline(tx: Transaction, agent: str) -> str:
    return answering.decline(tx, _offer(tx), as_agent(agent), "no").state


def expire(tx: Transaction, agent: str) -> str:
    return "expired" if lapsing.expire_due(tx) else "nothing"


def finish(tx: Transaction, agent: str) -> str:
    row = reading.seek(tx, "t")
    assert row is not None
    return working.finish(tx, agent, row.token or "none", f"{agent} did it").state


def _offer(tx: Transaction) -> str:
    return handoffs.of_task(tx, "t")[-1].handoff_id


VERBS: dict[str, Callable[[Transaction, str], str]] = {
    verb.__name__: verb for verb in (claim, offer, hand_over, accept, decline, expire, finish)
}


def act(engine: Engine, what: str, agent: str) -> str:
    """Do it once; what came of it in a word."""
    try:
        return write_alone(engine, VERBS[what], agent)
    except CoveyError as error:
        return error.code


def main(task: str, store: str, agent: str) -> None:
    """Set up, wait for the word, act."""
    what, _, when = task.partition(":")
    engine: Any = engine_of(store)
    say("ready")
    sys.stdin.readline()
    used: Any = Dying(engine, when) if when else engine
    say(act(used, what, agent))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
