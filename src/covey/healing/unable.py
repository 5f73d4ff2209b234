"""Work that nobody is able to take: it waits, `why` says so, and the operator is told once, until somebody is able again (A1a).

Looked for in the shared queues alone: what waits for one agent is told with that agent's own incident.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from covey.agents.model import GLOBAL, URGENT
from covey.healing import incidents
from covey.store import Store, Transaction, statement

UNABLE = statement(__package__, "unable")

KIND = "nobody_able"
WAITED_S = 60.0
"""Work that has waited for less is not worth a word."""
SEEN_S = 86_400.0
"""An external agent that was seen within so long may come back for it."""
ROUNDS = 3
"""It must be so in so many looks in a row: a fleet that is just coming up alarms nobody."""


def unable(tx: Transaction, alive_s: float) -> list[str]:
    """The shared queues, as `global:code`, with work that nobody is able to take now."""
    return [
        row.queue
        for shared in (URGENT, GLOBAL)
        for row in tx.all(
            UNABLE,
            low=f"{shared}:",
            high=f"{shared};",
            now=tx.now,
            before=tx.now - WAITED_S,
            alive_after=tx.now - alive_s,
            seen_after=tx.now - SEEN_S,
        )
    ]


def tell(tx: Transaction, queues: Sequence[str]) -> int:
    """How many incidents were opened or ended, so that one is open for each of these queues and for no other."""
    known = {incident.subject: incident.incident_id for incident in incidents.open_of(tx, "", KIND)}
    over = [ident for queue, ident in known.items() if queue not in queues]
    for ident in over:
        incidents.end_incident(tx, ident, "able", "somebody is able to take it again, or nothing waits there any more.")
    new = [queue for queue in queues if queue not in known]
    for queue in new:
        capability = queue.partition(":")[2]
        cause = f"work that needs the capability {capability} waits in the queue {queue}, and nobody who has it is able to do it now."
        incidents.open_incident(tx, "", KIND, cause, subject=queue, data={"capability": capability})
    return len(over) + len(new)


class Onlooker:
    """Looks again and again whether there is work that nobody is able to take."""

    def __init__(self, store: Store, alive_s: Callable[[], float]) -> None:
        self._store = store
        self._alive_s = alive_s
        self._seen: dict[str, int] = {}
        self._told: list[str] | None = None

    async def one_round(self, _fence: int = 0) -> None:
        """One look. Nothing is written unless something has changed."""
        found = await self._store.read(unable, self._alive_s())
        self._seen = {queue: self._seen.get(queue, 0) + 1 for queue in found}
        sure = all(rounds >= ROUNDS for rounds in self._seen.values())
        if sure and found != self._told:
            await self._store.write(tell, found)
            self._told = found
