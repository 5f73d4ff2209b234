"""The fleet's port: an external agent's own work, under the same leases as any other's (A5b, K4). It shows its own token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.api.shapes import Claim, Claimed, Done, Fail, Finish, GiveBack, Lease, Progress, Renewed, Settled
from covey.brains.model import Asked, Outcome, failure
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, post
from covey.doors.waiting import until
from covey.messages.envelope import enveloped
from covey.messages.model import Message
from covey.runner import joining
from covey.runner.work import Lane, Limits, Work
from covey.tasks import working


async def claim(call: Call[Nothing, Claim]) -> Answer:
    """What comes next, leased to the agent; waited for if asked."""
    asked, name = call.body, call.named("name")
    limits = _limits(call, asked.lease_s)
    lanes: tuple[Lane, ...] = (asked.lane,) if asked.lane is not None else ("mail", "task")
    return await until(
        call.door,
        lambda: call.write(lambda work: _claimed(work, limits), joining.claim, name, lanes, limits),
        lambda answer: answer.body != NOTHING.body,
        asked.wait,
        call,
    )


def _claimed(work: Work | None, limits: Limits) -> Answer:
    if work is None:
        return NOTHING
    return shown(
        Claimed(
            token=work.token,
            kind=work.kind,
            attempt=work.attempt,
            lease_s=limits.lease_s,
            task=work.task,
            message=_asked(work.main) if work.main is not None else None,
            also=[_asked(message) for message in work.riders],
        )
    )


NOTHING = shown(Claimed())._replace(lasts=False)


def _asked(message: Message) -> Asked:
    return Asked(message=message, enveloped=enveloped(message))


def _limits(call: Call[Any, Any], lease_s: float | None = None) -> Limits:
    settings = call.door.settings
    agent = settings.agent(call.named("name"))
    max_context = agent.max_context if agent is not None else 8192
    return Limits(lease_s or settings.lease_s, settings.digest_s, settings.wait_s, settings.hard_cap_s, max_context, paid=True)


async def renew(call: Call[Nothing, Lease]) -> Answer:
    """A longer lease for what is held."""
    lease_s = call.body.lease_s or call.door.settings.lease_s
    return await call.write(lambda ends: shown(Renewed(lease_ends=ends)), joining.renew, call.named("name"), call.body.token, lease_s)


async def progress(call: Call[Nothing, Progress]) -> Answer:
    """A word on how far a task is."""
    return await call.write(lambda _: shown(Done()), working.progress, call.named("name"), call.body.token, call.body.text)


async def finish(call: Call[Nothing, Finish]) -> Answer:
    """What came of it, stored in one commit."""
    asked = call.body
    outcome = Outcome(
        kind=asked.kind,
        summary=asked.summary,
        data=asked.data,
        decisions=asked.decisions,
        messages=asked.messages,
        tasks=asked.tasks,
        cost=asked.cost,
    )
    return await call.write(_settled(outcome), joining.settle, call.named("name"), asked.token, outcome, _limits(call))


async def fail(call: Call[Nothing, Fail]) -> Answer:
    """It failed: tried again, or given up."""
    outcome = failure(call.body.error, permanent=call.body.permanent)
    return await call.write(_settled(outcome), joining.settle, call.named("name"), call.body.token, outcome, _limits(call))


async def give_back(call: Call[Nothing, GiveBack]) -> Answer:
    """It waits again as if it had not been claimed."""
    return await call.write(_returned, joining.give_back, call.named("name"), call.body.token, call.body.reason)


def _returned(work: Work) -> Answer:
    return shown(Settled(item=work.item, kind="returned"))


def _settled(outcome: Outcome) -> Callable[[Work], Answer]:
    return lambda work: shown(Settled(item=work.item, kind=outcome.kind))


OPERATIONS = (
    post(
        "/api/v1/agents/{name}/claim",
        claim,
        "self",
        "Take what an external agent does next.",
        takes=Claim,
        gives=Claimed,
        verb=joining.claim,
    ),
    post("/api/v1/agents/{name}/renew", renew, "self", "Renew a lease.", takes=Lease, gives=Renewed, verb=joining.renew),
    post("/api/v1/agents/{name}/progress", progress, "self", "Say how far a task is.", takes=Progress, gives=Done, verb=working.progress),
    post("/api/v1/agents/{name}/finish", finish, "self", "Settle what was claimed.", takes=Finish, gives=Settled, verb=joining.settle),
    post("/api/v1/agents/{name}/fail", fail, "self", "Say that what was claimed failed.", takes=Fail, gives=Settled, verb=joining.settle),
    post(
        "/api/v1/agents/{name}/give-back",
        give_back,
        "self",
        "Give back what was claimed.",
        takes=GiveBack,
        gives=Settled,
        verb=joining.give_back,
    ),
)
