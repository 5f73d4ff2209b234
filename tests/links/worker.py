"""A process of its own that sends over a link or delivers what is due: `python -m tests.links.worker TASK STORE NAME`.

TASK is `send`, `deliver`, or either with `:before` or `:after`: the process then kills itself with SIGKILL just before or after its commit.
It waits for a line, acts once, and prints what came of it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from covey.agents.model import as_agent
from covey.base.ids import Ids
from covey.messages import releasing, sending
from covey.messages.model import draft
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.store.transaction import Transaction
from tests.store.worker import engine_of, say


class Dying:
    """An engine whose writer's process dies at the commit."""

    def __init__(self, engine: Engine, when: str) -> None:
        self._engine = engine
        self._when = when

    def writer(self, ids: Ids) -> Any:
        writer = self._engine.writer(ids)
        commit = writer.commit

        def dies(tx: Transaction) -> None:
            if self._when == "after":
                commit(tx)
            os.kill(os.getpid(), signal.SIGKILL)

        writer.commit = dies  # type: ignore[method-assign]
        return writer


def act(engine: Any, task: str, name: str) -> str:
    """Do it once; what came of it in a word."""
    if task == "deliver":
        return str(write_alone(engine, releasing.deliver_due))
    words = draft("coder", f"message {name}", message_id=name, thread_id=f"t.{name}")
    return write_alone(engine, sending.send, words, as_agent("chief")).status


def main(task: str, store: str, name: str) -> None:
    """Set up, wait for the word, act."""
    engine: Any = engine_of(store)
    what, _, when = task.partition(":")
    say("ready")
    sys.stdin.readline()
    say(act(Dying(engine, when) if when else engine, what, name))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
