"""Take what comes next under a lease. Of any number of takers one gets it; who is paused, stopped or gone gets nothing (A7, K4)."""

from __future__ import annotations

import msgspec

from covey.agents import external, living
from covey.agents.model import SYSTEM
from covey.brains.model import TurnKind
from covey.contexts import sessions
from covey.healing import pressing
from covey.messages import handling
from covey.messages.model import Message
from covey.planning import gating
from covey.runner import protocol_mail, remembering
from covey.runner.work import Lane, Limits, Work
from covey.store import Transaction, relaxed, statement
from covey.tasks import runs, working
from covey.tasks.model import Only
from covey.teams.handoffs import reading as handoffs

WAS_ASKED = statement(__package__, "was_asked")


@relaxed
def take(tx: Transaction, agent: str, lane: Lane, node: str, pid: int | None, limits: Limits) -> Work | None:
    """What the agent does next in this lane, leased to it; None if nothing is ready or it takes nothing (K2, M4).

    `pid` is None for an external agent, which has no process of ours: its call is its heartbeat (A5b).

    Raises:
        Conflict: Another process is this agent now.
    """
    work = take_next(tx, agent, lane, node, limits)
    if work is not None:
        beat(tx, agent, pid)
    return work


def take_next(tx: Transaction, agent: str, lane: Lane, node: str, limits: Limits) -> Work | None:
    """As `take`, for an agent whose heart has just beaten in the same commit."""
    only = gating.gate(tx, agent) if limits.paid else "all"
    work = _take_mail(tx, agent, limits, only) if lane == "mail" else _take_task(tx, agent, node, limits, only)
    if work is not None:
        work = msgspec.structs.replace(work, session=sessions.current(tx, agent).number)
        runs.open_run(tx, work.run_id, item=work.item, kind=work.kind, agent=agent, node=node, attempt=work.attempt)
    return work


def beat(tx: Transaction, agent: str, pid: int | None) -> None:
    """A heartbeat of the agent's own process, or a call of an external one.

    Raises:
        Conflict: Another process is this agent now.
    """
    if pid is None:
        external.seen(tx, agent)
    else:
        living.beat(tx, agent, pid=pid)


def _take_mail(tx: Transaction, agent: str, limits: Limits, only: Only) -> Work | None:
    while True:
        run_id = tx.new_id("run")
        claimed = handling.claim(tx, agent, run_id, lease_s=limits.lease_s, digest_s=limits.digest_s, asked=only == "asked")
        if claimed is None:
            return None
        main = claimed.main
        if main is not None and protocol_mail.is_ours(main):
            protocol_mail.answer(tx, agent, claimed.token, main)
            continue
        offer = handoffs.of_mail(tx, main)
        if main is not None and offer is not None and not offer.is_open:
            _pass_on(tx, agent, claimed.token, main, limits)
            continue
        if main is not None and _resumes_a_task(tx, agent, main):
            _pass_on(tx, agent, claimed.token, main, limits)
            continue
        kind: TurnKind = "message" if main is not None else "digest"
        first = main or claimed.riders[0]
        return Work(agent, "mail", kind, claimed.token, run_id, claimed.attempt, first.message_id, main, None, claimed.riders)


def _resumes_a_task(tx: Transaction, agent: str, message: Message) -> bool:
    """Whether this mail is the answer, or the notice that none comes, which blocked tasks waited for; they are queued again."""
    asked = message.in_reply_to
    if asked is None or (message.from_ != SYSTEM and tx.one(WAS_ASKED, id=asked, receiver=message.from_) is None):
        return False
    return bool(working.answer_came(tx, agent, asked))


def _pass_on(tx: Transaction, agent: str, token: str, answer: Message, limits: Limits) -> None:
    """The answer comes to the brain with its task, not as mail of its own; what rode along waits on."""
    handling.give_back(tx, token)
    handling.acknowledge(tx, agent, answer.message_id)
    remembering.mail(tx, agent, answer, limits)


def _take_task(tx: Transaction, agent: str, node: str, limits: Limits, only: Only) -> Work | None:
    run_id = tx.new_id("run")
    pressed = pressing.pressed(tx, node)
    claimed = working.claim(tx, agent, run_id, lease_s=limits.lease_s, only=only, pressing=pressed, starts=limits.near)
    if claimed is None:
        return None
    task, token = claimed
    riders = handling.ride_along(tx, agent, token, run_id, lease_s=limits.lease_s)
    return Work(agent, "task", "task", token, run_id, task.attempts, task.task_id, None, task, riders)
