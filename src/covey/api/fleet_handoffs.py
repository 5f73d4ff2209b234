"""The fleet's port: handoffs. Offered, accepted, declined, looked at, waited for (Q3)."""

from __future__ import annotations

from covey.api.shapes import Asking, Because, Given, Ident, Paging, WaitQuery
from covey.api.waiting import once_ended
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.teams.handoffs import answering, offering, reading
from covey.teams.handoffs.model import Handoff, HandoffDraft, HandoffState


class HandoffsQuery(Paging):
    """Which handoffs: of one task, of one agent on either side, in one state, or all."""

    task: Ident | None = None
    agent: Ident | None = None
    state: HandoffState | None = None


class Handoffs(Given):
    """Handoffs, newest first, and the cursor of the next part."""

    items: list[Handoff]
    cursor: str | None = None


class Consent(Asking):
    """Whether the receiver also takes back what was its own before."""

    consent: bool = False


def _offered(handoff: Handoff) -> Answer:
    return shown(handoff, 200 if handoff.known else 201)


async def offer_handoff(call: Call[Nothing, HandoffDraft]) -> Answer:
    """Offer a task to another agent."""
    return await call.write(_offered, offering.offer, call.body, call.by)


async def get_handoffs(call: Call[HandoffsQuery, Nothing]) -> Answer:
    """Handoffs, newest first."""
    asked = call.query
    page = await call.door.store.read(
        reading.listed, call.by, task=asked.task, agent=asked.agent, state=asked.state, before=asked.cursor, limit=asked.limit
    )
    return shown(Handoffs(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def get_handoff(call: Call[Nothing, Nothing]) -> Answer:
    """One handoff."""
    return shown(await call.door.store.read(reading.show, call.named("id"), call.by))


async def wait_for_handoff(call: Call[WaitQuery, Nothing]) -> Answer:
    """One handoff once it is answered, or as it stands when the time is over."""
    return await once_ended(call, reading.show, call.named("id"), call.by)


async def accept_handoff(call: Call[Nothing, Consent]) -> Answer:
    """Accept an offer: the task is the receiver's."""
    return await call.write(shown, answering.accept, call.named("id"), call.by, consent=call.body.consent)


async def decline_handoff(call: Call[Nothing, Because]) -> Answer:
    """Decline an offer, or withdraw one's own: the task goes on with its giver."""
    return await call.write(shown, answering.decline, call.named("id"), call.by, call.body.reason)


OPERATIONS = (
    post(
        "/api/v1/handoffs",
        offer_handoff,
        "caller",
        "Offer a task to another agent, with its state and what is to be known of it.",
        takes=HandoffDraft,
        gives=Handoff,
        status=201,
        verb=offering.offer,
    ),
    get(
        "/api/v1/handoffs",
        get_handoffs,
        "caller",
        "Handoffs, newest first, by task, agent and state.",
        query=HandoffsQuery,
        gives=Handoffs,
        verb=reading.listed,
    ),
    get("/api/v1/handoffs/{id}", get_handoff, "caller", "One handoff.", gives=Handoff, verb=reading.show),
    get(
        "/api/v1/handoffs/{id}/wait",
        wait_for_handoff,
        "caller",
        "One handoff once it is answered.",
        query=WaitQuery,
        gives=Handoff,
        verb=reading.show,
    ),
    post(
        "/api/v1/handoffs/{id}/accept",
        accept_handoff,
        "caller",
        "Accept a task that is offered to the caller.",
        takes=Consent,
        gives=Handoff,
        verb=answering.accept,
    ),
    post(
        "/api/v1/handoffs/{id}/decline",
        decline_handoff,
        "caller",
        "Decline a task that is offered to the caller, or withdraw an own offer.",
        takes=Because,
        gives=Handoff,
        verb=answering.decline,
    ),
)
