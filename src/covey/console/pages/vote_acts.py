"""What a person does about votes: opens one, decides a tie that is the operator's to decide, ends a round, closes one."""

from __future__ import annotations

from collections.abc import Sequence

from covey.agents import roster
from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.base.errors import Invalid
from covey.console.asking import Field, confirm, tell
from covey.console.routes import Form, Operations, act, done, page
from covey.console.shown import many, plain
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.teams.votes import casting, closing, opening, reading
from covey.teams.votes.model import LENGTH_S, MOST_ROUNDS, VoteDraft, VoteShown

NAMED = 50
"""So many agents are named in a form's help."""
TIES = {"it stays a tie": "none", "the lead decides": "decider", "vote again on those that tie": "revote"}
ABSTAIN = "0. None of them: it stays a tie"


class NewVote(Form):
    """A vote as a person opens it."""

    topic: str
    voters: str
    options: str
    minutes: float = LENGTH_S / 60
    quorum: int = 0
    debate: int = 0
    tie: str = "it stays a tie"
    expertise: str = ""


class Choice(Form):
    """The option that a person chose: its place in the list, before a dot."""

    choice: str


def named(names: Sequence[str]) -> str:
    """The first names, and how many more there are. Pure."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def names_in(text: str) -> list[str]:
    """The names in a text, with commas or spaces between. Pure."""
    return text.replace(",", " ").split()


def lines_in(text: str) -> list[str]:
    """The lines of a text that say something. Pure."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def weights_in(text: str) -> dict[str, float]:
    """Weights as they are written: `coder=2, sales=0.5`. Pure.

    Raises:
        Invalid: One is not written so.
    """
    found = {}
    for each in names_in(text):
        name, _, number = each.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise Invalid(f"expertise has {each[:60]!r}; write each as agent=number, as in coder=2.", field="expertise") from None
    return found


