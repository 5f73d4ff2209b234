"""What a model may do in one turn and go on. The docstrings of the tools are what the model reads.

Nothing is sent or made while it thinks: all is gathered, and happens once, in the transaction that settles the turn (M3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic_ai import ModelRetry

from covey.base.ids import is_id
from covey.base.wire import fit
from covey.brains.agent import Gathered
from covey.brains.model import Hands, Turn
from covey.brains.models.choices import Choices, fits, known
from covey.brains.prompting import fenced
from covey.contexts import recalling
from covey.messages.checking import check as check_message
from covey.messages.model import draft
from covey.tasks.model import TaskDraft
from covey.tasks.model import check as check_task

Priority = Literal["low", "medium", "high", "urgent"]
MOST = 50
"""So many messages, and so many tasks, one turn of a model makes."""
RECALLED = 10
RECALLED_BYTES = 8000


class Doing:
    """The tools that a turn goes on after, and what was done with them."""

    def __init__(self, turn: Turn, choices: Choices, hands: Hands, say: Callable[[str], None]) -> None:
        self._turn = turn
        self._choices = choices
        self._hands = hands
        self._say = say
        self.gathered = Gathered(say, lambda: False)

    def tools(self) -> list[Callable[..., Any]]:
        """Those of this kind of turn."""
        if self._turn.kind in ("split", "summary"):
            return []
        return [self.send_message, self.add_task, self.decide, self.note, self.recall]

    def send_message(self, to: str, text: str, subject: str = "", priority: Priority = "medium", reply_to: str | None = None) -> str:
        """Send a message to a colleague or to the operator, once your turn is over. Your answer to what you were asked goes out by itself.

        Args:
            to: Who gets it.
            text: What it says. It must stand for itself.
            subject: A few words.
            priority: How pressing it is; most is medium.
            reply_to: The id of the message that this answers, if it is another than the one you handle.
        """
        message = draft(known(to, self._choices.receivers), text, subject=subject, priority=priority, in_reply_to=reply_to)
        fits(lambda: check_message(message))
        self._room(len(self.gathered.messages), "messages")
        self.gathered.messages.append(message)
        self._say(f"writes to {to}")
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
            agent=known(to, self._choices.workers),
            priority=priority,
            task_id=self._task_id(name) if name else None,
            dependencies=[self._task_named(each) for each in after or []],
        )
        fits(lambda: check_task(made))
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

    def _room(self, count: int, what: str) -> None:
        if count >= MOST:
            raise ModelRetry(f"one turn makes at most {MOST} {what}; end your turn.")

    def _task_id(self, name: str) -> str:
        """The id of a task of this turn, the same at another try of the run and never another's."""
        ident = f"{self._turn.run_id}.{name}"
        if not is_id(ident):
            raise ModelRetry(f"the name {name[:100]!r} is not taken; use a few letters, digits, _ and -.")
        return ident

    def _task_named(self, name: str) -> str:
        own = f"{self._turn.run_id}.{name}"
        return own if any(each.task_id == own for each in self.gathered.tasks) else name
