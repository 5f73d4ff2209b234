"""One handoff: the way of its task from hand to hand, what goes with it, what came of it; answered by the operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.asking import Field, confirm, tell
from covey.console.rendering import render
from covey.console.routes import Form, Operations, act, done, page
from covey.console.sections import Sections
from covey.console.shown import plain
from covey.console.story import lines_of
from covey.console.views import LINES
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction, events
from covey.store.events import Event
from covey.tasks import reading as tasks
from covey.teams.handoffs import answering, reading
from covey.teams.handoffs.model import Handoff

REASON = 500
YES = "yes"


class HandoffView(NamedTuple):
    """A handoff, what its task is, all offers of that task, what happened to this one."""

    handoff: Handoff
    description: str
    offers: list[Handoff]
    story: list[Event]


class Consent(Form):
    """Whether what was the receiver's before may come back to it."""

    consent: str = "no"


class Why(Form):
    """Why it is declined, in the person's words."""

    reason: str = ""


def read_handoff(tx: Transaction, ident: str, _settings: Settings) -> HandoffView:
    """The handoff as the operator may see it.

    Raises:
        NotFound: There is none of this id.
    """
    found = reading.show(tx, ident, THE_OPERATOR)
    task = tasks.seek(tx, found.task_id)
    words = task.description if task is not None else ""
    return HandoffView(found, words, reading.of_task(tx, found.task_id), events.of_subject(tx, ident, limit=LINES))


def now_part(view: HandoffView) -> Markup:
    """From whom to whom, until when, and what can be done about it. Pure."""
    found = view.handoff
    return render(
        "handoffs/now.html",
        handoff=found,
        description=view.description,
        task=pieces.task(found.task_id),
        hops=[*((pieces.agent(name), "passed") for name in found.path), (pieces.agent(found.to), found.state)],
        offered_by=pieces.agent(found.offered_by),
        ended_by=pieces.agent(found.ended_by),
    )


def parcel_part(view: HandoffView) -> Markup:
    """What goes with the task. Pure."""
    found = view.handoff
    state = msgspec.json.format(msgspec.json.encode(found.task_state)).decode() if found.task_state else ""
    return render("handoffs/parcel.html", handoff=found, state=state)


def offers_part(view: HandoffView) -> Markup:
    """All offers of this task, in order. Pure."""
    return render("handoffs/offers.html", offers=view.offers, here=view.handoff.handoff_id, agent=pieces.agent)


def story_part(view: HandoffView) -> Markup:
    """What happened to it, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story, view.handoff.handoff_id))


PARTS: Mapping[str, Callable[[HandoffView], Markup]] = {
    "now": now_part,
    "parcel": parcel_part,
    "offers": offers_part,
    "story": story_part,
}
HANDOFF = Sections(path="/handoffs/{id}", template="handoffs/handoff.html", summary="One handoff", read=read_handoff, parts=PARTS)


async def ask_accept(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a task is taken over in the receiver's name."""
    found = await call.door.store.read(reading.show, call.named("id"), THE_OPERATOR)
    if not found.is_open:
        return _over(call, found)
    consent = Field("consent", f"It was {found.to}'s before. May it come back?", "no", options=("no", YES))
    return confirm(
        call,
        title=f"Accept for {found.to}?",
        lines=[f"The task {found.task_id} is {found.to}'s from then on, and no longer {found.from_}'s."],
        action=f"/handoffs/{found.handoff_id}/accept",
        fields=[consent] if found.returns else [],
        go=f"Give it to {found.to}",
    )


async def accept(call: Call[Nothing, Consent]) -> Answer:
    """The receiver takes the task over, by the operator's word."""
    found = await call.door.store.write(answering.accept, call.named("id"), call.by, consent=call.body.consent == YES)
    if found.known:
        return done(call, "It was accepted before; nothing was changed.", "plain")
    return done(call, f"Accepted: the task {found.task_id} is {found.to}'s.")


async def ask_decline(call: Call[Nothing, Nothing]) -> Answer:
    """The question before an offer is declined."""
    found = await call.door.store.read(reading.show, call.named("id"), THE_OPERATOR)
    if not found.is_open:
        return _over(call, found)
    return confirm(
        call,
        title="Decline this offer?",
        lines=[f"The task {found.task_id} goes on with {found.from_}."],
        action=f"/handoffs/{found.handoff_id}/decline",
        fields=[Field("reason", "Why (its giver reads this)", bounds={"maxlength": REASON})],
        go="Decline",
    )


async def decline(call: Call[Nothing, Why]) -> Answer:
    """The task stays with its giver, by the operator's word."""
    found = await call.door.store.write(answering.decline, call.named("id"), call.by, call.body.reason.strip()[:REASON])
    if found.known:
        return done(call, f"It was {found.state} before; nothing was changed.", "plain")
    return done(call, f"Declined: the task {found.task_id} goes on with {found.from_}.")


def _over(call: Call[Nothing, Nothing], found: Handoff) -> Answer:
    why = f": {plain(found.why, 300)}" if found.why else ""
    return tell(call, "Nothing to answer", f"The offer is {found.state} already{why}.")


OPERATIONS: Operations = (
    *HANDOFF.operations,
    page("/handoffs/{id}/accept", ask_accept, "Ask before an offer is accepted."),
    act("/handoffs/{id}/accept", accept, "Accept an offer for its receiver.", takes=Consent),
    page("/handoffs/{id}/decline", ask_decline, "Ask before an offer is declined."),
    act("/handoffs/{id}/decline", decline, "Decline an offer.", takes=Why),
)