async def ask_new(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a new vote."""
    names = await call.door.store.read(roster.all_names)
    return confirm(
        call,
        title="Open a vote",
        lines=["Its voters are asked by mail. What each chooses is secret until it is closed."],
        action="/votes",
        fields=[
            Field("topic", "What is to be decided", lines=3, needed=True),
            Field("options", "Options, one a line", lines=4, needed=True),
            Field("voters", "Voters", needed=True, help=f"Agents, with commas between: {named(names)}."),
            Field("minutes", "Minutes until it closes", "60", "number", bounds={"min": "0.1", "step": "any"}),
            Field("quorum", "Quorum", "0", "number", "So many must have chosen; 0: one is enough.", bounds={"min": 0}),
            Field(
                "debate", "Rounds of debate", "0", "number", "Before each all arguments are shown.", bounds={"min": 0, "max": MOST_ROUNDS}
            ),
            Field("tie", "If it is a tie", "it stays a tie", options=tuple(TIES)),
            Field("expertise", "Weights", help="Such as coder=2, sales=0.5; 1 for who is not named."),
        ],
        go="Open the vote",
    )


async def open_vote(call: Call[Nothing, NewVote]) -> Answer:
    """Open it as the operator."""
    form = call.body
    if form.tie not in TIES:
        raise Invalid(f"tie is {form.tie[:60]!r}; it is one of: {', '.join(TIES)}.", field="tie")
    draft = VoteDraft(
        topic=form.topic,
        voters=names_in(form.voters),
        options=lines_in(form.options),
        quorum=form.quorum,
        deadline_s=form.minutes * 60,
        expertise=weights_in(form.expertise),
        tie=TIES[form.tie],  # type: ignore[arg-type]  # the verb checks it
        debate=form.debate,
    )
    vote = await call.door.store.write(opening.open_vote, draft, call.by)
    return done(call, f"The vote is open, and {many(len(vote.voters), 'agent')} asked. Its id is {vote.vote_id}.")


async def ask_decide(call: Call[Nothing, Nothing]) -> Answer:
    """The options of a tie, of which the operator chooses one."""
    vote = await _show(call)
    if vote.state != "deciding" or vote.decider != OPERATOR:
        return tell(call, "Not yours to decide", f"The vote is {vote.state}. You decide a tie where the lead is asked and nobody plays it.")
    return confirm(
        call,
        title="Decide the tie?",
        lines=[f"“{plain(vote.topic, 300)}”", "Your choice wins, and the vote is closed."],
        action=f"/votes/{vote.vote_id}/decide",
        fields=[Field("choice", "What wins", options=(*_numbered(vote), ABSTAIN))],
        go="Decide",
    )


def _numbered(vote: VoteShown) -> list[str]:
    return [f"{place}. {option}" for place, option in enumerate(vote.choices, 1)]


async def decide(call: Call[Nothing, Choice]) -> Answer:
    """The tie is decided by the operator's ballot."""
    vote = await _show(call)
    place = call.body.choice.partition(".")[0]
    if not (place.isascii() and place.isdecimal() and len(place) < 4 and int(place) <= len(vote.choices)):
        raise Invalid(f"choice is {call.body.choice[:60]!r}; choose one of those that tie.", field="choice")
    chosen = vote.choices[int(place) - 1] if int(place) else None
    return done(call, said_of(await call.door.store.write(casting.cast, vote.vote_id, call.by, chosen)))


async def ask_next(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a round is ended."""
    vote = await _show(call)
    if vote.state != "open":
        return tell(call, "There is no next round", f"The vote is {vote.state}.")
    return confirm(
        call,
        title=f"End round {vote.round}?",
        lines=["All voters are shown the arguments and asked again. Who does not vote again keeps the ballot."],
        action=f"/votes/{vote.vote_id}/next",
        go="Begin the next round",
    )


async def next_round(call: Call[Nothing, Form]) -> Answer:
    """All are shown the arguments and asked again."""
    vote = await call.door.store.write(closing.next_round, call.named("id"), call.by)
    return done(call, f"Round {vote.round} of {vote.last_round} has begun." if vote.state == "open" else said_of(vote))


async def ask_close(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a vote is closed."""
    vote = await _show(call)
    if not vote.is_open:
        return tell(call, "It is closed", said_of(vote))
    voted = sum(each.voted for each in vote.voters)
    return confirm(
        call,
        title="Close this vote?",
        lines=[f"{voted:,} of {many(len(vote.voters), 'voter')} have voted in this round. It is counted as it stands; a tie stays one."],
        action=f"/votes/{vote.vote_id}/close",
        go="Close and count",
        grave=True,
    )


async def close(call: Call[Nothing, Form]) -> Answer:
    """The vote is counted and over."""
    vote = await call.door.store.write(closing.close, call.named("id"), call.by)
    return done(call, f"It was closed before; nothing was changed. {said_of(vote)}", "plain") if vote.known else done(call, said_of(vote))


def said_of(vote: VoteShown) -> str:
    """What a vote came to, in a sentence. Pure."""
    result = vote.result
    if result is None:
        return f"The vote is {vote.state}."
    if result.winner is not None:
        return f"Closed: “{plain(result.winner, 100)}” won, with a strength of {result.strength:.2f}."
    why = {"tie": "it is a tie", "no_quorum": "too few have chosen", "no_votes": "nobody has chosen"}[result.status]
    return f"Closed without a winner: {why}."


async def _show(call: Call[Nothing, Nothing] | Call[Nothing, Choice]) -> VoteShown:
    return await call.door.store.read(reading.show, call.named("id"), THE_OPERATOR)


OPERATIONS: Operations = (
    page("/votes/~new", ask_new, "The form of a new vote."),
    act("/votes", open_vote, "Open a vote.", takes=NewVote),
    page("/votes/{id}/decide", ask_decide, "The options of a tie."),
    act("/votes/{id}/decide", decide, "Decide a tie.", takes=Choice),
    page("/votes/{id}/next", ask_next, "Ask before a round ends."),
    act("/votes/{id}/next", next_round, "End a vote's round.", takes=Form),
    page("/votes/{id}/close", ask_close, "Ask before a vote is closed."),
    act("/votes/{id}/close", close, "Close a vote and count it.", takes=Form),
)
