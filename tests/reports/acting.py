"""Short words for what happens in a fleet, so that a test of a report reads as a story."""

from __future__ import annotations

from typing import Any

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.store import Store
from covey.tasks import adding, working
from covey.tasks.model import Task, TaskDraft

EIGHT = ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")
PID = 4000


async def awake(store: Store, *names: str) -> None:
    """These agents' processes run and beat; all eight if none is named."""
    for number, name in enumerate(names or EIGHT):
        await store.write(living.arrive, name, node="n1", pid=PID + number, start_ticks=7, boot_id="a-boot", port=8001 + number)


async def add(store: Store, description: str, agent: str | None = None, **more: Any) -> Task:
    """The operator's task."""
    return await store.write(adding.add, TaskDraft(description=description, agent=agent, **more), THE_OPERATOR)


async def take(store: Store, agent: str, lease_s: float = 60.0) -> tuple[Task, str]:
    """The agent's next task, begun, and its token."""
    claimed = await store.write(working.claim, agent, "run_1", lease_s=lease_s)
    assert claimed is not None
    await store.write(working.started, agent, claimed[1])
    return claimed


async def send(store: Store, sender: str, to: str | list[str], body: str, **more: Any) -> str:
    """The id of a message that an agent, or the operator, sent."""
    by = THE_OPERATOR if sender == "operator" else as_agent(sender)
    return (await store.write(sending.send, draft(to, body, **more), by)).message_id


async def claim_mail(store: Store, agent: str, digest_s: float = 900.0) -> handling.Claimed:
    """The agent's next mail, leased."""
    claimed = await store.write(handling.claim, agent, "run_m", lease_s=60.0, digest_s=digest_s)
    assert claimed is not None
    return claimed
