"""The fleet's port: what waits for an agent, in few words, waited for if asked. Hooks and `covey listen` live on it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from covey.api.shapes import Wait, WaitQuery
from covey.api.waiting import once_ended
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing, get
from covey.reports import glance
from covey.reports.model import Glance


class GlanceQuery(WaitQuery):
    """What is fresh after the `mark` of an earlier answer. `idle`: only what wakes an idle brain; other mail once it is due (M4b)."""

    wait: Wait = 0.0
    after: Annotated[str, Meta(max_length=200)] = ""
    idle: bool = False


async def get_glance(call: Call[GlanceQuery, Nothing]) -> Answer:
    """What waits for an agent; with `wait` once something is fresh, or as it stands when the time is over."""
    quiet_s = call.door.settings.digest_s if call.query.idle else 0.0
    return await once_ended(call, glance.glance, call.named("name"), after=call.query.after, quiet_s=quiet_s)


OPERATIONS = (
    get(
        "/api/v1/agents/{name}/glance",
        get_glance,
        "self",
        "What waits for an agent, in few words.",
        query=GlanceQuery,
        gives=Glance,
        verb=glance.glance,
    ),
)
