"""The mail of a vote: voters asked, the decider asked, the result told. All of it is the protocol's own, in one thread a vote (L12).

What others wrote is quoted and said to be theirs: it is what is voted on, never an instruction (M12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from covey.agents.model import OPERATOR, SYSTEM
from covey.messages import replacing, sending
from covey.store import Row, Transaction
from covey.teams.votes.model import Result, Said

HEAD_CHARS = 120


def ask(tx: Transaction, vote: Row, voters: Sequence[str], arguments: Sequence[Said] = (), *, refused: str = "") -> None:
    """Ask these voters for their ballots of the current round; an unread request of an earlier one is taken back.

    `refused`: why the ballot that a voter gave was not taken.
    """
    again = f"Your ballot was not taken: {refused}\n\n" if refused else _why_again(vote)
    first = f"{again}{vote.opener} asks for your vote. What is voted on, in {vote.opener}'s words:\n{quoted(vote.topic)}"
    last = f"Choose one, with your confidence from 0 to 1, and say why; or abstain. {HOW.format(id=vote.id)}"
    for name in sorted(voters):
        _send(tx, vote, name, f"Vote: {head(vote.topic)}", (first, last), arguments)


def ask_decider(tx: Transaction, vote: Row, arguments: Sequence[Said]) -> None:
    """Ask the lead to decide a tie."""
    first = (
        f"A vote that {vote.opener} asked for is a tie, and you are the one who decides it. In {vote.opener}'s words:\n{quoted(vote.topic)}"
    )
    last = f"Choose one; if you abstain it stays a tie. {HOW.format(id=vote.id)}"
    _send(tx, vote, vote.decider, f"Decide a tie: {head(vote.topic)}", (first, last), arguments)


HOW = (
    'Answer with a ballot: {{"kind": "done", "votes": [{{"voteId": "{id}", "selection": "…", "confidence": 0.8, "argument": "…"}}]}}, a'
    " selection of null to abstain; or `covey vote cast {id} OPTION --from YOU`. Nobody sees it before the vote is closed."
)


def _why_again(vote: Row) -> str:
    if vote.round == 1:
        return ""
    if vote.round == vote.counted_from:
        return "The last round was a tie, so those that share the first place are voted on once more. "
    return f"Round {vote.round} of {vote.last_round}: read the arguments, and vote again; your last ballot stands if you don't. "


def _options(choices: Sequence[str]) -> str:
    return "The options:\n" + "\n".join(f"- {msgspec.json.encode(each).decode()}" for each in choices)


def _send(tx: Transaction, vote: Row, to: str, subject: str, words: tuple[str, str], arguments: Sequence[Said]) -> None:
    """One request: the first words, the options, the arguments, the last words."""
    take_back(tx, vote.id, [to])
    choices = msgspec.json.decode(vote.choices)
    data: dict[str, Any] = {
        "voteId": vote.id,
        "options": choices,
        "opener": vote.opener,
        "round": vote.round,
        "lastRound": vote.last_round,
        "decides": vote.state == "deciding",
        "deadline": vote.due_at,
    }
    said = [f"{each.voter} argues:\n{quoted(each.argument)}" for each in arguments]
    body = "\n\n".join([words[0], _options(choices), *said, words[1]])
    sending.notify(tx, to, subject, body, type="request", data=data, prompts=True, thread_id=vote.id, expires_at=vote.due_at)


def take_back(tx: Transaction, vote_id: str, voters: Sequence[str]) -> None:
    """Close requests that nobody has read: there is nothing to answer any more."""
    for name in sorted(voters):
        if name != OPERATOR:
            replacing.replace_older(tx, vote_id, sender=SYSTEM, receiver=name, thread_id=vote_id)


def tell(tx: Transaction, vote: Row, result: Result) -> None:
    """Tell the opener and the operator what a vote came to."""
    body = f"{sentence(result)}\n\nWhat was voted on, in {vote.opener}'s words:\n{quoted(vote.topic)}"
    data = {"voteId": vote.id, "status": result.status, "winner": result.winner, "strength": result.strength}
    for name in dict.fromkeys((vote.opener, OPERATOR)):
        sending.notify(tx, name, f"Voted: {head(vote.topic)}", body, data=data, prompts=True, thread_id=vote.id)


def sentence(result: Result) -> str:
    """What a vote came to, in words. Pure."""
    parts = [_outcome(result)]
    for option, score in sorted(result.scores.items(), key=lambda item: -item[1].weighted_score):
        parts.append(f"- {option}: {score.weighted_score:.3g} from {score.vote_count} (confidence {score.avg_confidence:.2f} on average)")
    for words, names in (("Abstained", result.abstained), ("Did not vote", result.silent), ("Left the fleet", result.left)):
        if names:
            parts.append(f"{words}: {', '.join(names)}.")
    parts += [
        f"Changed in round {each.round} without a new argument: {', '.join(each.agents)}." for each in result.changed_without_argument
    ]
    return "\n".join(parts)


def _outcome(result: Result) -> str:
    if result.status == "no_votes":
        return "Nobody voted."
    if result.status == "no_quorum":
        return f"No decision: {result.cast} voted, which is fewer than the quorum."
    if result.status == "tie":
        return f"A tie between {' and '.join(result.tied)}."
    by = f", a tie that {result.decided_by} decided" if result.decided_by else ""
    return f"{result.winner} wins with a strength of {result.strength:.2f}{by}."


def head(topic: str) -> str:
    """The topic in a line. Pure."""
    line = " ".join(topic.split())
    return line if len(line) <= HEAD_CHARS else line[: HEAD_CHARS - 1] + "…"


def quoted(text: str) -> str:
    """Text of others, each line marked as quoted. Pure."""
    return "\n".join(f"> {line}" for line in text.splitlines())
