"""Settle a turn: the one transaction in which all its effects happen, once, whatever dies when (M3, K4).

A message or task of an outcome that is refused is an event and a note to the agent; it stops nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covey.agents import living
from covey.agents.model import SYSTEM, as_agent
from covey.base.errors import CoveyError, Failed, LeaseLost
from covey.base.wire import fit
from covey.brains.model import Cost, Outcome
from covey.healing import breakers, quarantine
from covey.messages import handling, replacing, sending, sweeping
from covey.messages.checking import BODY_BYTES, SUBJECT_CHARS, data_text
from covey.messages.model import Draft, Message, Receipt, draft
from covey.planning import proposing
from covey.planning.delegating import delegate, is_unasked
from covey.runner import balloting, remembering, team_work
from covey.runner.prompts import prompt_of
from covey.runner.taking import beat, take_next
from covey.runner.work import Limits, Work
from covey.store import Transaction
from covey.tasks import adding, runs, working
from covey.tasks.model import TaskDraft
from covey.teams.handoffs import answering, offering
from covey.teams.handoffs import reading as handoffs

MOST = 100
"""So many messages and so many tasks of one outcome are taken."""
ONLY_TASKS = "its brain wants to hand it over, and only tasks are handed over; let it answer, or give that agent a task."


class Sent(NamedTuple):
    """A message of an outcome that was stored."""

    ident: str
    waits: bool
    """Whether it requires a response."""
    answers: str | None
    """The message that it replies to."""


def settle(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, pid: int | None, *, strict: bool = False) -> None:
    """Everything a turn comes to: the item closed, replies and mail sent, tasks made, decisions kept.

    An outcome that can't be carried out is a failed attempt, or if `strict` an error upon which nothing has changed.

    Raises:
        LeaseLost: The lease ended meanwhile; nothing of the outcome is stored (K4).
        Conflict: Another process is this agent now; likewise.
    """
    if work.task is not None:
        _settle_task(tx, work, outcome, limits, strict=strict)
    else:
        _settle_mail(tx, work, outcome, limits)
    remembering.own_words(tx, work, outcome, limits)
    remembering.checkpoint(tx, work, outcome, limits)
    cost = outcome.cost or Cost()
    tokens = cost.tokens_in + cost.tokens_out
    runs.close(tx, work.run_id, outcome.kind, cost_usd=cost.usd or None, tokens=tokens or None, exit_code=outcome.exit_code)
    beat(tx, work.agent, pid)


def settle_and_take(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, node: str, pid: int) -> Work | None:
    """As `settle`, and what comes next in the same lane, in one commit."""
    settle(tx, work, outcome, limits, pid)
    return take_next(tx, work.agent, work.lane, node, limits)


def _settle_task(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, *, strict: bool) -> None:
    """A failed try gives its riders back, as if they had not been taken; any other has seen them."""
    why = _why_failed(outcome)
    if why is None:
        why = _moved_on(tx, work, outcome, limits, strict=strict)
    if why is not None:
        outcome = Outcome(
            kind="failed", error=why, permanent=outcome.permanent, not_started=outcome.not_started, exit_code=outcome.exit_code
        )
        _fail_task(tx, work, outcome, why)
    _close_riders(tx, work, limits, seen=why is None)
    remembering.result(tx, work, outcome, limits)
    team_work.go_on(tx, work)


def _fail_task(tx: Transaction, work: Work, outcome: Outcome, why: str) -> None:
    """Tried again or failed; one that brains die of is quarantined (H7a). The agent's breaker counts it (H6)."""
    killed = outcome.exit_code is not None and outcome.exit_code < 0
    poisonous = quarantine.verdict(tx, work.item, dying=1) if killed else None
    why = f"{poisonous}; the last said: {why}" if poisonous else why
    working.fail(
        tx,
        work.agent,
        work.token,
        why,
        permanent=outcome.permanent or poisonous is not None,
        not_started=outcome.not_started,
        poisonous=poisonous is not None,
    )
    if poisonous is not None:
        quarantine.set_apart(tx, work.agent, work.item, poisonous)
    breakers.failed(tx, work.agent)


def _why_failed(outcome: Outcome) -> str | None:
    """Why an outcome is a failed try from the start, or None. Pure."""
    if outcome.kind == "failed":
        return outcome.error.strip() or outcome.summary.strip() or "its brain failed and gave no reason"
    return None


