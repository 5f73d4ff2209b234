"""`covey.Agent`: the base of a python brain that is a class. It gathers what its methods send and decide into the turn's Outcome.

Nothing is sent while a method runs: all of it happens once, in the transaction that settles the turn (M3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from covey.base.errors import Failed
from covey.brains.model import Answers, Ballot, Cost, Outcome, Parcel, Passed, Turn, asked_for_vote, failure
from covey.messages.model import Draft, Message, draft
from covey.tasks.model import Task, TaskDraft


@dataclass(slots=True)
class Gathered:
    """What one turn has gathered so far."""

    say: Callable[[str], None]
    is_cancelled: Callable[[], bool]
    messages: list[Draft] = field(default_factory=list)
    tasks: list[TaskDraft] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    context: tuple[int, int] | None = None
    votes: list[Ballot] = field(default_factory=list)

    def into(self, outcome: Outcome) -> Outcome:
        """The outcome with all that was gathered, after what it has already: the first message is the one that it waits for."""
        return msgspec.structs.replace(
            outcome,
            messages=outcome.messages + self.messages,
            tasks=outcome.tasks + self.tasks,
            decisions=outcome.decisions + self.decisions,
            notes=outcome.notes + self.notes,
            cost=self._cost(outcome.cost),
            votes=outcome.votes + self.votes,
        )

    def _cost(self, cost: Cost | None) -> Cost | None:
        if self.context is None:
            return cost
        tokens, limit = self.context
        return msgspec.structs.replace(cost or Cost(), context_tokens=tokens, context_limit=limit)


_TURN: ContextVar[Gathered] = ContextVar("covey_turn")


@contextmanager
def gathering(say: Callable[[str], None], is_cancelled: Callable[[], bool]) -> Iterator[Gathered]:
    """While it lasts, what agents send and decide here is gathered."""
    gathered = Gathered(say, is_cancelled)
    mark = _TURN.set(gathered)
    try:
        yield gathered
    finally:
        _TURN.reset(mark)


def _gathered() -> Gathered:
    found = _TURN.get(None)
    if found is None:
        raise Failed(
            "no turn is running here; send, decide and remember only in on_message, on_task and the like, not in a thread of your own."
        )
    return found


class Agent:
    """An agent as a class: override `on_task`, `on_message`, `on_digest`, `on_split`, each as `def` or `async def`.

    One object serves all turns, so what it keeps in `self` lasts as long as the agent's process; with two lanes two of its methods
    may run at once. A `def` runs in a thread of its own and should look at `self.cancelled` when it takes long: a thread can't be
    ended from outside. An `async def` runs on the brain's own event loop and is cancelled there. With `process = true` each turn
    has a process and an object of its own.
    """

    ON: ClassVar[dict[str, str]] = {
        "message": "on_message",
        "digest": "on_digest",
        "task": "on_task",
        "split": "on_split",
        "summary": "on_summary",
    }
    """Which method takes which kind of turn."""

    def on_message(self, message: Message, turn: Turn) -> Answers:
        """Handle a message; what it answers is the reply, if one is wanted. At least once: `turn.attempt` counts the tries.

        One that asks for a ballot has `voteId` and `options` in its data; unless this is overridden the agent abstains.
        """
        vote_id = asked_for_vote(message)
        if vote_id is not None:
            self.vote(vote_id, None)
            return f"{message.receiver or turn.agent} abstains; its brain has no on_message."
        return f"{message.receiver or turn.agent} does not handle messages; give it a task."

    def on_digest(self, messages: list[Message], turn: Turn) -> Answers:  # noqa: ARG002 - to be overridden
        """Take note of mail that nobody waits for."""
        return None

    def on_task(self, task: Task, turn: Turn) -> Answers:
        """Do a task; what it answers is the result."""
        return failure(f"{turn.agent} does no tasks, so not {task.task_id}; its brain has no on_task.", permanent=True)

    def on_split(self, task: Task, turn: Turn) -> Answers:
        """Propose parts of a task that takes too long, with `self.split`."""
        return failure(f"{turn.agent} can't split {task.task_id}; its brain has no on_split.", permanent=True)

    def on_summary(self, entries: list[dict[str, Any]], turn: Turn) -> Answers:  # noqa: ARG002 - to be overridden
        """Put what it remembers into fewer words; every id, URL and path in it must stay, or the summary is not taken (C4)."""
        return failure(f"{turn.agent} makes no summaries; its brain has no on_summary.", permanent=True)

    def can(self, description: str) -> bool:  # noqa: ARG002 - to be overridden
        """Whether it is able to do a task of this description (P1)."""
        return True

    def send(self, to: str | list[str], text: str, *, subject: str = "", type: str | None = None, priority: str | int = "medium",  # noqa: A002 - the field's own name
             requires_response: bool = False, deadline: float | None = None, data: dict[str, Any] | None = None,
             thread_id: str | None = None, in_reply_to: str | None = None) -> None:  # fmt: skip
        """Have a message sent when the turn is settled; if the turn fails it is not sent. `deadline` is in Unix seconds."""
        message = draft(
            to, text, subject=subject, type=type, priority=priority, requires_response=requires_response,
            deadline=deadline, data=data, thread_id=thread_id, in_reply_to=in_reply_to,
        )  # fmt: skip
        _gathered().messages.append(message)

    def add_task(self, description: str, *, agent: str | None = None, priority: str | int = "medium", needs: list[str] | None = None,
                 data: dict[str, Any] | None = None, **more: Any) -> None:  # fmt: skip
        """Have a task made when the turn is settled: for an agent, a `@capability`, or whoever is free. `more` are fields of TaskDraft."""
        task = TaskDraft(description=description, agent=agent, priority=priority, dependencies=needs or [], data=data or {}, **more)
        _gathered().tasks.append(task)

    def ask(
        self, to: str, question: str, *, subject: str = "", deadline: float | None = None, data: dict[str, Any] | None = None
    ) -> Outcome:
        """To be returned by `on_task`: the task waits for the answer, which the next turn finds in `turn.answer`."""
        return Outcome(
            kind="waiting", messages=[draft(to, question, subject=subject, requires_response=True, deadline=deadline, data=data)]
        )

    def split(self, *parts: str | TaskDraft) -> Outcome:
        """To be returned by `on_task` or `on_split`: these tasks stand for the task, which is done when they are."""
        return Outcome(kind="split", tasks=[TaskDraft(description=part) if isinstance(part, str) else part for part in parts])

    def hand_over(
        self, to: str, reason: str = "", *, state: dict[str, Any] | None = None, progress: float | None = None, notes: Sequence[str] = ()
    ) -> Outcome:
        """To be returned by `on_task`: the task is offered to another agent, or the best of a `@capability`; `notes` go with it (Q3)."""
        context = [Passed(text=note) for note in notes]
        return Outcome(kind="handoff", handoff=Parcel(to=to, reason=reason, task_state=state or {}, progress=progress, context=context))

    def accept(self, *, consent: bool = False) -> Outcome:
        """To be returned by `on_message` for a `turn.handoff`: the task is taken; with `consent` also one that was its own before."""
        return Outcome(accept=True, consent=consent)

    def decline(self, reason: str) -> Outcome:
        """To be returned by `on_message` for a `turn.handoff`: the task stays with who offers it."""
        return Outcome(accept=False, summary=reason)

    def fail(self, reason: str, *, permanent: bool = False) -> Outcome:
        """To be returned: it did not work; `permanent` if another try is no use."""
        return failure(reason, permanent=permanent)

    def vote(self, vote_id: str, selection: str | None, confidence: float = 1.0, argument: str = "") -> None:
        """Have a ballot cast when the turn is settled; `selection` None abstains. A request has `voteId` and `options` in its data."""
        _gathered().votes.append(Ballot(vote_id=vote_id, selection=selection, confidence=confidence, argument=argument))

    def decide(self, text: str) -> None:
        """Keep a decision in the agent's context."""
        _gathered().decisions.append(text)

    def remember(self, text: str) -> None:
        """Keep a note in the agent's context."""
        _gathered().notes.append(text)

    def context_used(self, tokens: int, limit: int) -> None:
        """Say how full the session of your own is; at 80 % the next turn comes with `fresh` and begins another one (C5a)."""
        _gathered().context = (tokens, limit)

    def progress(self, text: str) -> None:
        """Say how far it is; returns at once. Counts as life for the idle timeout (K4a)."""
        _gathered().say(text)

    @property
    def cancelled(self) -> bool:
        """Whether the run is to end: a long `def` looks here now and then, and returns."""
        return _gathered().is_cancelled()
