"""One incident: what happened and why, what a person can do, what was done about it second by second; closed by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from covey.base.settings import Settings
from covey.console import pieces
from covey.console.asking import Field, confirm, tell
from covey.console.pages.incidents import state_of
from covey.console.rendering import render
from covey.console.routes import Form, Operations, act, done, page
from covey.console.sections import Sections
from covey.console.story import subject_of, words_of
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.healing import closing, reading
from covey.healing.reading import IncidentShown
from covey.store import Transaction

REASON = 500


class Why(Form):
    """Why it is closed, in the person's words."""

    reason: str = ""


def read_incident(tx: Transaction, ident: str, _settings: Settings) -> IncidentShown:
    """The incident.

    Raises:
        NotFound: There is none of this id.
    """
    return reading.show(tx, ident)


def now_part(incident: IncidentShown) -> Markup:
    """What it is and how it stands. Pure."""
    return render(
        "incidents/now.html",
        incident=incident,
        state=state_of(incident),
        agent=pieces.agent(incident.agent),
        subject=subject_of(incident.subject),
        data=words_of(incident.data),
    )


def steps_part(incident: IncidentShown) -> Markup:
    """Its story as a timeline; the last step of one that has ended is its end. Pure."""
    return render("incidents/steps.html", incident=incident, at=[after(each.after_s) for each in incident.steps])


def after(seconds: float) -> str:
    """How long after the beginning: `+0.2 s`, `+1:05 min`, `+2:00:05 h`. Pure."""
    if seconds < 60:
        return f"+{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"+{minutes}:{rest:02} min"
    return f"+{minutes // 60}:{minutes % 60:02}:{rest:02} h"


PARTS: Mapping[str, Callable[[IncidentShown], Markup]] = {"now": now_part, "steps": steps_part}
INCIDENT = Sections(path="/incidents/{id}", template="incidents/incident.html", summary="One incident", read=read_incident, parts=PARTS)


async def ask_close(call: Call[Nothing, Nothing]) -> Answer:
    """The question before an incident is closed by hand."""
    incident = await call.door.store.read(reading.show, call.named("id"))
    if incident.ended_at is not None:
        return tell(call, "It has ended", f"It is {state_of(incident)} already; there is nothing to close.")
    return confirm(
        call,
        title="Close this incident?",
        lines=["Only the incident is closed, and nothing else changes: what is still wrong opens a new one."],
        action=f"/incidents/{incident.incident_id}/close",
        fields=[Field("reason", "Why (it becomes part of the story)", lines=3)],
        go="Close it",
    )


async def close(call: Call[Nothing, Why]) -> Answer:
    """Close it, as the operator."""
    await call.door.store.write(closing.close, call.named("id"), call.by, call.body.reason.strip()[:REASON])
    return done(call, "The incident is closed. If its cause is still there, a new one is opened.")


OPERATIONS: Operations = (
    *INCIDENT.operations,
    page("/incidents/{id}/close", ask_close, "Ask before an incident is closed."),
    act("/incidents/{id}/close", close, "Close an incident by hand.", takes=Why),
)
