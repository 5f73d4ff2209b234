"""An agent's own port: the seeds' eight endpoints, and what says what they are (A5). `make_app` is the application."""

from __future__ import annotations

from typing import Any

import msgspec

from covey.api import views
from covey.api.agent_card import OPERATIONS as CARD
from covey.api.described import DescribedPort
from covey.api.door import Door
from covey.api.fleet_messages import receipt_shown
from covey.api.fleet_tasks import added
from covey.api.metrics import figures_shown
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.api.shapes import (
    AgentState,
    BuddyCheck,
    ContextSync,
    ContextSynced,
    EmergencyStop,
    EmergencyStopped,
    HealthNow,
    Readiness,
    Remembered,
)
from covey.base.errors import Invalid
from covey.buddies.model import Answer as Buddy
from covey.contexts import syncing
from covey.contexts.entries import Entry
from covey.contexts.syncing import Synced
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.messages import sending
from covey.messages.model import Draft, Receipt
from covey.nodes import restarting
from covey.reports import metrics, status
from covey.tasks import adding
from covey.tasks.model import Task, TaskDraft


def make_app(door: Door) -> DescribedPort:
    """The application of an agent's port."""
    return DescribedPort(door, f"Covey agent {door.agent}", OPERATIONS)


def here(call: Call[Any, Any]) -> Door:
    """The door of the agent that was called."""
    assert isinstance(call.door, Door)
    return call.door


async def post_message(call: Call[Nothing, Draft]) -> Answer:
    """Send a message to this agent (M1)."""
    draft, agent = call.body, here(call).agent
    if draft.to not in (None, agent, [agent]):
        raise Invalid(
            f"to is {draft.to!r}, but this is {agent}'s own port; leave `to` out, or use the receiver's port or the fleet's.", field="to"
        )
    draft.to = agent
    return await call.write(receipt_shown, sending.send, draft, call.by, wait_s=call.door.settings.wait_s)


async def get_status(call: Call[Nothing, Nothing]) -> Answer:
    """This agent's state (A4)."""
    return shown(await call.door.store.read(status.agent_state, here(call).agent, call.door.settings.stale_s))


async def post_task(call: Call[Nothing, TaskDraft]) -> Answer:
    """Give this agent a task (K1)."""
    draft, agent = call.body, here(call).agent
    if draft.agent not in (None, agent):
        raise Invalid(
            f"agent is {draft.agent!r}, but this is {agent}'s own port; leave `agent` out, or use the fleet's port.", field="agent"
        )
    draft.agent = agent
    return await call.write(added, adding.add, draft, call.by)


async def get_health(call: Call[Nothing, Nothing]) -> Answer:
    """How the process is: from memory, whatever the brain and the store do (A5)."""
    return shown(HealthNow(status=here(call).local.health(), timestamp=call.door.clock.wall()))


async def get_ready(call: Call[Nothing, Nothing]) -> Answer:
    """Whether it takes work: 503 if not."""
    why = here(call).local.why_not_ready()
    return shown(Readiness(ready=why is None, timestamp=call.door.clock.wall(), why=why), 503 if why else 200)


async def post_buddy_check(call: Call[Nothing, BuddyCheck]) -> Answer:
    """Answer whoever checks on this agent (A5a)."""
    return await call.write(shown, views.buddy_check, here(call).agent, call.body, call.by, call.door.settings.stale_s)


async def post_context_sync(call: Call[Nothing, ContextSync]) -> Answer:
    """Merge a buddy's entries, and give back this agent's (C6)."""
    asked = call.body
    given = [Entry(each.id, each.kind, each.text, each.source, each.tokens, each.at) for each in asked.entries]
    return await call.write(synced, syncing.sync, here(call).agent, given, call.by, since=asked.since, claimed=asked.from_)


def synced(found: Synced) -> Answer:
    """What came of a sync."""
    entries = [
        Remembered(id=each.id, kind=each.kind, text=each.text, source=each.source, tokens=each.tokens, at=each.at) for each in found.entries
    ]
    return shown(ContextSynced(accepted=found.accepted, known=found.known, entries=entries))


async def get_metrics(call: Call[Nothing, Nothing]) -> Answer:
    """This agent's figures (A6)."""
    return figures_shown(call, await call.door.store.read(metrics.of_agent, here(call).agent, call.door.settings.stale_s))


async def post_emergency_stop(call: Call[Nothing, EmergencyStop]) -> Answer:
    """Stop this agent at once; the flag stays until `resume` (A7)."""
    asked, door = call.body, here(call)
    stopped = msgspec.convert(await door.local.emergency_stop(call.by, asked.reason, asked.grace_s), EmergencyStopped)
    if asked.restart:
        why_not = await door.store.write(restarting.ask_if_any_would, door.agent, call.by, asked.reason)
        stopped.restart_asked, stopped.detail = not why_not, why_not or msgspec.UNSET
    return shown(stopped)


OPERATIONS = (
    post("/message", post_message, "caller", "Send a message to this agent.", takes=Draft, gives=Receipt, status=201, verb=sending.send),
    get("/health", get_health, "anyone", "Whether the process lives, and how it is.", gives=HealthNow),
    get("/status", get_status, "status", "The agent's state.", gives=AgentState, verb=status.agent_state),
    post("/task", post_task, "caller", "Give this agent a task.", takes=TaskDraft, gives=Task, status=201, verb=adding.add),
    post(
        "/buddy-check",
        post_buddy_check,
        "caller",
        "Check on this agent; its brain is not asked.",
        takes=BuddyCheck,
        gives=Buddy,
        verb=views.buddy_check,
    ),
    post(
        "/context-sync",
        post_context_sync,
        "buddy",
        "Exchange context with this agent's buddy.",
        takes=ContextSync,
        gives=ContextSynced,
        verb=syncing.sync,
    ),
    get(
        "/metrics",
        get_metrics,
        "metrics",
        "The agent's figures, as JSON or as Prometheus text.",
        gives=dict[str, Any],
        also=("text/plain",),
        verb=metrics.of_agent,
    ),
    post(
        "/emergency-stop",
        post_emergency_stop,
        "lead",
        "Stop this agent and its running brain at once.",
        takes=EmergencyStop,
        gives=EmergencyStopped,
    ),
    get("/readyz", get_ready, "anyone", "Whether the agent takes work: 200 or 503.", gives=Readiness),
    *CARD,
    *SELF_DESCRIPTION,
)
