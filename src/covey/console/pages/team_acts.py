"""What a person does with team runs: starts one, cancels one."""

from __future__ import annotations

from typing import get_args

from covey.agents import roster
from covey.console.asking import Field, confirm, tell
from covey.console.pages.vote_acts import lines_in, named, names_in
from covey.console.routes import Form, Operations, act, done, page
from covey.console.shown import many
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.teams.runs import reading, starting
from covey.teams.runs.model import Mode, Part, TeamDraft, TeamRun, TeamType

REASON = 500
PRIORITIES = ("urgent", "high", "medium", "low")


class NewRun(Form):
    """A run as a person starts it."""

    goal: str
    type: str = "general"
    mode: str = "coordinate"
    workers: str = ""
    parts: str = ""
    supervisor: str = ""
    priority: str = "medium"


class Why(Form):
    """Why it is cancelled, in the person's words."""

    reason: str = ""


async def ask_new(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a new run."""
    names = await call.door.store.read(roster.all_names)
    return confirm(
        call,
        title="Start a team run",
        lines=["The goal is cut into steps, each given to an agent that is able to do it; their results are put together."],
        action="/teams",
        fields=[
            Field("goal", "Goal", lines=3, needed=True),
            Field(
                "mode",
                "Mode",
                "coordinate",
                options=get_args(Mode),
                help="route: the best one does it; broadcast: all do, and are compared.",
            ),
            Field("type", "Type", "general", options=get_args(TeamType), help="How rules cut it up, where no parts are given."),
            Field("workers", "Workers", help=f"With commas between; able ones are picked if none is named. {named(names)}."),
            Field("parts", "Parts, one a line", lines=3, help="If it is cut up already; for the mode coordinate."),
            Field("supervisor", "Supervisor", help="The agent whose brain plans it; without one rules cut it up."),
            Field("priority", "Priority", "medium", options=PRIORITIES),
        ],
        go="Start the run",
    )


async def start(call: Call[Nothing, NewRun]) -> Answer:
    """Start it as the operator."""
    form = call.body
    draft = TeamDraft(
        goal=form.goal,
        type=form.type,  # type: ignore[arg-type]  # the verb checks it, and the mode
        mode=form.mode,  # type: ignore[arg-type]
        workers=names_in(form.workers) or None,
        parts=[Part(description=line) for line in lines_in(form.parts)],
        supervisor=form.supervisor.strip() or None,
        priority=form.priority,
    )
    run = await call.door.store.write(starting.start, draft, call.by)
    return done(call, f"{_begun(run)} Its id is {run.team_id}.")


def _begun(run: TeamRun) -> str:
    if run.state == "planning":
        return f"Started: {run.supervisor} plans it."
    at_work = len({step.worker for step in run.results if step.state == "out"})
    return f"Started: {many(run.total, 'step')}, {many(at_work, 'agent')} at work."


async def ask_cancel(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a run is cancelled."""
    run = await call.door.store.read(reading.show, call.named("id"), results=False)
    if not run.is_open:
        return tell(call, "It has ended", f"The run is {run.state} already; there is nothing to cancel.")
    left = sum(step.state in ("waiting", "out") for step in run.results)
    return confirm(
        call,
        title="Cancel this run?",
        lines=[
            f"{many(left, 'open step')} of {run.total:,} are not done any more, and brains at work on them are ended. What is done stays."
        ],
        action=f"/teams/{run.team_id}/cancel",
        fields=[Field("reason", "Why", bounds={"maxlength": REASON})],
        go="Cancel the run",
        grave=True,
    )


async def cancel(call: Call[Nothing, Why]) -> Answer:
    """The run is cancelled with its open tasks."""
    run = await call.door.store.write(starting.cancel, call.named("id"), call.by, call.body.reason.strip()[:REASON])
    return done(call, f"The run is {run.state}: {run.done} of {many(run.total, 'step')} were done.")


OPERATIONS: Operations = (
    page("/teams/~new", ask_new, "The form of a new team run."),
    act("/teams", start, "Start a team run.", takes=NewRun),
    page("/teams/{id}/cancel", ask_cancel, "Ask before a run is cancelled."),
    act("/teams/{id}/cancel", cancel, "Cancel a team run.", takes=Why),
)
