"""What a turn is to an agent of another system, and what its answer is to us. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from a2a.types.a2a_pb2 import Artifact, Message, Part, Role, Task, TaskState
from google.protobuf.json_format import MessageToDict

from covey.base.wire import encode, fit
from covey.brains.model import Outcome, Turn, failure
from covey.messages.checking import BODY_BYTES, DATA_BYTES
from covey.messages.model import draft

TERMINAL = frozenset(
    {TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_REJECTED}
)
PAUSED = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
SUMMARY_BYTES = 200_000
PARTS_BYTES = DATA_BYTES - 4096


def key_of(turn: Turn) -> str:
    """Our id of the work."""
    if turn.task is not None:
        return turn.task.task_id
    assert turn.message is not None
    return turn.message.message.message_id


def message_of(turn: Turn, task_id: str, context_id: str) -> Message:
    """The message for the other agent. Sent again for the same turn it has the same id, so that it can be known for the same."""
    answered = turn.answer.message.message_id if turn.answer is not None else ""
    parts = [Part(text=text_of(turn))]
    if turn.task is not None and turn.task.data and turn.answer is None:
        data = Part()
        data.data.struct_value.update(turn.task.data)
        parts.append(data)
    ident = f"{key_of(turn)}{'-' if answered else ''}{answered}"
    return Message(message_id=ident, role=Role.ROLE_USER, parts=parts, task_id=task_id, context_id=context_id)


def text_of(turn: Turn) -> str:
    """What is asked. A peer's words stay in their envelope (M12): the other agent is a brain too."""
    if turn.answer is not None:
        return turn.answer.enveloped
    if turn.task is not None:
        return turn.task.description
    assert turn.message is not None
    return "\n\n".join([*turn.guidance, turn.message.enveloped])


def outcome_of(task: Task, turn: Turn) -> Outcome | None:
    """What a task of the other agent comes to; None while it goes on."""
    state, said = task.status.state, words_of(task.status.message.parts)
    if state == TaskState.TASK_STATE_COMPLETED:
        return _done(task.artifacts, said)
    if state in (TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_REJECTED):
        word = "rejected it" if state == TaskState.TASK_STATE_REJECTED else "failed"
        return failure(fit(f"the agent {word}: {said or 'it gave no reason'}", 8000), permanent=state == TaskState.TASK_STATE_REJECTED)
    if state == TaskState.TASK_STATE_CANCELED:
        return failure(fit(f"the agent cancelled it{': ' + said if said else ''}", 8000))
    if state == TaskState.TASK_STATE_AUTH_REQUIRED:
        return failure(fit(f"the agent wants an authorisation that nobody here can give: {said}", 8000), permanent=True)
    return _asks(said or "the agent asks for more, without saying what", turn) if state == TaskState.TASK_STATE_INPUT_REQUIRED else None


def _asks(said: str, turn: Turn) -> Outcome:
    """Its question: a task waits for its creator's answer; a message is answered with it, and the next one goes on there."""
    said = fit(said, BODY_BYTES // 2)
    if turn.task is None:
        return Outcome(summary=said)
    return Outcome(kind="waiting", messages=[draft(turn.task.created_by, said, requires_response=True, related_tasks=[turn.task.task_id])])


def answered(message: Message) -> Outcome:
    """What a message alone comes to: the agent made no task of it."""
    return _done([Artifact(parts=message.parts)], "")


def _done(artifacts: Iterable[Artifact], said: str) -> Outcome:
    """Its words as the summary, everything else as data; what is too much is left out and said to be."""
    texts = [said] if said else []
    rest: list[dict[str, Any]] = []
    size = left_out = 0
    for artifact in artifacts:
        texts += [part.text for part in artifact.parts if part.text]
        for part in artifact.parts:
            if part.WhichOneof("content") in (None, "text"):
                continue
            shown = {"artifact": artifact.name or artifact.artifact_id, **MessageToDict(part)}
            size += len(encode(shown))
            if size > PARTS_BYTES:
                left_out += 1
            else:
                rest.append(shown)
    if left_out:
        texts.append(f"({left_out} parts of what the agent made are left out: they are larger than {PARTS_BYTES:,} bytes.)")
    return Outcome(summary=fit("\n\n".join(texts), SUMMARY_BYTES), data={"parts": rest} if rest else {})


def words_of(parts: Iterable[Part]) -> str:
    """The text of some parts."""
    return "\n\n".join(part.text for part in parts if part.text)
