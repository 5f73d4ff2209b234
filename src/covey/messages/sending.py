"""Send a message: one verb for every door. Checks, stores the message and a copy for each receiver, says what became of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from covey.agents import configuring, roster
from covey.agents.model import OPERATOR, SYSTEM, Caller
from covey.base.errors import Forbidden, IdTaken, Invalid, NotFound
from covey.base.ids import is_id
from covey.base.wire import fit
from covey.links import directions, loops
from covey.links import reading as linked
from covey.messages import addressing
from covey.messages.checking import SUBJECT_CHARS, Checked, check
from covey.messages.letters import Letter, Prompt
from covey.messages.model import Draft, Receipt, SendOutcome, summed_up
from covey.messages.model import draft as draft_of
from covey.messages.storing import Stored, store
from covey.store import Row, Transaction, locking, statement

FIND = statement(__package__, "find")
OUTCOMES = statement(__package__, "outcomes")
ID_OF_TASK = statement(__package__, "id_of_task")
AT_WORK = statement(__package__, "at_work")
LOCK_ID = statement(__package__, "lock_id")

WAIT_S = 3600.0
"""The deadline of a wait that names none (M7)."""
NOTICE_BYTES = 200_000
LONG_AGO_S = 20 * 366 * 86400.0
CHAIN = 64
"""So much of the chain of a conversation is kept."""

_outcomes_of = msgspec.json.Decoder(dict[str, SendOutcome]).decode


def locks_of(draft: Draft, by: Caller, *_: object, **__: object) -> list[tuple[str, str]]:
    """What a send is going to lock, so that batches take it in one order."""
    asked = draft.in_reply_to
    wanted = [("agent", by.name)] if by.kind == "agent" else []
    wanted += [("circle", "")] if draft.content.requires_response else []
    return [*wanted, ("message", asked)] if isinstance(asked, str) and is_id(asked) else wanted


@locking(locks_of)
def send(tx: Transaction, draft: Draft, by: Caller, prompt: Prompt | None = None, *, wait_s: float = WAIT_S) -> Receipt:
    """The receipt of a message that is on disk once this is committed (M3). A refused copy is an outcome, not an error (M6).

    Raises:
        Invalid, TooLarge: The draft is of the wrong form; nothing is stored (M10).
        IdTaken: Its id is somebody else's (T3).
        Forbidden: `from` is not who the caller is (M11).
        Unknown, Gone: Its only receiver is not there (M4c).
        NotFound: It replies to a message that is not there.
        Cycle: The answer it wants from its only receiver would close a circle of waits (M7).
    """
    checked = check(draft)
    sender = _sender_of(draft, by)
    if draft.message_id is not None:
        known = _known(tx, draft.message_id, sender, checked)
        if known is not None:
            return known
    configuring.check_project(tx, draft.context.project_id, "context.projectId")
    _check_times(tx.now, draft)
    asked = _asked(tx, draft, sender)
    to = draft.to if draft.to is not None else asked.sender if asked is not None else None
    receivers = addressing.receivers(tx, to, sender)
    prompt = prompt or at_work(tx, by)
    letter = Letter(draft.message_id or tx.new_id("msg"), draft, checked, sender, asked, _chain(sender, asked, prompt))
    if prompt is not None:
        letter = letter._replace(answering=prompt.answering, run=prompt.run)
    found = store(tx, letter, receivers, wait_s)
    _tell_of_pauses(tx, sender, found)
    return found.receipt


def notify(
    tx: Transaction,
    to: str,
    subject: str,
    body: str,
    *,
    type: str = "notification",  # noqa: A002 - the field's own name
    priority: str = "medium",
    in_reply_to: str | None = None,
    related_tasks: list[str] | None = None,
    data: dict[str, object] | None = None,
    prompts: bool = False,
    thread_id: str | None = None,
    expires_at: float | None = None,
) -> None:
    """Mail of the protocol itself, from `system`; one to somebody who is gone is left out.

    Over the pair's cap what must be acted on (`prompts`) is handed over a minute later, and the rest is refused (L12).
    """
    if to == SYSTEM:
        return
    box = addressing.mailbox(tx, to)
    if to != OPERATOR and (box is None or box.removed_at is not None):
        return
    title = fit(subject, 4 * SUBJECT_CHARS)[:SUBJECT_CHARS]
    words = draft_of(to, fit(body, NOTICE_BYTES), subject=title, type=type, priority=priority, data=data, related_tasks=related_tasks)
    words.context.thread_id, words.expires_at = thread_id, expires_at
    letter = Letter(tx.new_id("msg"), words, check(words), SYSTEM, None, [], in_reply_to, prompts)
    over = directions.count_protocol(tx, SYSTEM, to) if to != OPERATOR and linked.policy(tx).limits == "on" else None
    if over is not None and not prompts:
        tx.happened("message.refused", agent=SYSTEM, subject=letter.ident, to={to: "exhausted"}, retryAt=over, head=title)
        return
    letter = letter._replace(not_before=over)
    store(tx, letter, [to], WAIT_S)


def _sender_of(draft: Draft, by: Caller) -> str:
    if draft.from_ is not None and draft.from_ != by.name:
        raise Forbidden(f"from is {draft.from_!r}, but the token is {by.name}'s; leave `from` out or use the right token.", field="from")
    return by.name


def lock_id(tx: Transaction, ident: str) -> None:
    """Nobody else stores a message or task under this id before the commit. Call it before looking whether it is known (T3)."""
    tx.one(LOCK_ID, id=ident)


def _known(tx: Transaction, ident: str, sender: str, checked: Checked) -> Receipt | None:
    """The first receipt of an id that was used before (T3)."""
    lock_id(tx, ident)
    if tx.one(ID_OF_TASK, id=ident) is not None:
        raise IdTaken(f"messageId {ident!r} is a task's id already; bring another one or none.", field="messageId")
    row = tx.one(FIND, id=ident)
    if row is None:
        return None
    if row.sender != sender:
        raise IdTaken(f"messageId {ident!r} is taken by a message of {row.sender}; bring another one or none.", field="messageId")
    outcomes = {
        copy.receiver: SendOutcome("delivered", f"it was stored before and is {copy.state} now.") for copy in tx.all(OUTCOMES, id=ident)
    }
    outcomes |= _outcomes_of(row.outcomes) if row.outcomes else {}
    status, sentence = summed_up(outcomes)
    differs = row.digest != checked.digest
    if differs:
        sentence = "this id was sent before with other content; nothing was changed. Bring a new id for new content."
    return Receipt(ident, row.thread_id, row.created_at, status, sentence, outcomes, known=True, differs=differs, note=row.reply_note)


def _check_times(now: float, draft: Draft) -> None:
    """Refuse what is no time of these years, as `600` for "in ten minutes". One that has just passed is taken: it is due at once. Pure."""
    for field, at in (("content.deadline", draft.content.deadline), ("expiresAt", draft.expires_at)):
        if at is not None and at < now - LONG_AGO_S:
            raise Invalid(f"{field} is {at:.12g}, which is long past; give Unix seconds: it is {now:.0f} now.", field=field)


def _asked(tx: Transaction, draft: Draft, sender: str) -> Row | None:
    """The message this one replies to."""
    if draft.in_reply_to is None:
        return None
    asked = tx.one(FIND, id=draft.in_reply_to)
    if asked is None:
        raise NotFound(
            f"inReplyTo is {draft.in_reply_to!r}, and there is no such message; `covey inbox {sender}` lists ids.", field="inReplyTo"
        )
    return asked


def at_work(tx: Transaction, by: Caller) -> Prompt | None:
    """What an agent has in hand when it sends by itself: a chain goes on whichever way its brain sends (L10)."""
    rows = tx.all(AT_WORK, agent=by.name) if by.kind == "agent" else []
    if not rows:
        return None
    chains = [msgspec.json.decode(row.visited, type=tuple[str, ...]) for row in rows]
    return Prompt(max(chains, key=lambda chain: (loops.depth(chain), len(chain))), answering=frozenset(row.sender for row in rows))


def _chain(sender: str, asked: Row | None, prompt: Prompt | None) -> list[str]:
    """Whom the conversation has passed through: the chain of what is being handled, and the sender. Set here, never by a caller (L10)."""
    if sender in (OPERATOR, SYSTEM):
        return []
    before: Sequence[str] = prompt.visited if prompt is not None else msgspec.json.decode(asked.visited) if asked is not None else ()
    return [*before, sender][-CHAIN:]


def _tell_of_pauses(tx: Transaction, sender: str, found: Stored) -> None:
    """The lead and the operator hear of a thread that this send made be paused; so do the two, who are not woken for it (L10)."""
    thread = found.receipt.thread_id
    for name, why in found.paused.items():
        title = f"Paused: the thread of {sender} and {name}"
        told = f"The thread {thread} is paused: {why}. No agent sends in it until the operator says `covey threads resume {thread}`."
        lead = roster.lead(tx)[0]
        for who in sorted({lead, OPERATOR}):
            notify(tx, who, title, told, type="alert", priority="high", data={"threadId": thread}, prompts=True)
        for who in sorted({sender, name} - {lead}):
            notify(tx, who, title, f"{told} Go on with your work.", data={"threadId": thread})
