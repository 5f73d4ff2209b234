"""For tests of your own: a brain that answers by a script, without a model, and turns to call brains with.

    # brain.py
    from covey.testing import Script, crash, fail, say

    think = Script(
        say("42", when="the answer"),
        fail("the site is down", when="fetch", attempts=2),  # the first two tries
        crash(when="poison", attempts=1),                    # its process dies of the first try
        say("$agent did: $text"),
    )

and in covey.toml `brain = "brain:think"`. It must not be imported by the fleet itself.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import msgspec

from covey.brains.model import Asked, Ballot, Hands, Outcome, Parcel, Passed, Turn, TurnKind, asked_for_vote, failure
from covey.messages.envelope import enveloped
from covey.messages.model import Message
from covey.tasks.model import Task, TaskDraft

__all__ = [
    "Call",
    "Line",
    "Script",
    "accept",
    "answer",
    "crash",
    "decline",
    "fail",
    "hand_over",
    "message_turn",
    "plan",
    "say",
    "task_turn",
    "vote",
]


_OFFERED = "offers you the task"
"""What the mail says that offers a task."""


class Line(NamedTuple):
    """One line of a script: what is answered, and to what."""

    outcome: Outcome | None
    """None: the process that the brain runs in is killed."""
    when: str = ""
    """A regular expression that is looked for in the task's description or the message's body, whatever its case; empty: any text."""
    agent: str | None = None
    kind: TurnKind | None = None
    attempts: int | None = None
    """Only for so many first tries of a thing; this holds over restarts."""
    times: int | None = None
    """Only so many times, counted by one process."""
    after_s: float = 0.0
    """It takes so long."""


class Call(msgspec.Struct, rename="camel"):
    """One turn that a script was asked for."""

    agent: str
    kind: str
    item: str
    """The id of the task or message; empty for a digest."""
    text: str
    attempt: int
    run_id: str
    vote_id: str = ""
    """The vote that it asks for a ballot in."""


def answer(outcome: Outcome, **when: Any) -> Line:
    """A line that answers with a whole outcome. `when` are the fields of `Line`; so for all others."""
    return Line(outcome, **when)


def say(text: str = "", *, data: dict[str, Any] | None = None, **when: Any) -> Line:
    """A line that is done with this text; $agent, $text, $item and $attempt stand for those of the turn."""
    return Line(Outcome(summary=text, data=data or {}), **when)


def fail(error: str = "the script says so", *, permanent: bool = False, **when: Any) -> Line:
    """A line that fails."""
    return Line(failure(error, permanent=permanent), **when)


def plan(*parts: str | TaskDraft, **when: Any) -> Line:
    """A line that splits a task, or plans a team run, into these parts."""
    return Line(Outcome(kind="split", tasks=[TaskDraft(description=part) if isinstance(part, str) else part for part in parts]), **when)


def vote(selection: str | None, confidence: float = 1.0, argument: str = "", **when: Any) -> Line:
    """A line that casts a ballot in the vote that the turn asks for one in; None abstains."""
    ballot = Ballot(vote_id="", selection=selection, confidence=confidence, argument=argument)
    return Line(Outcome(votes=[ballot]), **{"when": "asks for your vote|decides it"} | when)


def hand_over(to: str, reason: str = "", *, state: dict[str, Any] | None = None, notes: Sequence[str] = (), **when: Any) -> Line:
    """A line that offers the task to another agent, or to the best of a `@capability`."""
    parcel = Parcel(to=to, reason=reason, task_state=state or {}, context=[Passed(text=note) for note in notes])
    return Line(Outcome(kind="handoff", handoff=parcel), **{"kind": "task"} | when)


def accept(*, consent: bool = False, **when: Any) -> Line:
    """A line that takes a task that is offered; with `consent` also one that was the agent's own before."""
    return Line(Outcome(accept=True, consent=consent), **{"when": _OFFERED} | when)


def decline(reason: str, **when: Any) -> Line:
    """A line that takes no task that is offered."""
    return Line(Outcome(accept=False, summary=reason), **{"when": _OFFERED} | when)


def crash(**when: Any) -> Line:
    """A line that kills the process in which the brain runs, as `kill -9` does. Bound it by `attempts`."""
    return Line(None, **when)


