"""The fleet's port: who watches whom, and a look after one agent right now (B1, B2)."""

from __future__ import annotations

from pathlib import Path

from covey.api.shapes import Buddies, BuddyLooked, FleetPaging
from covey.base import token_file
from covey.buddies import reading
from covey.buddies.model import Silence
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.door import FleetDoor
from covey.doors.operations import Nothing, get, post
from covey.healing import buddying
from covey.healing.buddying import Looked, Means


async def get_buddies(call: Call[FleetPaging, Nothing]) -> Answer:
    """Agents with their buddies (B1)."""
    asked = call.query
    page = await call.door.store.read(reading.page, call.door.settings.buddy_check_s, after=asked.cursor, limit=asked.limit)
    return shown(Buddies(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def check_agent(call: Call[Nothing, Nothing]) -> Answer:
    """See how an agent is, over its own port; nothing is done about it."""
    name = call.named("name")
    return shown(_looked(name, await buddying.look(_means(call.door), name, call.by)))


def _means(door: FleetDoor) -> Means:
    folder = Path(door.settings.data_dir)
    return Means(door.store, door.settings, lambda name: token_file.read(folder).get(name, ""))


def _looked(name: str, found: Looked) -> BuddyLooked:
    verdict = found.verdict
    if isinstance(verdict, Silence):
        return BuddyLooked(
            agent_id=name, answered=False, reason=verdict.fault, why=verdict.sentence, ping=found.ping, todo=found.decision.action
        )
    return BuddyLooked(
        agent_id=name,
        answered=True,
        status=verdict.status,
        last_heartbeat=verdict.last_heartbeat,
        queue_length=verdict.queue_length,
        context_size=verdict.context_size,
        max_context_size=verdict.max_context_size,
        covering=verdict.covering,
        ping=found.ping,
        todo=found.decision.action,
    )


OPERATIONS = (
    get(
        "/api/v1/buddies",
        get_buddies,
        "caller",
        "Who watches whom, and what came of it.",
        query=FleetPaging,
        gives=Buddies,
        verb=reading.page,
    ),
    post("/api/v1/agents/{name}/buddy-check", check_agent, "lead", "See how an agent is, over its own port.", gives=BuddyLooked),
)
