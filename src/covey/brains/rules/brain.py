"""The rules brain: real work of the fleet without a model. What it can't do it says plainly; it invents nothing (DESIGN, Brains)."""

from __future__ import annotations

import re
from pathlib import Path

from covey.agents.model import OPERATOR, SYSTEM, THE_OPERATOR, Caller, as_agent
from covey.base.settings import AgentSettings
from covey.brains.model import Asked, Hands, Outcome, Turn, asked_for_vote, failure
from covey.brains.rules import questions
from covey.brains.rules.desk import Desk, Findings, Tell, fitted
from covey.brains.rules.doable import recognised
from covey.brains.rules.words import FILLER, hear, roots
from covey.messages.model import Draft, Message, draft
from covey.reports.phrases import count, head, listed
from covey.tasks.model import PLANNED, Task

_COURTESY = roots(
    """thanks thank thx ty cheers ok okay great noted understood got it received ack acknowledged roger perfect nice welcome sure fine cool
    agreed appreciated much"""
)
_ASKS = frozenset({"question", "request", "task"})
_CAN_NOT_JUDGE = (
    "The rules brain can't judge, so it casts no ballot. Until the vote ends a person may: `covey vote cast {vote} OPTION --from {agent}`."
)
_QUESTION = re.compile(r"\?\s*$")


class RulesBrain:
    """One agent's rules brain. `data_dir` is the fleet's, for reports on its disk and files; by default `.covey` in the root."""

    kind = "rules"

    def __init__(self, settings: AgentSettings, data_dir: Path | None = None) -> None:
        self._settings = settings
        self._data_dir = data_dir or Path(settings.cwd or ".") / ".covey"

    def can(self, description: str) -> bool:
        """Whether it would really do a task of this description (P1)."""
        return recognised(description) is not None

    async def close(self) -> None:
        """It holds nothing."""

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """The outcome of one turn: a report, an answer, a note taken, or a plain word that it can't."""
        if turn.kind == "task" and turn.task is not None:
            return await self._do(turn, turn.task, hands)
        if turn.kind == "message" and turn.message is not None:
            return await self._handle(turn, turn.message.message, hands)
        if turn.kind == "digest":
            return Outcome(summary=_noted(turn.also))
        return failure(
            "the rules brain can't split a task; give its agent a `python`, `command` or `model` brain for that.", permanent=True
        )

    async def _do(self, turn: Turn, task: Task, hands: Hands) -> Outcome:
        doable = recognised(task.description, self._names(turn))
        if doable is None:
            return failure(self._cannot(task.description), permanent=True)
        found = await doable.report(self._desk(turn, task.description, hands))
        outcome = _outcome(found)
        outcome.messages = _told(found, task, turn)
        return outcome

    async def _handle(self, turn: Turn, message: Message, hands: Hands) -> Outcome:
        vote_id = asked_for_vote(message)
        if vote_id is not None:
            return Outcome(summary=_CAN_NOT_JUDGE.format(vote=vote_id, agent=turn.agent))
        text = f"{message.content['subject']}\n{message.body}".strip()
        if not _wants_answer(message, text):
            return Outcome(summary=_noted([turn.message, *turn.also] if turn.message else turn.also))
        if _is_courtesy(text):
            return Outcome(summary="You're welcome.")
        asker = THE_OPERATOR if message.from_ == OPERATOR else as_agent(message.from_)
        found = await questions.answer(self._desk(turn, text, hands, asker))
        if found is None:
            found = Findings(f"I can't answer that or do that: “{head(text, 200)}”. {questions.what_it_can(turn.agent)}", {})
        return _replied(found, message)

    def _desk(self, turn: Turn, text: str, hands: Hands, asker: Caller | None = None) -> Desk:
        return Desk(
            agent=turn.agent,
            role=turn.role,
            settings=self._settings,
            data_dir=self._data_dir,
            hands=hands,
            now=turn.now,
            text=text,
            names=self._names(turn),
            asker=asker,
        )

    def _names(self, turn: Turn) -> tuple[str, ...]:
        return (turn.agent, *(str(each["id"]) for each in turn.colleagues))

    def _cannot(self, description: str) -> str:
        name = self._settings.id
        return (
            f"The rules brain can't do this: “{head(description, 200)}”. It can't write code, or texts for the outside, or do anything"
            f" else that needs judgement; give this agent a `python`, `command` or `model` brain (covey.toml, [agents.{name}] brain = …)."
            f" {questions.what_it_can(name)}"
        )


def _wants_answer(message: Message, text: str) -> bool:
    """Whether somebody waits for words: asked for, by the type that asks, or by the operator's question mark."""
    if message.from_ == SYSTEM:
        return False
    return message.requires_response or message.type in _ASKS or (message.from_ == OPERATOR and _QUESTION.search(text) is not None)


def _is_courtesy(text: str) -> bool:
    """Whether it says thanks and nothing else."""
    heard = hear(text)
    return not _QUESTION.search(text) and bool(heard.words & _COURTESY) and heard.words <= _COURTESY | FILLER


def _replied(found: Findings, message: Message) -> Outcome:
    """The findings as the reply: the runner sends it where one was asked for, else it goes as a message of its own."""
    outcome = _outcome(found)
    if not message.requires_response and not _is_courtesy(message.body):
        reply = draft(message.from_, found.text, subject="", in_reply_to=message.message_id, data=outcome.data)
        outcome.messages = [reply]
    return outcome


def _told(found: Findings, task: Task, turn: Turn) -> list[Draft]:
    """The findings as mail: to whom they are meant for, and to the partner that a planned task names. A newer one replaces them (P3a)."""
    planned = task.origin == "generated" and task.created_by == SYSTEM and task.schedule is None
    partner = task.data.get(PLANNED, {}).get("with") if planned else None
    colleagues = {str(each["id"]) for each in turn.colleagues}
    theirs = [Tell(partner, head(task.description, 200))] if partner in colleagues else []
    thread = task.dedupe_key if planned else None
    return [
        draft(each.to, found.text, subject=each.subject, type="update", thread_id=thread, related_tasks=[task.task_id])
        for each in (*found.tell, *theirs)
    ]


def _outcome(found: Findings) -> Outcome:
    return Outcome(summary=found.text, data=fitted(found.data), decisions=list(found.decisions))


def _noted(mail: list[Asked]) -> str:
    """That mail was taken note of, and from whom."""
    said = [f"{each.message.from_} (“{head(each.message.content['subject'] or each.message.body, 80)}”)" for each in mail]
    return f"Noted {count(len(mail), 'message')}: {listed(said)}." if mail else "There was nothing to note."
