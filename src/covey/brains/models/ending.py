"""What a model may end its turn with, beside plain text. The docstrings of the tools are what the model reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pydantic_ai import ModelRetry

from covey.brains.model import Ballot, Outcome, Parcel, Passed, Turn, asked_for_vote, failure
from covey.brains.models.choices import Choices, fits, known
from covey.messages.checking import check as check_message
from covey.messages.model import draft
from covey.tasks.model import TaskDraft
from covey.tasks.model import check as check_task

PARTS = 50
"""So many parts one task is split into."""


class Ending:
    """The tools that end a turn, and what it was ended with."""

    def __init__(self, turn: Turn, choices: Choices) -> None:
        self._turn = turn
        self._choices = choices
        self.outcome: Outcome | None = None
        """None: it ended with plain text, or has not ended."""

    def tools(self) -> list[Callable[..., str]]:
        """Those of this kind of turn."""
        turn = self._turn
        if turn.kind == "split":
            return [self.split, self.fail]
        if turn.kind == "task":
            return [self.ask, self.split, self.hand_over, self.fail]
        if turn.message is not None and asked_for_vote(turn.message.message) is not None:
            return [self.vote]
        return [self.accept, self.decline] if turn.kind == "message" and turn.handoff is not None else []

    def _end(self, outcome: Outcome) -> str:
        self.outcome = outcome
        return "Your turn is over."

    def ask(self, to: str, question: str) -> str:
        """Ask a colleague something that you can't do this task without. The task waits; you go on with it once the answer is there.

        Args:
            to: Whom you ask.
            question: What you need to know. It must stand for itself.
        """
        known(to, self._choices.receivers)
        asked = draft(to, question, requires_response=True)
        fits(lambda: check_message(asked))
        return self._end(Outcome(kind="waiting", messages=[asked]))

    def split(self, parts: list[str]) -> str:
        """Have the task done in parts, which stand for it: it is done when they are.

        Args:
            parts: What is to be done, part by part. Each must stand for itself, and together they must do the whole.
        """
        tasks = [TaskDraft(description=part) for part in parts]
        for task in tasks:
            fits(partial(check_task, task))
        if not 1 <= len(tasks) <= PARTS:
            raise ModelRetry(f"give 1 to {PARTS} parts, not {len(tasks)}.")
        return self._end(Outcome(kind="split", tasks=tasks))

    def hand_over(self, to: str, reason: str, notes: list[str] | None = None) -> str:
        """Offer the task to a colleague who can do it better. If nobody takes it, it comes back to you.

        Args:
            to: A colleague, or `@capability`.
            reason: Why you don't do it yourself.
            notes: What whoever takes it must know.
        """
        known(to, self._choices.others)
        return self._end(Outcome(kind="handoff", handoff=Parcel(to=to, reason=reason, context=[Passed(text=note) for note in notes or []])))

    def fail(self, reason: str, for_good: bool = False) -> str:
        """Say that you can't do it. Better than an answer that is not true.

        Args:
            reason: Why not, and what would help.
            for_good: Whether another try would be no use.
        """
        return self._end(failure(reason or "its model gave no reason", permanent=for_good))

    def vote(self, selection: str, confidence: float = 1.0, argument: str = "") -> str:
        """Cast your ballot.

        Args:
            selection: One of the options, word for word.
            confidence: How sure you are, 0 to 1.
            argument: Why; the others read it when the round is over.
        """
        known(selection, self._choices.options, what="option")
        if not 0 <= confidence <= 1:
            raise ModelRetry(f"confidence is {confidence:g}; give 0 to 1.")
        assert self._turn.message is not None
        vote_id = asked_for_vote(self._turn.message.message) or ""
        return self._end(Outcome(votes=[Ballot(vote_id=vote_id, selection=selection, confidence=confidence, argument=argument)]))

    def accept(self) -> str:
        """Take the task that is offered to you."""
        return self._end(Outcome(accept=True, consent=bool(self._turn.handoff and self._turn.handoff.get("returns"))))

    def decline(self, reason: str) -> str:
        """Leave the task with whoever offers it, and say why."""
        return self._end(Outcome(accept=False, summary=reason))
