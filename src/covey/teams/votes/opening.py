"""Open a vote: one verb for every door. Its voters are asked in the same transaction (Q4)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden, IdTaken
from covey.links import directions
from covey.messages.sending import lock_id
from covey.store import Transaction, statement
from covey.teams.votes import asking, reading
from covey.teams.votes.model import MOST_OPEN, VoteDraft, VoteShown, check, due_of

ADD = statement(__package__, "add")
ADD_VOTER = statement(__package__, "add_voter")
OPEN_OF = statement(__package__, "open_of")


def open_vote(tx: Transaction, draft: VoteDraft, by: Caller) -> VoteShown:
    """The vote, open, its voters asked by mail; a known id answers with the vote that has it (T3).

    Raises:
        InvalidBallot: The draft is of the wrong form: a voter or option twice, a quorum that can't be reached, …
        IdTaken: Its id is somebody else's.
        Unknown, Gone: A voter is no agent of the fleet; `nearest` has the candidates.
        Forbidden: An agent asks somebody whom it may not write to (L1).
        Conflict: It has 50 open votes already.
    """
    checked = check(draft)
    if draft.vote_id is not None:
        known = _known(tx, draft.vote_id, by, checked.digest)
        if known is not None:
            return known
    _check_voters(tx, draft.voters, by)
    _check_room(tx, by)
    ident = draft.vote_id or tx.new_id("vote")
    deadline, last = tx.now + draft.deadline_s, 1 + draft.debate
    tx.run(
        ADD,
        id=ident,
        topic=draft.topic.strip(),
        options=msgspec.json.encode(checked.options).decode(),
        opener=by.name,
        quorum=draft.quorum,
        tie=draft.tie,
        debate=draft.debate,
        last_round=last,
        now=tx.now,
        length_s=draft.deadline_s,
        deadline=deadline,
        due_at=due_of(tx.now, deadline, 1, last),
        digest=checked.digest,
    )
    for place, name in enumerate(draft.voters):
        tx.run(ADD_VOTER, vote_id=ident, voter=name, place=place, expertise=checked.expertise.get(name, 1.0))
    head = asking.head(draft.topic)
    tx.happened("vote.opened", agent=by.name if by.kind == "agent" else None, subject=ident, by=by.name, head=head, voters=draft.voters)
    asking.ask(tx, reading.find(tx, ident), draft.voters)
    return reading.show(tx, ident, by)


def _known(tx: Transaction, ident: str, by: Caller, digest: str) -> VoteShown | None:
    """The vote that has this id already."""
    lock_id(tx, ident)
    row = tx.one(reading.FIND, id=ident)
    if row is None:
        return None
    if row.opener != by.name:
        raise IdTaken(f"voteId {ident!r} is taken by a vote of {row.opener}; bring another one or none.", field="voteId")
    found = reading.shown(tx, row, by)
    found.known, found.differs = True, row.digest != digest
    return found


def _check_voters(tx: Transaction, voters: Sequence[str], by: Caller) -> None:
    for place, name in enumerate(voters):
        field = f"voters[{place}]"
        if roster.find(tx, name, field=field).id == by.name or by.kind != "agent":
            continue
        way = directions.find(tx, by.name, name)
        refusal = way.refusal if way is not None else None
        if way is None or refusal is not None:
            why = refusal.sentence if refusal is not None else f"{by.name} is no agent of this fleet."
            raise Forbidden(f"{field} is {name!r}, whom {by.name} may not write to: {why}", field=field)


def _check_room(tx: Transaction, by: Caller) -> None:
    row = tx.one(OPEN_OF, opener=by.name)
    if row is not None and row.n >= MOST_OPEN:
        raise Conflict(f"{row.n} votes of {by.name} are open, which is the most; close some first: `covey vote list --state open`.")
