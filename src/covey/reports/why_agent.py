"""Why an agent is as it is: its status and the fact behind it, what it does, what it waits for. All from the store (K8, A3)."""

from __future__ import annotations

from covey.agents.model import Agent
from covey.buddies import covering
from covey.messages import waiting
from covey.reports import phrases, pulse, why_budget
from covey.reports.in_line import Told
from covey.reports.phrases import count, head, listed, span, utc, when
from covey.reports.pulse import Pulse
from covey.reports.status import state_of
from covey.store import Transaction, statement

BLOCKED_OF = statement(__package__, "blocked_of")

WAITS_SHOWN = 5


def explain(tx: Transaction, agent: Agent, stale_s: float | None) -> Told:
    """What can be said of an agent."""
    if agent.removed_at is not None:
        return [f"The agent {agent.id} was removed from the fleet {when(agent.removed_at, tx.now)}."], {"removedAt": agent.removed_at}
    found = pulse.of_one(tx, agent.id, stale_s)
    blocked = [row.id for row in tx.all(BLOCKED_OF, agent=agent.id, limit=50)]
    waits = waiting.open_waits(tx, agent.id)
    said = [f"The agent {agent.id} is {found.status}: {reason_of(found).rstrip('.')}.", *_flags(found), *_held(found), *_at_work(found)]
    said.append(f"In its queue {phrases.waiting(found.queue_length, 'task')}, in its mailbox {phrases.waiting(found.unread, 'message')}.")
    if waits:
        whom = [f"{row.receiver} (to {row.message_id}, until {utc(row.answer_due)})" for row in waits]
        said.append(f"It waits for an answer from {listed(whom, most=WAITS_SHOWN)}.")
    if blocked:
        said.append(f"Of its tasks, {listed(blocked)} {'is' if len(blocked) == 1 else 'are'} blocked.")
    said += _covering(tx, found)
    facts = state_of(found, [], [])
    del facts["taskQueue"], facts["context"]["recentDecisions"]
    facts["because"] = reason_of(found)
    facts["waits"] = [{"messageId": row.message_id, "for": row.receiver, "until": row.answer_due} for row in waits[:50]]
    facts["blockedTasks"] = blocked
    planned, known = why_budget.of_agent(tx, agent)
    said, facts = [*said, *planned], facts | known
    return said, facts


def reason_of(found: Pulse) -> str:
    """The fact that its status is derived from (A3). Pure."""
    vitals, now = found.vitals, found.now
    beat = found.heartbeat_at
    match found.status:
        case "error":
            if found.agent.failed_at is None or found.brainless:
                return found.error or "no reason is recorded"
            reason = found.agent.failed_reason or "no reason is recorded"
            return f"its restarts were given up {when(found.agent.failed_at, now)}: {reason}"
        case "stalled" if found.stall is not None and not found.silent:
            return f"{found.stall.cause.rstrip('.')} ({found.stall.id}, since {when(found.stall.opened_at, now)})"
        case "stalled":
            process = f"its process {vitals.pid} is silent" if vitals.pid is not None else "it has no process"
            heard = f"the last heartbeat came {when(beat, now)}" if beat is not None else "it has never sent a heartbeat"
            return f"{process}; {heard}"
        case "busy":
            return f"its brain is at {listed(_what(found))}"
        case "active" if found.ready:
            return "work is ready for it"
        case "active":
            return f"it finished something {when(vitals.last_active_at or now, now)}"
        case "idle":
            since = f" since {when(vitals.last_active_at, now)}" if vitals.last_active_at is not None else ""
            return f"it has had nothing to do{since}"


def _covering(tx: Transaction, found: Pulse) -> list[str]:
    """Who covers for it, and for whom it does (B5)."""
    covered = covering.of(tx, found.agent.id)
    said = [f"It is down: {covered.why}. {covered.buddy} began to cover for it {when(covered.since, tx.now)}."] if covered else []
    return [*said, f"It covers for {listed(found.covering)}."] if found.covering else said


def _what(found: Pulse) -> list[str]:
    tasks = [f"the task {row.id}" for row in found.running]
    return [*tasks, count(found.mail_at_work, "message")] if found.mail_at_work else tasks


def _flags(found: Pulse) -> list[str]:
    agent, now = found.agent, found.now
    reason = f" ({agent.flag_reason})" if agent.flag_reason else ""
    said = []
    if agent.stopped_at is not None:
        said.append(f"It was stopped {when(agent.stopped_at, now)}{reason} and takes nothing until `covey resume {agent.id}`.")
    if agent.paused_at is not None:
        said.append(f"It was paused {when(agent.paused_at, now)}{reason} and takes nothing until `covey resume {agent.id}`.")
    if found.away:
        seen = f"was last seen {when(found.vitals.seen_at, now)}" if found.vitals.seen_at is not None else "was never seen"
        said.append(f"It is away: it {seen}, and is expected each {span(found.settings.cadence_s)}; its mail is kept.")
    return said


def _held(found: Pulse) -> list[str]:
    """What its breaker and its open incidents mean for it."""
    said, now = [], found.now
    if found.breaker is not None and found.breaker.phase == "open":
        more = f"for {span(found.breaker.until - now)} more (until {utc(found.breaker.until)})"
        said.append(f"It gets neither mail nor work {more}; then one thing is let through.")
    if found.incidents:
        open_ones = [f"{each.id} ({each.kind}, since {when(each.opened_at, now)})" for each in found.incidents]
        said.append(f"Open incidents: {listed(open_ones)}; `covey incident show ID` tells the story.")
    return said


def _at_work(found: Pulse) -> list[str]:
    said: list[str] = []
    for row in found.running:
        start: float = row.started_at or row.claimed_at
        progress = f"; last progress {when(row.progress_at, found.now)}: “{head(row.progress)}”" if row.progress else ""
        said.append(
            f"It has worked on {row.id} (“{head(row.description)}”, from {row.created_by}) since {when(start, found.now)}{progress}."
        )
    failures = found.vitals.failures_in_a_row
    if failures:
        said.append(f"Its brain failed on {'the last thing' if failures == 1 else f'the last {failures} things'} it was given.")
    return said
