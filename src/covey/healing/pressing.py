"""A machine that is short of something: its agents take urgent and high work alone, contexts are cleaned up, a person is called (H10).

Each node looks after its own machine, and goes back to normal by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from covey.healing import incidents
from covey.healing.resources import RESOURCES, Resource, short_of, told
from covey.reports.machine import Room
from covey.store import Store, Transaction, statement

PRESSED = statement(__package__, "pressed")
PRESS = statement(__package__, "press")
RELIEVE = statement(__package__, "relieve")
AGENTS_ON = statement(__package__, "agents_on")

KIND = "resource_pressure"
log = logging.getLogger("covey.node")


def pressed(tx: Transaction, node: str) -> bool:
    """Whether agents on this node take urgent and high work alone."""
    return tx.one(PRESSED, node=node) is not None


def short(tx: Transaction, node: str) -> frozenset[Resource]:
    """What the node was last known to be short of."""
    row = tx.one(PRESSED, node=node)
    known = set(row.why.split()) if row is not None else set()
    return frozenset(each for each in RESOURCES if each in known)


def changed(tx: Transaction, node: str, now_short: frozenset[Resource], words: str) -> list[str]:
    """The agents whose contexts are to be cleaned up since their machine has come to be short of something more."""
    before = short(tx, node)
    open_now = next((each for each in incidents.open_of(tx, "", KIND) if each.subject == node), None)
    if not now_short:
        tx.run(RELIEVE, node=node)
        if open_now is not None:
            incidents.end_incident(tx, open_now.incident_id, "relieved", f"{node} has room again, and all work is taken there.")
        return []
    tx.run(PRESS, node=node, why=" ".join(sorted(now_short)), now=tx.now)
    cause = f"the machine of the node {node} is short of {words}."
    ident, new = incidents.opened(tx, "", KIND, cause, subject=node)
    if new:
        incidents.step(tx, ident, "urgent_only", "its agents take urgent and high work alone until there is room again.")
    elif now_short != before:
        incidents.step(tx, ident, "changed", cause)
    return [row.agent for row in tx.all(AGENTS_ON, node=node)] if now_short - before else []


class Watcher:
    """Looks after one machine. `look` blocks a moment and is called in a thread; `clean_up` has an agent's context made smaller."""

    def __init__(self, store: Store, node: str, look: Callable[[], Room], clean_up: Callable[[Transaction, str], object]) -> None:
        self._store = store
        self._node = node
        self._look = look
        self._clean_up = clean_up
        self._short: frozenset[Resource] | None = None

    async def one_round(self, _fence: int = 0) -> frozenset[Resource]:
        """What the machine is short of now."""
        before = self._short if self._short is not None else await self._store.read(short, self._node)
        room = await asyncio.to_thread(self._look)
        now_short = short_of(before, room)
        if now_short != before:
            words = told(now_short, room)
            log.warning("this machine %s", f"is short of {words}" if now_short else "has room again")
            agents = await self._store.write(changed, self._node, now_short, words)
            for each in await asyncio.gather(*(self._store.write(self._clean_up, name) for name in agents), return_exceptions=True):
                if isinstance(each, BaseException):
                    log.error("a context could not be cleaned up", exc_info=each)
        self._short = now_short
        return now_short
