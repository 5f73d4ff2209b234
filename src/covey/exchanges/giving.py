"""Take a message from outside: it begins a task of the agent, answers the question of one, or is mail to an agent at work on one."""

from __future__ import annotations

from covey.agents.model import Caller
from covey.base.errors import Forbidden, IdTaken, IllegalMove, Invalid
from covey.exchanges import reading
from covey.exchanges.model import NOTHING_SAID, OUTSIDE, Exchange, Given, Names, NotSent, names_of
from covey.messages import handling, sending
from covey.messages.model import Draft, Receipt, draft
from covey.store import Row, Transaction, locking, statement
from covey.tasks import adding, changing
from covey.tasks.model import TaskDraft

ADD = statement(__package__, "add")
ADD_MESSAGE = statement(__package__, "add_message")


def _locks(_agent: str, _given: Given, by: Caller, **_: object) -> list[tuple[str, str]]:
    """What it is going to lock, so that batches take it in one order."""
    return [("agent", by.name)] if by.kind == "agent" else []


@locking(_locks)
def give(tx: Transaction, agent: str, given: Given, by: Caller, *, once: bool = True, history: int | None = None) -> Exchange:
    """The exchange that the message began or went on with; one that was given before changes nothing (T3).

    `once`: the giver's id names one message of this giver; else each is a new one.

    Raises:
        Invalid, TooLarge: The message is of the wrong form; nothing is stored.
        IdTaken: The id was used for a message of other content.
        NotFound: There is no such exchange, or it is not the caller's.
        IllegalMove: The exchange has ended and takes no more.
        NotSent: A rule of the link refuses it; `retry_at` says when it may pass.
        Unknown, Gone: There is no such agent.
    """
    if by.kind not in ("operator", "agent"):
        raise Forbidden(f"the token is {by.name}'s, which gives no work; use the operator's or an agent's.")
    if given.task_id is not None:
        return _go_on(tx, agent, given, by, once=once, history=history)
    names = names_of(by.name, agent, given.message_id) if once else Names(tx.new_id("msg"), tx.new_id("task"), tx.new_id("thread"))
    thread_id = given.thread_id or names.thread
    words = draft(agent, _text(given), type="task", data=_data(given), thread_id=thread_id, message_id=names.message)
    words.context.related_tasks, words.traceparent = [names.task], given.traceparent
    receipt = _send(tx, words, agent, by)
    if receipt.known:
        return reading.show(tx, agent, names.task, by, history=history)
    handling.acknowledge(tx, agent, names.message)
    task = TaskDraft(description=_text(given), agent=agent, task_id=names.task, data=_data(given, thread_id), traceparent=given.traceparent)
    adding.add(tx, task, by)
    tx.run(ADD, task_id=names.task, agent=agent, caller=by.name, thread_id=thread_id, now=tx.now)
    tx.run(ADD_MESSAGE, task_id=names.task, message_id=names.message)
    return reading.show(tx, agent, names.task, by, history=history)


def _go_on(tx: Transaction, agent: str, given: Given, by: Caller, *, once: bool, history: int | None) -> Exchange:
    """The exchange with one more message: the answer that its task waits for, else mail to the agent in the same thread."""
    assert given.task_id is not None
    tx.lock("task", given.task_id)
    row = reading.seek(tx, agent, given.task_id, by)
    if given.thread_id is not None and given.thread_id != row.thread_id:
        raise Invalid(
            f"contextId is {given.thread_id[:130]!r}, but the task {given.task_id} is of {row.thread_id}; leave contextId out.",
            field="message.contextId",
        )
    found = reading.shown(tx, row, history=0)
    words = draft(agent, _text(given), data=_data(given), thread_id=row.thread_id, in_reply_to=found.question)
    words.message_id = names_of(by.name, f"{agent}\0{given.task_id}", given.message_id).message if once else None
    words.type = "response" if found.question is not None else "request"
    words.context.related_tasks, words.traceparent = [given.task_id], given.traceparent
    if not found.is_open:
        return _was_given(tx, words, found, row, history)
    receipt = _send(tx, words, agent, by)
    if not receipt.known:
        tx.run(ADD_MESSAGE, task_id=given.task_id, message_id=receipt.message_id)
    return reading.shown(tx, row, history=history)


def _was_given(tx: Transaction, words: Draft, found: Exchange, row: Row, history: int | None) -> Exchange:
    """An exchange that has ended, for one who sends again what was given to it before."""
    given = {each.message_id for each in reading.messages_of(tx, row.task_id, 100)}
    if words.message_id in given:
        return reading.shown(tx, row, history=history)
    raise IllegalMove(
        f"the task {row.task_id} is {found.phase} and takes no more messages; begin a new one in the same context, without taskId.",
        field="message.taskId",
    )


def _send(tx: Transaction, words: Draft, agent: str, by: Caller) -> Receipt:
    """The receipt of a message that was stored, or was before.

    Raises:
        IdTaken, NotSent: See `give`.
    """
    receipt = sending.send(tx, words, by)
    if receipt.known:
        if receipt.differs:
            raise IdTaken("messageId was used for another message already; bring a new one for new content.", field="message.messageId")
        return receipt
    outcome = receipt.outcomes[agent]
    if outcome.status not in ("delivered", "held"):
        raise NotSent(
            f"the message was not taken: {outcome.sentence} Nothing was stored.", retry_at=outcome.retry_at, outcome=outcome.status
        )
    return receipt


def _text(given: Given) -> str:
    return given.text if given.text.strip() else NOTHING_SAID


def _data(given: Given, thread_id: str | None = None) -> dict[str, object]:
    """What the brain finds beside the text."""
    return {OUTSIDE: {**given.outside, **({"contextId": thread_id} if thread_id is not None else {})}}


def cancel(tx: Transaction, agent: str, task_id: str, by: Caller) -> Exchange:
    """The exchange, its task cancelled; a running brain is ended within the grace (K7).

    Raises:
        NotFound: There is none, or it is not the caller's.
        IllegalMove: It has ended.
    """
    tx.lock("task", task_id)
    row = reading.seek(tx, agent, task_id, by)
    changing.cancel(tx, task_id, by, f"cancelled by {by.name}, who gave it")
    return reading.shown(tx, row)
