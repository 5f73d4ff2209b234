"""What a model may do in one turn. Its docstrings are what the model reads.

Nothing is sent or made while the model thinks: it is gathered, and happens once, in the transaction that settles the turn (M3). What
is wrong is told to the model at once, so that it can correct itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from pydantic_ai import ModelRetry
from pydantic_ai.tools import ToolDefinition

from covey.agents.model import OPERATOR
from covey.base.errors import CoveyError
from covey.base.ids import is_id
from covey.base.wire import fit
from covey.brains.agent import Gathered
from covey.brains.model import Ballot, Hands, Outcome, Parcel, Passed, Turn, asked_for_vote, failure
from covey.brains.prompting import fenced
from covey.contexts import recalling
from covey.messages.checking import check as check_message
from covey.messages.model import Draft, draft
from covey.tasks.model import TaskDraft
from covey.tasks.model import check as check_task

Priority = Literal["low", "medium", "high", "urgent"]
T = TypeVar("T")
MOST = 50
"""So many messages, and so many tasks, one turn of a model makes."""
NAMED = 200
"""So many names at most stand in a tool's schema; of a larger fleet none do, and a wrong name is refused when it is used."""
RECALLED = 10
RECALLED_BYTES = 8000


class Tools:
    """The tools of one turn, and what was done with them."""

    def __init__(self, turn: Turn, hands: Hands, say: Callable[[str], None]) -> None:
        self._turn = turn
        self._hands = hands
        self._say = say
        self._names = [str(each["id"]) for each in turn.colleagues]
        able = sorted({f"@{word}" for each in turn.colleagues for word in each.get("capabilities") or ()})
        self._receivers = [*self._names, OPERATOR]
        self._others = [*self._names, *able]
        self._workers = [turn.agent, *self._others]
        self.gathered = Gathered(say, lambda: False)
        self.ended: Outcome | None = None
        """What it ended its turn with, if not with plain text."""

    def doing(self) -> list[Callable[..., Any]]:
        """What it may do and go on."""
        if self._turn.kind in ("split", "summary"):
            return []
        return [self.send_message, self.add_task, self.decide, self.note, self.recall]

    def ending(self) -> list[Callable[..., str]]:
        """What it may end its turn with, beside plain text."""
        turn = self._turn
        if turn.kind == "split":
            return [self.split, self.fail]
        if turn.kind == "task":
            return [self.ask, self.split, self.hand_over, self.fail]
        if turn.message is not None and asked_for_vote(turn.message.message) is not None:
            return [self.vote]
        return [self.accept, self.decline] if turn.kind == "message" and turn.handoff is not None else []

    def named(self, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        """The tools with the names that may be given, so that a model invents none."""
        return [
            dataclasses.replace(tool, parameters_json_schema=self._with_names(tool.name, tool.parameters_json_schema)) for tool in tools
        ]

    def _with_names(self, tool: str, schema: dict[str, Any]) -> dict[str, Any]:
        to = {"add_task": self._workers, "hand_over": self._others}.get(tool, self._receivers)
        choices = {"to": to, "selection": self._options()}
        fields = schema.get("properties", {})
        found = {name: {**fields[name], "enum": choices[name]} for name in choices if name in fields and 0 < len(choices[name]) <= NAMED}
        return {**schema, "properties": {**fields, **found}}

    def _options(self) -> list[str]:
        """The options of the vote that it is asked for."""
        message = self._turn.message
        options = message.message.content.get("data", {}).get("options") if message is not None else None
        return [each for each in options if isinstance(each, str)] if isinstance(options, list) else []

    # what it may do and go on

    def send_message(self, to: str, text: str, subject: str = "", priority: Priority = "medium", reply_to: str | None = None) -> str:
        """Send a message to a colleague or to the operator, once your turn is over. Your answer to what you were asked goes out by itself.

        Args:
            to: Who gets it.
            text: What it says. It must stand for itself.
            subject: A few words.
            priority: How pressing it is; most is medium.
            reply_to: The id of the message that this answers, if it is another than the one you handle.
        """
        self._send(self._known(to, self._receivers), text, subject=subject, priority=priority, in_reply_to=reply_to)
        return f"It goes to {to} when your turn is over."

    def add_task(
        self, description: str, to: str, priority: Priority = "medium", name: str | None = None, after: list[str] | None = None
    ) -> str:
        """Give a task to a colleague, to whoever has a capability (`@capability`), or to yourself for later, once your turn is over.

        Args:
            description: What is to be done. It must stand for itself.
            to: Who does it.
            priority: How pressing it is; most is medium.
            name: A short name for it, so that a later task of yours can wait for it.
            after: The names of your tasks, or ids of others, that must be done before.
        """
        made = TaskDraft(
            description=description,
            agent=self._known(to, self._workers),
            priority=priority,
            task_id=self._task_id(name) if name else None,
            dependencies=[self._task_named(each) for each in after or []],
        )
        self._fits(lambda: check_task(made))
        self._room(len(self.gathered.tasks), "tasks")
        self.gathered.tasks.append(made)
        self._say(f"gives a task to {to}")
        return "It is made when your turn is over."

    def decide(self, decision: str) -> str:
        """Keep a decision in your memory, in one sentence."""
        self._room(len(self.gathered.decisions), "decisions")
        self.gathered.decisions.append(decision)
        return "Kept."

    def note(self, text: str) -> str:
        """Keep a note in your memory: a fact that a later turn of yours will need."""
        self._room(len(self.gathered.notes), "notes")
        self.gathered.notes.append(text)
        return "Kept."

    async def recall(self, words: str) -> str:
        """Look in your archive for what you no longer remember: entries with all these words, newest first."""
        found = await self._hands.read(recalling.recall, self._turn.agent, text=words, limit=RECALLED)
        if not found.items:
            return "There is nothing with all these words; fewer words find more."
        text = "\n".join(f"[{each.kind} {each.id}] {each.text}" for each in found.items)
        return fenced("context", fit(text, RECALLED_BYTES))

    # what it may end its turn with

    def ask(self, to: str, question: str) -> str:
        """Ask a colleague something that you can't do this task without. The task waits; you go on with it once the answer is there.

        Args:
            to: Whom you ask.
            question: What you need to know. It must stand for itself.
        """
        self._known(to, self._receivers)
        asked = draft(to, question, requires_response=True)
        self._fits(lambda: check_message(asked))
        return self._end(Outcome(kind="waiting", messages=[asked]))

    def split(self, parts: list[str]) -> str:
        """Have the task done in parts, which stand for it: it is done when they are.

        Args:
            parts: What is to be done, part by part. Each must stand for itself, and together they must do the whole.
        """
        tasks = [TaskDraft(description=part) for part in parts]
        for task in tasks:
            self._fits(partial(check_task, task))
        if not 1 <= len(tasks) <= MOST:
            raise ModelRetry(f"give 1 to {MOST} parts, not {len(tasks)}.")
        return self._end(Outcome(kind="split", tasks=tasks))

    def hand_over(self, to: str, reason: str, notes: list[str] | None = None) -> str:
        """Offer the task to a colleague who can do it better. If nobody takes it, it comes back to you.

        Args:
            to: A colleague, or `@capability`.
            reason: Why you don't do it yourself.
            notes: What whoever takes it must know.
        """
        self._known(to, self._others)
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
        self._known(selection, self._options(), what="option")
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

    # how it is held to what there is

    def _end(self, outcome: Outcome) -> str:
        self.ended = outcome
        return "Your turn is over."

    def _send(self, to: str, text: str, **fields: Any) -> None:
        message: Draft = draft(to, text, **fields)
        self._fits(lambda: check_message(message))
        self._room(len(self.gathered.messages), "messages")
        self.gathered.messages.append(message)
        self._say(f"writes to {to}")

    def _known(self, name: str, names: Sequence[str], what: str = "colleague") -> str:
        if name not in names:
            raise ModelRetry(f"there is no {what} {name[:100]!r}; there are: {', '.join(names[:NAMED])}.")
        return name

    def _room(self, count: int, what: str) -> None:
        if count >= MOST:
            raise ModelRetry(f"one turn makes at most {MOST} {what}; end your turn.")

    def _fits(self, checked: Callable[[], T]) -> T:
        try:
            return checked()
        except CoveyError as error:
            raise ModelRetry(error.message) from error

    def _task_id(self, name: str) -> str:
        """The id of a task of this turn, the same at another try of the run and never another's."""
        ident = f"{self._turn.run_id}.{name}"
        if not is_id(ident):
            raise ModelRetry(f"the name {name[:100]!r} is not taken; use a few letters, digits, _ and -.")
        return ident

    def _task_named(self, name: str) -> str:
        own = f"{self._turn.run_id}.{name}"
        return own if any(each.task_id == own for each in self.gathered.tasks) else name