class Script:
    """A brain that answers each turn by the first line that fits it. `calls` are the turns of this process, oldest first.

    `log`: a file to which each turn is appended as a JSON line before it is answered, which outlives the process.
    """

    def __init__(self, *lines: Line, log: str | Path | None = None) -> None:
        self.calls: list[Call] = []
        self._lines = lines
        self._used = [0] * len(lines)
        self._log = Path(log) if log is not None else None

    async def __call__(self, turn: Turn, hands: Hands | None = None) -> Outcome:  # noqa: ARG002 - the contract's
        """The outcome of a turn; a permanent failure if no line fits."""
        call = call_of(turn)
        self.calls.append(call)
        if self._log is not None:
            _append(self._log, call)
        for place, line in enumerate(self._lines):
            if self._fits(place, line, call):
                self._used[place] += 1
                await asyncio.sleep(line.after_s)
                return _said(line, call)
        heads = ", ".join(repr(line.when or "anything") for line in self._lines) or "none"
        return failure(f"the script has no line for {call.text[:100]!r} of {call.agent}; it has lines for: {heads}.", permanent=True)

    def _fits(self, place: int, line: Line, call: Call) -> bool:
        return (
            line.agent in (None, call.agent)
            and line.kind in (None, call.kind)
            and (line.attempts is None or call.attempt <= line.attempts)
            and (line.times is None or self._used[place] < line.times)
            and re.search(line.when, call.text, re.IGNORECASE) is not None
        )


def call_of(turn: Turn) -> Call:
    """What a turn asks, in short. Pure."""
    if turn.task is not None:
        return Call(turn.agent, turn.kind, turn.task.task_id, turn.task.description, turn.attempt, turn.run_id)
    message = turn.message.message if turn.message is not None else None
    item, text = (message.message_id, message.body) if message is not None else ("", "")
    vote_id = asked_for_vote(message) if message is not None else None
    return Call(turn.agent, turn.kind, item, text, turn.attempt, turn.run_id, vote_id or "")


def read_log(path: str | Path) -> list[Call]:
    """The turns that scripts appended to a log, oldest first."""
    return [msgspec.json.decode(line, type=Call) for line in Path(path).read_bytes().splitlines()]


def _append(path: Path, call: Call) -> None:
    line = msgspec.json.encode(call) + b"\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line)
    finally:
        os.close(file)


def _said(line: Line, call: Call) -> Outcome:
    if line.outcome is None:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a killed process goes on")
    words = {"agent": call.agent, "text": call.text, "item": call.item, "attempt": str(call.attempt)}
    votes = [msgspec.structs.replace(each, vote_id=each.vote_id or call.vote_id) for each in line.outcome.votes]
    return msgspec.structs.replace(line.outcome, summary=Template(line.outcome.summary).safe_substitute(words), votes=votes)


def task_turn(
    description: str, *, agent: str = "coder", attempt: int = 1, data: dict[str, Any] | None = None, task_id: str = "task_1"
) -> Turn:
    """A turn that asks an agent to do a task: to call a brain of your own with."""
    task = Task(
        task_id=task_id,
        description=description,
        state="running",
        priority="medium",
        queue=agent,
        created_by="operator",
        created_at=0.0,
        assigned_by="operator",
        agent=agent,
        origin="operator",
        estimated_seconds=60.0,
        attempts=attempt,
        data=data or {},
    )
    return Turn(run_id="run_1", kind="task", agent=agent, role="", attempt=attempt, max_attempts=3, now=0.0, task=task)


def message_turn(body: str, *, agent: str = "coder", sender: str = "operator", attempt: int = 1, also: Sequence[Asked] = ()) -> Turn:
    """A turn that asks an agent to answer a message."""
    asked = _asked(body, agent, sender)
    return Turn(
        run_id="run_1", kind="message", agent=agent, role="", attempt=attempt, max_attempts=5, now=0.0, message=asked, also=list(also)
    )


def _asked(body: str, agent: str, sender: str) -> Asked:
    message = Message(
        message_id="msg_1",
        from_=sender,
        to=agent,
        type="question",
        priority="medium",
        timestamp=0.0,
        content={"subject": "", "body": body, "data": {}, "requiresResponse": True, "deadline": None},
        context={"threadId": f"dm:{agent}:{sender}", "projectId": None, "relatedTasks": []},
        receiver=agent,
        state="seen",
    )
    return Asked(message=message, enveloped=enveloped(message))
