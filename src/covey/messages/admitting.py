"""Whether each receiver gets its copy, in the order of L3: link, thread, chain, what was said of late, credit. A refusal costs nothing.

One read gathers what is decided on; the rules themselves are the links' pure functions.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, RESERVED
from covey.base.errors import Cycle
from covey.links import acknowledging, directions, loops, pacing, quota
from covey.links.model import Direction, link_of
from covey.messages import addressing, deferring, pausing, waiting
from covey.messages.letters import Letter
from covey.messages.model import SendOutcome, wakes
from covey.messages.phrasing import until
from covey.store import Row, Transaction, statement

CROSSING = statement(__package__, "crossing")
_IDLE_TYPES = frozenset({"notification", "update", "response", "feedback"})
"""What a bare acknowledgement may be sent as."""


class Admission(NamedTuple):
    """What becomes of one copy, and what is stored with it."""

    outcome: SendOutcome
    link_id: str | None = None
    deliver_at: float | None = None
    turns: int | None = None
    paused: str | None = None
    """Why this send made the thread be paused."""
    wake_by: str | None = None
    """The receiver's preferred endpoint on this link, beside its own process (L2)."""

    @property
    def state(self) -> str:
        """The state in which the copy is stored."""
        return "deferred" if self.outcome.status == "deferred" else "delivered"


def admit(tx: Transaction, letter: Letter, receivers: list[str], thread: str) -> dict[str, Admission]:
    """What becomes of each copy; credit is spent for those that are stored.

    Raises:
        Unknown, Gone: The only receiver, named outright, is not there (M4c); of a list each is told by itself.
        Cycle: The wait for its only receiver would close a circle (M7).
    """
    alone = len(receivers) == 1
    found = {name: _admit(tx, letter, name, thread, alone=alone) for name in receivers}
    if alone and not isinstance(letter.draft.to, list) and found[receivers[0]].outcome.status in ("unknown", "gone"):
        roster.find(tx, receivers[0], field="to")
    return found


class Crossing(NamedTuple):
    """One copy on its way from one agent to another."""

    letter: Letter
    way: Direction
    row: Row
    thread: str
    usual: SendOutcome
    """What becomes of it if no link is in its way."""
    answers: bool
    """Whether it is the first reply to a question of its receiver, which paid for it (L4)."""
    alone: bool
    """Whether it is the message's only copy."""
    digest: str
    """What tells its words and data from others'; empty where no limit asks for it."""

    @property
    def sender(self) -> str:
        """Who sends it."""
        return self.way.sender.id

    @property
    def receiver(self) -> str:
        """Who is to get it."""
        return self.way.receiver.id


def _admit(tx: Transaction, letter: Letter, name: str, thread: str, *, alone: bool) -> Admission:
    sender = letter.sender
    if name == sender:
        return Admission(SendOutcome("invalid", f"{name} is the sender itself; nobody sends to itself."))
    if sender in RESERVED or name == OPERATOR:
        return Admission(addressing.admit(tx, name))
    directions.lock(tx, sender)
    row = tx.one(CROSSING, sender=sender, receiver=name, link_id=link_of(sender, name), thread_id=thread)
    if row is None:
        stranger = SendOutcome("unlinked", f"{sender} is no agent of this fleet.")
        return Admission(addressing.unknown(tx, name) if addressing.mailbox(tx, name) is None else stranger)
    usual = addressing.accepted(name, row.receiver_removed_at, row.paused_at, row.stopped_at)
    if not usual.stored:
        return Admission(usual)
    way = Direction.from_row(row)
    if way.refusal is not None:
        return Admission(SendOutcome(way.refusal.status, way.refusal.sentence))
    digest = pacing.digest_of(letter.draft.content.body, letter.checked.data_json) if way.is_limited else ""
    here = Crossing(letter, way, row, thread, usual, _answers(tx, letter, name), alone, digest)
    turns = loops.turns(_last(row), sender, name) if alone else None
    paused = _paused(tx, here, turns)
    if paused is not None:
        return paused
    turns = 1 if turns is not None and turns > loops.MOST_TURNS else turns
    refused = _goes_round(tx, here) or _said_before(tx, here)
    return Admission(refused) if refused is not None else _spend(tx, here)._replace(turns=turns)


