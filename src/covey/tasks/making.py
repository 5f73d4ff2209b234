"""How much an agent may make of others' work: so many open tasks, and so long a chain of tasks made in doing tasks.

Links bound mail. Tasks travel without credit, so that a brain that was talked into it could fill the fleet's queues, or two could
give each other work for ever.
"""

from __future__ import annotations

from covey.agents.model import Caller
from covey.base.errors import TooDeep, TooMany
from covey.messages.sending import at_work
from covey.store import Transaction, statement

MADE_OPEN = statement(__package__, "made_open")

MOST_OPEN = 1000
"""So many open tasks of one agent's making."""
MOST_CHAIN = 128
"""So long may the chain of a task be. Mail brings 64 at most, so that 64 tasks in a row are free: each made in doing the one before."""


def check_open(tx: Transaction, by: Caller) -> None:
    """Refuse one more task of an agent that has as many open as it may.

    Raises:
        TooMany: It has.
    """
    if by.kind != "agent":
        return
    row = tx.one(MADE_OPEN, created_by=by.name, most=MOST_OPEN)
    if row is not None and row.n >= MOST_OPEN:
        raise TooMany(
            f"{by.name} has made {MOST_OPEN:,} tasks that are still open, the most that an agent may; wait until some end, or cancel some."
        )


def in_hand(tx: Transaction, by: Caller) -> tuple[str, ...]:
    """The chain of what an agent is at work on while it makes a task by itself: over HTTP, MCP or A2A."""
    prompt = at_work(tx, by)
    return tuple(prompt.visited) if prompt is not None else ()


def chain(by: Caller, visited: tuple[str, ...]) -> tuple[str, ...]:
    """Whom the work has passed through, its maker included. Pure.

    Raises:
        TooDeep: It has gone on for too long.
    """
    if by.kind != "agent":
        return visited
    if len(visited) >= MOST_CHAIN:
        raise TooDeep(
            f"the work has passed through agents {len(visited)} times, each of which made more of it, and may go round for ever; finish"
            " it, or tell the operator, who may begin anew."
        )
    return (*visited, by.name)
