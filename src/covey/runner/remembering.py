"""What of a turn enters its agent's context: mail, results, decisions, notes, each with the id of what it came from (C1)."""

from __future__ import annotations

from covey.brains.model import Outcome
from covey.contexts import checkpoints, entries, sessions
from covey.contexts.model import EntryKind
from covey.healing import overflowing
from covey.messages.model import Message
from covey.runner.work import Limits, Work
from covey.store import Transaction
from covey.tasks import runs

ENTRY_CHARS = 4_000
"""So much of a text is kept; the whole stays in its message or task."""
OWN_CHARS = 200
FEW = 20
"""So many decisions and notes of one outcome are kept."""


def mail(tx: Transaction, agent: str, message: Message, limits: Limits) -> None:
    """A message that was handed to the agent."""
    subject = str(message.content["subject"])
    text = f"{message.from_}: {subject}{' — ' if subject else ''}{message.body}"
    _keep(tx, agent, "message", text, message.message_id, limits)


def result(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    """What a turn on a task came to."""
    assert work.task is not None
    said = outcome.error if outcome.kind == "failed" else outcome.summary
    text = f"{work.task.description[:500]}: {outcome.kind}{'. ' if said else ''}{said}"
    _keep(tx, work.agent, "result", text, work.item, limits)


def own_words(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    """What the brain itself wants kept."""
    for decision in outcome.decisions[:FEW]:
        _keep(tx, work.agent, "decision", decision, work.item, limits)
    for each in outcome.notes[:FEW]:
        _keep(tx, work.agent, "note", each, work.item, limits)


def checkpoint(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    """Where the agent stands once a thing is handled, and how full its brain's own session is (C5, C5a)."""
    failed = outcome.kind == "failed"
    cost = outcome.cost
    _own_session(tx, work, outcome)
    sessions.used(tx, work.agent, work.session, cost.context_tokens if cost else None, cost.context_limit if cost else None, failed=failed)
    if not failed:
        checkpoints.save(
            tx,
            work.agent,
            item=work.item,
            outcome=outcome.kind,
            summary=outcome.summary,
            run_id=work.run_id,
            max_tokens=limits.max_context,
        )
    overflowing.follow(tx, work.agent)


def _own_session(tx: Transaction, work: Work, outcome: Outcome) -> None:
    """Which session of its own the brain worked in. What happened elsewhere since the turn began is news to that session."""
    run = runs.find(tx, work.run_id) if outcome.session else None
    if run is not None:
        number = work.session or sessions.current(tx, work.agent).number
        sessions.keep_own(tx, work.agent, work.lane, number, outcome.session[:OWN_CHARS], run.claimed_at)


def note(tx: Transaction, work: Work, text: str, limits: Limits) -> None:
    """A word to the agent on what became of its turn."""
    _keep(tx, work.agent, "note", text, work.item, limits)


def _keep(tx: Transaction, agent: str, kind: EntryKind, text: str, source: str, limits: Limits) -> None:
    if not text.strip():
        return
    if len(text) > ENTRY_CHARS:
        text = f"{text[:ENTRY_CHARS]} … (the whole: {source})"
    entries.remember(tx, agent, kind, text, source=source, max_tokens=limits.max_context)