def _answers(tx: Transaction, letter: Letter, name: str) -> bool:
    asked = letter.asked
    return (
        asked is not None and bool(asked.requires_response) and asked.sender == name and waiting.is_unanswered(tx, asked.id, letter.sender)
    )


def _last(row: Row) -> loops.Last | None:
    if row.last_sender is None:
        return None
    to = msgspec.json.decode(row.last_addressed)
    one = to if isinstance(to, str) else to[0] if len(to) == 1 else None
    return loops.Last(row.last_sender, one, row.last_turns)


def _paused(tx: Transaction, here: Crossing, turns: int | None) -> Admission | None:
    """Refused if the thread is paused, or must be now: the two took turns for too long, and no task got on."""
    why, now = here.row.paused_why, None
    if why is None and turns is not None and turns > loops.MOST_TURNS:
        pair = (here.sender, here.receiver)
        if not pausing.got_somewhere(tx, here.thread, pair):
            why = now = pausing.pause(tx, here.thread, pair)
    if why is None:
        return None
    said = f"the thread {here.thread} is paused: {why}. Stop here and go on with your work; the operator knows, and can resume it."
    return Admission(SendOutcome("paused", said), paused=now)


def _goes_round(tx: Transaction, here: Crossing) -> SendOutcome | None:
    """Refused if it closes a circle of waits, would wake somebody whom it has passed through, or goes too deep (L10, M7)."""
    letter, name = here.letter, here.receiver
    content, chain = letter.draft.content, letter.visited
    if content.requires_response:
        try:
            asked = letter.asked.id if here.answers and letter.asked is not None else None
            waiting.check_circle(tx, here.sender, name, answers=asked)
        except Cycle as circle:
            if here.alone:
                raise
            return SendOutcome("cycle", circle.message)
    answered = letter.answering if letter.asked is None else letter.answering | {letter.asked.sender}
    kind, priority = letter.checked.type, letter.checked.priority
    wakes_it = wakes(kind, priority, here.sender, requires_response=content.requires_response, answers=here.answers)
    if wakes_it and loops.closes(chain, name, answered):
        said = f"it would wake {name}, whom this conversation has passed through already ({' → '.join([*chain, name])})."
        return SendOutcome("cycle", f"{said} Work with what you have, or answer who asked you.")
    if not here.answers and loops.depth(chain) > loops.MOST_DEPTH:
        said = f"this conversation has passed through {loops.depth(chain)} agents, and {loops.MOST_DEPTH} is the most."
        return SendOutcome("too-deep", f"{said} Don't pass it on; finish it.")
    return None


def _said_before(tx: Transaction, here: Crossing) -> SendOutcome | None:
    """Refused if it says what was just said, no more than thanks, or too soon (L4, L10). An answer that is waited for goes through."""
    if here.answers:
        return None
    way = here.way
    if way.is_limited:
        before = pacing.repeats(way.recent, here.digest, tx.now)
        if before is not None:
            said = f"you sent the same to {here.receiver} {tx.now - before:.0f} s ago. Don't send it again; say what is new, or nothing."
            return _throttled(tx, here, SendOutcome("duplicate", said, remaining_credits=_left(tx, way)))
    if _only_thanks(here):
        said = f"a bare acknowledgement wakes nobody: {here.receiver} needed no answer, so this was not sent. Nothing more is to be done."
        return _throttled(tx, here, SendOutcome("suppressed", said, remaining_credits=_left(tx, way)))
    at = pacing.allowed_at(way.last_at, way.link.debounce_s, tx.now) if way.is_limited and not _same_run(here) else None
    if at is None:
        return None
    said = (
        f"your last message to {here.receiver} was less than {way.link.debounce_s:g} s ago. Put what you have to say into one message,"
        f" and send it {until(at, tx.now)}."
    )
    return _throttled(tx, here, SendOutcome("debounced", said, retry_at=at, remaining_credits=_left(tx, way)))


