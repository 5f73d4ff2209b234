"""Votes among agents in one process (Q4): opened, cast, counted, debated. Thread-safe; the counting is `counting`'s."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from covey.base.errors import Conflict, NotFound
from covey.teams import counting
from covey.teams.counting import Ballot, InvalidBallot

MOST_ROUNDS = 5
MOST_TOPICS = 10_000
"""So many of the latest votes are kept."""
Policy = Literal["none", "decider", "revote"]


class UnknownTopic(NotFound, ValueError):
    """There is no such vote."""


class VoteClosed(Conflict, ValueError):
    """The vote is over."""


class _Rules(NamedTuple):
    """How a vote is counted."""

    options: list[str]
    quorum: int
    expertise: dict[str, float]


class ConsensusManager:
    """Votes of agents, weighted by confidence × expertise.

    `votes` holds a slot for each voter of each topic, `debates` the arguments of each topic in the order in which they were made.
    """

    def __init__(self) -> None:
        self.votes: dict[str, list[dict[str, Any]]] = {}
        self.debates: dict[str, list[dict[str, Any]]] = {}
        self._rules: dict[str, _Rules] = {}
        self._rounds: dict[str, list[dict[str, str]]] = {}
        self._closed: set[str] = set()
        self._lock = threading.Lock()

    def initiate_vote(
        self, topic_id: str, agents: Sequence[str], options: Sequence[str], *, quorum: int = 0, expertise: Mapping[str, float] | None = None
    ) -> None:
        """Open a vote. `quorum`: so many must have voted for it to be complete. A topic that was voted on before begins anew.

        Raises:
            InvalidBallot: No or doubled voters, options that are not fit, a quorum that can't be reached.
        """
        voters = counting.listed("agents", agents)
        if not voters or len(set(map(str, voters))) != len(voters):
            raise InvalidBallot(f"agents is {agents!r}; name each voter once, and at least one.", field="agents")
        counting.check_whole("quorum", quorum, len(voters), "the number of voters")
        rules = _Rules(counting.options_of(options), quorum, counting.expertise_of(expertise or {}, voters))
        with self._lock:
            self._make_room(topic_id)
            self._rules[topic_id] = rules
            self._rounds[topic_id] = []
            self._closed.discard(topic_id)
            self.debates[topic_id] = []
            self.votes[topic_id] = [{"agent": each, "topic": topic_id, "options": rules.options, "status": "pending"} for each in voters]

    def _make_room(self, topic_id: str) -> None:
        """Forget the vote that was opened first once there are too many, so that a process may run for weeks."""
        if topic_id in self._rules or len(self._rules) < MOST_TOPICS:
            return
        oldest = next((each for each in self._rules if each in self._closed), next(iter(self._rules)))
        self._closed.discard(oldest)
        for kept in (self._rules, self._rounds, self.debates, self.votes):
            kept.pop(oldest, None)

    def submit_vote(self, topic_id: str, agent_id: str, selection: str, confidence: float) -> None:
        """Cast a ballot, or revise it while the vote is open.

        Raises:
            UnknownTopic, VoteClosed: There is no such vote, or it is over.
            InvalidBallot: The agent has no vote, the option is not listed, the confidence is not 0 to 1.
        """
        with self._lock:
            slot = self._slot(topic_id, agent_id)
            chosen = counting.selection_of(selection, self._rules[topic_id].options)
            slot.update(status="cast", selection=chosen, confidence=counting.confidence_of(confidence))

    def withdraw(self, topic_id: str, agent_id: str) -> None:
        """Take a voter out of a vote, with its ballot: it has left.

        Raises:
            UnknownTopic, VoteClosed, InvalidBallot: There is no such vote, it is over, or the agent has none.
        """
        with self._lock:
            slot = self._slot(topic_id, agent_id)
            self.votes[topic_id].remove(slot)

    def argue(self, topic_id: str, agent_id: str, argument: str) -> None:
        """Add an argument to the debate; it is shown to all before the next round."""
        with self._lock:
            self._slot(topic_id, agent_id)
            if not counting.is_text(argument):
                raise InvalidBallot(f"argument is {argument!r}, which is no text; say why.", field="argument")
            if not argument.strip():
                raise InvalidBallot("argument is empty; say why.", field="argument")
            self.debates[topic_id].append({"agent": agent_id, "round": len(self._rounds[topic_id]) + 1, "argument": argument.strip()})

    def next_round(self, topic_id: str) -> list[dict[str, Any]]:
        """End a round of debate; its arguments. Ballots stand until they are revised.

        Raises:
            VoteClosed: There were 5 rounds, which is the most.
        """
        with self._lock:
            self._open(topic_id)
            rounds = self._rounds[topic_id]
            if len(rounds) >= MOST_ROUNDS:
                raise VoteClosed(f"{topic_id!r} was debated in {MOST_ROUNDS} rounds, which is the most; count it.", field="topic_id")
            rounds.append({slot["agent"]: slot["selection"] for slot in self.votes[topic_id] if slot["status"] == "cast"})
            return [dict(each) for each in self.debates[topic_id] if each["round"] == len(rounds)]

    def changed_without_argument(self, topic_id: str) -> list[str]:
        """Who chose otherwise than in the last round though nobody had brought a new argument since: they followed the crowd."""
        with self._lock:
            self._known(topic_id)
            rounds = self._rounds[topic_id]
            if not rounds:
                return []
            before = rounds[-1]
            argued = {each["argument"] for each in self.debates[topic_id] if each["round"] < len(rounds)}
            if {each["argument"] for each in self.debates[topic_id] if each["round"] >= len(rounds)} - argued:
                return []
            now = {slot["agent"]: slot.get("selection") for slot in self.votes[topic_id]}
            return sorted(agent for agent, chosen in before.items() if now.get(agent) not in (None, chosen))

    def calculate_weighted_consensus(self, topic_id: str) -> dict[str, Any]:
        """What the ballots come to now: `status` (no_votes, no_quorum, tie, complete), `result`, `details`, `consensus_strength`.

        Raises:
            UnknownTopic: There is no such vote.
        """
        with self._lock:
            rules = self._known(topic_id)
            slots = [slot for slot in self.votes[topic_id] if slot["status"] == "cast"]
            cast = [Ballot(slot["agent"], slot["selection"], slot["confidence"]) for slot in slots]
        tally = counting.count(cast, rules.expertise, rules.quorum)
        if tally.status == "no_votes":
            return {"status": "no_votes", "result": None}
        found: dict[str, Any] = {"status": tally.status, "result": tally.winner}
        found["details"] = {option: score._asdict() for option, score in tally.scores.items()}
        found["consensus_strength"] = tally.strength
        if tally.tied:
            found["tied"] = tally.tied
        return found

    def close(self, topic_id: str) -> dict[str, Any]:
        """End a vote; what it came to. No ballot is taken any more."""
        result = self.calculate_weighted_consensus(topic_id)
        with self._lock:
            self._closed.add(topic_id)
        return result

    def _known(self, topic_id: str) -> _Rules:
        rules = self._rules.get(topic_id)
        if rules is None:
            raise UnknownTopic(
                f"Unknown topic: {topic_id}. There are votes on: {', '.join(self._rules) or 'nothing yet'}.", field="topic_id"
            )
        return rules

    def _open(self, topic_id: str) -> _Rules:
        rules = self._known(topic_id)
        if topic_id in self._closed:
            raise VoteClosed(f"the vote on {topic_id!r} is closed; open it anew to vote again.", field="topic_id")
        return rules

    def _slot(self, topic_id: str, agent_id: str) -> dict[str, Any]:
        self._open(topic_id)
        slots = self.votes[topic_id]
        for slot in slots:
            if slot["agent"] == agent_id:
                return slot
        raise InvalidBallot(
            f"{agent_id!r} has no vote on {topic_id!r}; the voters are {', '.join(slot['agent'] for slot in slots)}.", field="agent_id"
        )