def _moved_on(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, *, strict: bool) -> str | None:
    """Do what the outcome says of the task; why it can't be done, in which case nothing of it is. If `strict` that is an error."""
    if outcome.kind == "done" and not team_work.is_plan(work, outcome):
        working.finish(tx, work.agent, work.token, outcome.summary, outcome.data)
        breakers.worked(tx, work.agent)
        _send_all(tx, work, outcome.messages, limits)
        _add_tasks(tx, work, outcome.tasks, limits)
        _cast(tx, work, outcome, limits)
        return None
    try:
        with tx.attempt():
            (_plan if team_work.is_plan(work, outcome) else _OTHERWISE[outcome.kind])(tx, work, outcome, limits)
            _cast(tx, work, outcome, limits)
    except LeaseLost:
        raise
    except CoveyError as error:
        if strict:
            raise
        return error.message
    return None


def _wait(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    asked = _ask(tx, work, outcome, limits)
    working.wait_for_answer(tx, work.agent, work.token, asked)
    _add_tasks(tx, work, outcome.tasks, limits)


def _ask(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> str:
    """Send the messages of an outcome that waits; the id of the one whose answer it waits for: the first that requires one."""
    question = next((message for message in outcome.messages[:MOST] if message.content.requires_response), None)
    if question is None:
        raise Failed("its brain wants to wait for an answer, but no message of its outcome requires a response.")
    receipt = sending.send(tx, question, as_agent(work.agent), prompt_of(work), wait_s=limits.wait_s)
    if not any(each.stored for each in receipt.outcomes.values()):
        raise Failed(f"its brain wants to wait for an answer, but the question was not sent: {receipt.sentence}")
    _send_all(tx, work, [message for message in outcome.messages if message is not question], limits)
    return receipt.message_id


def _split(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    if not outcome.tasks:
        raise Failed("its brain split it into no parts; a split names at least one task.")
    working.split(tx, work.agent, work.token, outcome.tasks)
    _send_all(tx, work, outcome.messages, limits)


def _plan(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    team_work.take_plan(tx, work, outcome)
    breakers.worked(tx, work.agent)
    _send_all(tx, work, outcome.messages, limits)


def _hand_over(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    offering.offer_held(tx, work.agent, work.token, outcome.handoff)
    _send_all(tx, work, outcome.messages, limits)
    _add_tasks(tx, work, outcome.tasks, limits)


_OTHERWISE = {"waiting": _wait, "split": _split, "handoff": _hand_over}


def _close_riders(tx: Transaction, work: Work, limits: Limits, *, seen: bool) -> None:
    if not work.riders:
        return
    if not seen:
        handling.give_back(tx, work.token)
    elif handling.handled(tx, work.agent, work.token):
        for message in work.riders:
            remembering.mail(tx, work.agent, message, limits)


def _settle_mail(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    why = ONLY_TASKS if outcome.kind == "handoff" else _why_failed(outcome)
    if why is not None:
        _fail_mail(tx, work, outcome, why)
        return
    handling.close(tx, work.agent, work.token)
    _answer_offer(tx, work, outcome, limits)
    _answer(tx, work, outcome, limits)
    mail = [message for message in (work.main, *work.riders) if message is not None]
    living.acted(tx, work.agent, messages=len(mail))
    breakers.worked(tx, work.agent)
    for message in mail:
        remembering.mail(tx, work.agent, message, limits)


def _answer_offer(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    """Accept or decline the task that the message offers; one that is over meanwhile is a note to the agent."""
    found = handoffs.of_mail(tx, work.main)
    if found is None:
        return
    try:
        with tx.attempt():
            answering.answer(tx, found, work.agent, outcome.accept, outcome.summary, consent=outcome.consent)
    except CoveyError as error:
        _refused(tx, work, "handoff", f"the answer to the offer of {found.task_id}", error.message, limits, code=error.code)


def _answer(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    """Send what the turn sends, and the answer that the message wanted, unless the brain has given it or waits for one itself."""
    sent = _send_all(tx, work, outcome.messages, limits)
    _add_tasks(tx, work, outcome.tasks, limits)
    _cast(tx, work, outcome, limits)
    asked = work.main
    if asked is None or not asked.requires_response or asked.from_ == SYSTEM:
        return
    if any(each.answers == asked.message_id for each in sent) or (outcome.kind == "waiting" and any(each.waits for each in sent)):
        return
    _send(tx, work, _reply(work.agent, asked, outcome), limits)


def _fail_mail(tx: Transaction, work: Work, outcome: Outcome, reason: str) -> None:
    """Tried again later, or dead; who waits for an answer to a dead letter is woken with the reason (M8)."""
    living.failed_once(tx, work.agent, work.item, reason, refused=outcome.permanent, not_started=outcome.not_started)
    for dead in handling.failed(tx, work.agent, work.token, reason, main=work.main.message_id if work.main is not None else None):
        sweeping.bury(tx, work.agent, dead, reason)
    breakers.failed(tx, work.agent)


def _reply(agent: str, asked: Message, outcome: Outcome) -> Draft:
    """What a turn has to say, as a reply within the bounds of a message: data that is too much stays out and is said to. Pure."""
    body = outcome.summary.strip() or f"{agent} handled this and had nothing to say."
    data = outcome.data or None
    try:
        data_text(outcome.data, "data")
    except CoveyError as error:
        body, data = f"{body}\n\n(Its data is left out: {error.message})", None
    return draft(asked.from_, fit(body, BODY_BYTES), subject=_re(asked), in_reply_to=asked.message_id, data=data)


def _re(asked: Message) -> str:
    subject = str(asked.content["subject"])
    return subject if not subject or subject.lower().startswith("re: ") else f"Re: {subject}"[:SUBJECT_CHARS]


def _send_all(tx: Transaction, work: Work, drafts: Sequence[Draft], limits: Limits) -> list[Sent]:
    """The outcome's messages that were stored."""
    if len(drafts) > MOST:
        _refused(tx, work, "message", f"{len(drafts) - MOST} messages", f"one outcome may send {MOST}", limits)
    return [sent for message in drafts[:MOST] if (sent := _send(tx, work, message, limits)) is not None]


def _send(tx: Transaction, work: Work, message: Draft, limits: Limits) -> Sent | None:
    try:
        with tx.attempt():
            receipt = sending.send(tx, message, as_agent(work.agent), prompt_of(work), wait_s=limits.wait_s)
    except CoveyError as error:
        _refused(tx, work, "message", f"a message to {_to(message)}", error.message, limits, code=error.code)
        return None
    _replace_older(tx, work, receipt)
    lost = {name: each for name, each in receipt.outcomes.items() if not each.stored}
    for name, each in lost.items():
        remembering.note(tx, work, f"a message to {name} was not sent: {each.sentence}", limits)
    if len(lost) == len(receipt.outcomes):
        return None
    return Sent(receipt.message_id, message.content.requires_response, message.in_reply_to)


def _replace_older(tx: Transaction, work: Work, receipt: Receipt) -> None:
    """What a planned task sends in its own thread stands for the unread mail that the same one sent before (P3a)."""
    if work.task is None or not is_unasked(work.task) or receipt.thread_id != work.task.dedupe_key:
        return
    for name, each in receipt.outcomes.items():
        if each.stored:
            replacing.replace_older(tx, receipt.message_id, sender=work.agent, receiver=name, thread_id=receipt.thread_id)


def _to(message: Draft) -> str:
    to = message.to if message.to is not None else f"the sender of {message.in_reply_to}"
    return to if isinstance(to, str) else ", ".join(to[:10])


def _add_tasks(tx: Transaction, work: Work, drafts: Sequence[TaskDraft], limits: Limits) -> None:
    if len(drafts) > MOST:
        _refused(tx, work, "task", f"{len(drafts) - MOST} tasks", f"one outcome may make {MOST}", limits)
    if proposing.is_asked(work.task):
        for head, why in proposing.take(tx, work.agent, drafts[:MOST]):
            remembering.note(tx, work, f"the proposal {head!r} was refused: {why}", limits)
        return
    for wanted in drafts[:MOST]:
        try:
            with tx.attempt():
                _add_task(tx, work, wanted)
        except CoveyError as error:
            _refused(tx, work, "task", f"the task {wanted.description[:100]!r}", error.message, limits, code=error.code)


def _add_task(tx: Transaction, work: Work, wanted: TaskDraft) -> None:
    """What unasked work makes is unasked too, and counts on the budget of who makes it (P3)."""
    if is_unasked(work.task):
        delegate(tx, wanted, work.agent, work.visited)
    else:
        adding.add(tx, wanted, as_agent(work.agent), visited=work.visited)


def _cast(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    for which, error in balloting.cast(tx, work.agent, outcome.votes):
        _refused(tx, work, "ballot", which, error.message, limits, code=error.code)


def _refused(tx: Transaction, work: Work, what: str, which: str, why: str, limits: Limits, code: str = "too-many") -> None:
    """An event, and a note to the agent, which is how its brain hears of it."""
    tx.happened(f"{what}.refused", agent=work.agent, subject=work.item, what=which[:200], code=code, why=why[:500])
    remembering.note(tx, work, f"{which} was refused: {why}", limits)