def _same_run(here: Crossing) -> bool:
    """Whether the last message in this direction came of the same outcome: together they are one event (L4)."""
    return here.letter.run is not None and here.letter.run == here.way.last_run


def _only_thanks(here: Crossing) -> bool:
    """Whether it is a bare acknowledgement of something that needed no answer (L10)."""
    letter, content = here.letter, here.letter.draft.content
    if content.requires_response or content.data or letter.draft.context.related_tasks or letter.checked.type not in _IDLE_TYPES:
        return False
    needed = letter.asked.requires_response if letter.asked is not None else here.row.last_required
    return needed == 0 and acknowledging.is_bare(content.body, content.subject, (here.sender, here.receiver))


def _left(tx: Transaction, way: Direction) -> int | None:
    return quota.effective(way.bucket, way.link.limits, tx.now).credits if way.is_limited else None


def _throttled(tx: Transaction, here: Crossing, outcome: SendOutcome) -> SendOutcome:
    status, retry_at = outcome.status, outcome.retry_at
    tx.happened("quota.throttled", agent=here.sender, subject=here.way.link.id, to=here.receiver, status=status, retryAt=retry_at)
    return outcome


def _spend(tx: Transaction, here: Crossing) -> Admission:
    """Delivered for a credit, deferred without one, refused where too much is deferred already (L5, L6). What is due goes first (L3)."""
    way, link = here.way, here.way.link
    waits: int = here.row.waiting
    bucket = quota.effective(way.bucket, link.limits, tx.now)
    if waits:
        sent, bucket = deferring.deliver(tx, way)
        waits -= sent
    if link.version == 0:
        directions.imply(tx, link)
    endpoint = link.endpoint_of(here.receiver)
    if not way.is_limited:
        return Admission(here.usual, link.id, wake_by=endpoint)
    spent = bucket if here.answers else quota.spend(bucket, link.limits, tx.now)
    if spent is None and waits >= link.messages:
        return Admission(_throttled(tx, here, _exhausted(here, waits, bucket.reset_at or tx.now, tx.now)))
    recent = pacing.remembered(way.recent, here.digest, tx.now)
    directions.keep(tx, link.id, here.sender, spent or bucket, run=here.letter.run, recent=recent)
    if spent is None:
        return _defer(tx, here, bucket.reset_at or tx.now, waits + 1)
    if spent.credits == 0 and not here.answers:
        tx.happened("quota.spent", agent=here.sender, subject=link.id, to=here.receiver, resetAt=spent.reset_at)
    return Admission(_with_credits(here.usual, spent.credits), link.id, wake_by=endpoint)


def _with_credits(outcome: SendOutcome, left: int) -> SendOutcome:
    return SendOutcome(outcome.status, outcome.sentence, remaining_credits=left)


def _exhausted(here: Crossing, waits: int, at: float, now: float) -> SendOutcome:
    said = f"{_used_up(here)}, and {waits} messages wait for credit already, which is the most. This one was not stored;"
    return SendOutcome("exhausted", f"{said} send one that says it all {until(at, now)}.", retry_at=at, remaining_credits=0)


def _defer(tx: Transaction, here: Crossing, at: float, place: int) -> Admission:
    """Stored until the next window; its place in line counts what waits with it."""
    ident, link = here.letter.ident, here.way.link.id
    said = (
        f"{_used_up(here)}. It is stored as number {place} in line and delivered by itself {until(at, tx.now)}, oldest first; don't send it"
        f" again. `covey deferred cancel {ident}` takes it back."
    )
    tx.happened("message.deferred", agent=here.sender, subject=ident, to={here.receiver: "deferred"}, link=link, deliverAt=at)
    return Admission(SendOutcome("deferred", said, remaining_credits=0, deliver_at=at), link, at)


def _used_up(here: Crossing) -> str:
    link = here.way.link
    return f"your limit to {here.receiver}, {link.messages} messages / {link.hours} hours, is used up"
