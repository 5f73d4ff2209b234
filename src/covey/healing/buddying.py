"""Look after a buddy, and act on what is found: ping, restart, escalate, plan for it, have it clean up (B2, B3, B4).

One way for an agent's own timer, the controller and a person. No brain is asked, and no HTTP is spoken inside of a transaction (A9).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from covey.agents import living, restarting, roster
from covey.agents.model import OPERATOR, THE_SYSTEM, Caller, as_agent
from covey.base.errors import Forbidden
from covey.base.settings import AgentSettings, Settings
from covey.buddies import asking, checking
from covey.buddies.asking import Asker, Ping
from covey.buddies.checking import Due, Found
from covey.buddies.intervening import Decision, Situation, decide, told
from covey.buddies.model import FOLLOW_S, Answer, Silence, Verdict
from covey.contexts import compressing
from covey.contexts import reading as contexts
from covey.contexts.model import WARN_AT, is_due
from covey.healing import incidents
from covey.healing.model import Incident
from covey.messages import sending
from covey.planning import planning
from covey.reports import status
from covey.store import Store, Transaction, statement

OF_THE_GONE = statement(__package__, "of_the_gone")

KIND = "buddy_down"
OUTSIDE = Decision("well", "it has no process of ours")
_OTHERS = ("heartbeat_stale", "process_died", "hung", "needs_restart")
_RESTARTS = ("restart", "restart_asked", "kill")
"""Incidents whose own remedy is a restart, and the steps that are one: no second one is asked beside it."""


class Heard(NamedTuple):
    """What came over the wire. `cut_off`: whoever asked reached nobody else either."""

    verdict: Verdict
    ping: Ping | None = None
    cut_off: bool = False


class Looked(NamedTuple):
    """What came of a look after a buddy."""

    verdict: Verdict
    ping: Ping | None
    decision: Decision


class Means(NamedTuple):
    """What looking after somebody needs. `token_of` gives an agent's own token, or the operator's; empty if there is none."""

    store: Store
    settings: Settings
    token_of: Callable[[str], str]


def overdue(tx: Transaction, check_s: float) -> list[Due]:
    """The checks that the controller is to do (B2)."""
    return checking.overdue(tx, check_s)


async def check(means: Means, due: Due, done_by: str = "") -> Looked:
    """Look after the buddy of `due.checker`, store what came of it, and act on it.

    `done_by` is who makes the check in its place: the controller, by the operator's token; empty: the agent itself, by its own.
    """
    check_id = f"check-{due.checker}-{due.now:.0f}"
    heard = await _ask(means, due, check_id, done_by)
    found = Found(heard.verdict, check_id, done_by or due.checker)
    return await means.store.write(conclude, due, found, heard.ping, means.settings, cut_off=heard.cut_off)


async def look(means: Means, name: str, by: Caller) -> Looked:
    """See how an agent is, for a person or the lead: told as an event, and nothing is done about it.

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
        Unknown, Gone: There is no such agent.
    """
    due = await means.store.read(_place, name, by)
    check_id = f"check-{by.name}-{due.now:.0f}"
    heard = await _ask(means, due, check_id, by.name)
    await means.store.write(checking.say, by.name, name, Found(heard.verdict, check_id, by.name), between=True)
    situation = await means.store.read(situation_of, due, heard.verdict, heard.ping, means.settings.stale_s)
    return Looked(heard.verdict, heard.ping, decide(situation) if not due.external else OUTSIDE)


def _place(tx: Transaction, name: str, by: Caller) -> Due:
    if not living.may_command(tx, by):
        raise Forbidden(f"{by.name} may not check {name}: only the operator and the lead may; its buddy does by itself.")
    place, external = checking.place_of(tx, name)
    return Due(by.name, place, external, tx.now, tx.now, hourly=False, last=None)


async def _ask(means: Means, due: Due, check_id: str, done_by: str) -> Heard:
    """Both answers, the ping if one is needed, and if that is not answered either whether anybody is reached from here."""
    stale_s = means.settings.stale_s
    if due.external:
        return Heard(await means.store.read(of_external, due.place.name, stale_s))
    by = OPERATOR if done_by else due.checker
    verdict = await asking.ask(due.place, Asker(by, means.token_of(by)), check_id, due.now)
    situation = await means.store.read(situation_of, due, verdict, None, stale_s)
    if decide(situation).action != "ping":
        return Heard(verdict)
    ping = await asking.ping(due.place)
    if ping != "none":
        return Heard(verdict, ping)
    others = await means.store.read(checking.witnesses, due.checker, due.place.name, stale_s)
    answers = await asyncio.gather(*(asking.ping(place) for place in others))
    return Heard(verdict, ping, cut_off=bool(answers) and set(answers) == {"none"})


def of_external(tx: Transaction, name: str, stale_s: float) -> Verdict:
    """How an external agent is: its calls are its heartbeat, so nobody calls it (A5b)."""
    state = status.agent_state(tx, name, stale_s)
    if state["flags"]["away"]:
        return Silence("no answer", f"{name} was not seen for its cadence: it is away")
    return Answer.of(name, state, tx.now)


def situation_of(tx: Transaction, due: Due, verdict: Verdict, ping: Ping | None, stale_s: float) -> Situation:
    """What the decision looks at, as it stands in the store."""
    name = due.place.name
    agent, alive = roster.find(tx, name), roster.vitals(tx, name)
    open_one = _open(tx, name)
    steps: dict[str, float] = {}
    for step in open_one.steps if open_one else ():
        steps.setdefault(step.action, step.at)
    if (asked := _asked_elsewhere(tx, name)) is not None:
        steps.setdefault("restart", asked)
    known = checking.last(tx, due.checker)
    missed = known.missed_in_a_row if known is not None and known.checked == name else 0
    return Situation(
        now=tx.now,
        silence=verdict if isinstance(verdict, Silence) else None,
        heartbeat_at=alive.heartbeat_at,
        stale_s=stale_s,
        given_up=agent.failed_at is not None,
        ping=ping,
        missed_in_a_row=missed + 1,
        steps=steps,
    )


def _open(tx: Transaction, name: str) -> Incident | None:
    return next(iter(incidents.open_of(tx, name, KIND)), None)


def _asked_elsewhere(tx: Transaction, name: str) -> float | None:
    """When a remedy of another incident asked for a restart."""
    steps = (step for kind in _OTHERS for each in incidents.open_of(tx, name, kind) for step in each.steps)
    return max((step.at for step in steps if step.action in _RESTARTS), default=None)


def conclude(tx: Transaction, due: Due, found: Found, ping: Ping | None, settings: Settings, *, cut_off: bool = False) -> Looked:
    """Store what a look came to and do what follows from it, in one transaction."""
    tx.lock("agent", due.place.name)
    situation = situation_of(tx, due, found.verdict, ping, settings.stale_s)._replace(cut_off=cut_off)
    decision = decide(situation) if not due.external else OUTSIDE
    unreachable = ping in ("none", "degraded") and not cut_off
    if not checking.record(tx, due, found._replace(unreachable=unreachable), again_s=_again_s(decision, settings)):
        return Looked(found.verdict, ping, Decision("wait", "somebody else is its buddy now"))
    if decision.action == "well":
        _end(tx, due.place.name, decision)
    else:
        _step_in(tx, due, found, situation, decision)
    if isinstance(found.verdict, Answer):
        tend(tx, due, found.verdict, settings)
    return Looked(found.verdict, ping, decision)


def _again_s(decision: Decision, settings: Settings) -> float:
    """How soon it is looked after again: at the next check if it lives, else soon."""
    return settings.buddy_check_s if decision.action == "well" else min(FOLLOW_S, settings.buddy_check_s)


def _end(tx: Transaction, name: str, decision: Decision) -> None:
    for each in incidents.open_of(tx, name, KIND):
        incidents.end_incident(tx, each.incident_id, "back", f"{name} is well: {decision.why}.")


def _step_in(tx: Transaction, due: Due, found: Found, situation: Situation, decision: Decision) -> None:
    """Open the incident if there is none, and do the next step: each once (B3)."""
    name = due.place.name
    cause = situation.silence.sentence if situation.silence is not None else f"{name} did not beat for {situation.silent_s:.0f} s"
    data = {"buddy": due.who, "checkId": found.check_id, "reason": situation.silence.fault if situation.silence else "silent"}
    ident, _ = incidents.opened(tx, name, KIND, cause, data=data)
    if situation.ping is not None and "ping" not in situation.steps:
        said = "was not answered" if situation.ping == "none" else f"was answered as {situation.ping}"
        incidents.step(tx, ident, "ping", f"{due.who}'s buddy check: {cause}. The health ping {said}.")
    if decision.action == "restart":
        incidents.step(tx, ident, "restart", f"A restart was asked of its node: {decision.why}.")
        restarting.ask(tx, name, THE_SYSTEM, f"{due.who}'s buddy check: {decision.why}")
    elif decision.action == "escalate":
        _escalate(tx, ident, due, decision)


def _escalate(tx: Transaction, ident: str, due: Due, decision: Decision) -> None:
    name = due.place.name
    lead, deputy = roster.lead(tx)
    who = told(name, lead, deputy, lead == OPERATOR or _is_up(tx, lead), OPERATOR)
    incidents.step(tx, ident, "escalate", f"Escalated to {' and '.join(who)}: {decision.why}.")
    body = (
        f"{name} does not answer its buddy {due.who}: {decision.why}.\n`covey status {name}` shows how it stands,"
        f" `covey incident show {ident}` what was done. `covey restart {name}` starts it again; `covey pause {name}` lets it rest."
    )
    data: dict[str, object] = {"incidentId": ident, "agent": name, "buddy": due.who}
    for each in who:
        sending.notify(tx, each, f"{name} does not answer its buddy", body, type="alert", priority="high", data=data, prompts=True)


def _is_up(tx: Transaction, name: str) -> bool:
    agent = roster.seek(tx, name)
    return agent is not None and agent.takes_work and agent.failed_at is None


def end_of_the_gone(tx: Transaction) -> int:
    """How many incidents of agents that were removed were ended: every incident has an end (H2)."""
    rows = tx.all(OF_THE_GONE)
    for row in rows:
        incidents.end_incident(tx, row.id, "removed", "the agent was removed from the fleet.")
    return len(rows)


def tend(tx: Transaction, due: Due, answer: Answer, settings: Settings) -> None:
    """Tasks for a buddy with nothing to do, and a clean-up of a context that is nearly full (B4). No brain is asked."""
    name, checker = answer.agent_id, due.who
    if answer.idle_and_empty:
        planned = planning.plan(tx, name, settings, THE_SYSTEM if due.by_controller else as_agent(checker))
        tx.happened("buddy.planned", agent=name, subject=checker, by=checker, tasks=planned.tasks, why=planned.why[:500])
    if answer.share > WARN_AT:
        _clean_up(tx, checker, name)


def _clean_up(tx: Transaction, checker: str, name: str) -> None:
    """Compress a buddy's context if it is still nearly full, and has grown since it was last compressed (C3)."""
    most = msgspec.convert(roster.find(tx, name).settings, AgentSettings).max_context
    known = contexts.state(tx, name)
    if not is_due(contexts.size_of(tx, name), 0, most, known.compressed_to if known is not None else 0):
        return
    done = compressing.compress(tx, name, most, f"its buddy {checker} found it above {WARN_AT:.0%}")
    tx.happened("buddy.cleaned", agent=name, subject=checker, by=checker, before=done.before, after=done.after)
