"""What a client sends, as our verbs take it: a message of A2A as a Given, bounds of lists, names of phases. Pure."""

from __future__ import annotations

from typing import Any

from a2a.types.a2a_pb2 import Message, Part, Role, TaskPushNotificationConfig, TaskState
from a2a.utils.errors import InvalidParamsError
from google.protobuf.json_format import MessageToDict

from covey.base.ids import is_id
from covey.exchanges.model import Given, Phase
from covey.exchanges.pushing import Push

PARTS = 200
"""So many parts of one message are taken."""
ID_CHARS = 256
PAGE_MOST = 100
PHASES: dict[int, Phase] = {
    TaskState.TASK_STATE_SUBMITTED: "submitted",
    TaskState.TASK_STATE_WORKING: "working",
    TaskState.TASK_STATE_INPUT_REQUIRED: "input-required",
    TaskState.TASK_STATE_COMPLETED: "completed",
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_CANCELED: "canceled",
}


def refuse(field: str, why: str) -> InvalidParamsError:
    """The error for a field that is not right."""
    return InvalidParamsError(f"{field} {why}", {"code": "invalid", "field": field})


def given_of(message: Message) -> Given:
    """The message as it is given to an agent.

    Raises:
        InvalidParamsError: It is of the wrong form; the data name the field.
    """
    if message.role == Role.ROLE_AGENT:
        raise refuse("message.role", "is ROLE_AGENT; whoever sends to an agent is the user.")
    if not message.message_id or len(message.message_id) > ID_CHARS:
        raise refuse("message.messageId", f"has {len(message.message_id):,} characters; give 1 to {ID_CHARS}.")
    if not message.parts or len(message.parts) > PARTS:
        raise refuse("message.parts", f"are {len(message.parts)}; give 1 to {PARTS}.")
    for field, ident in (("message.contextId", message.context_id), ("message.taskId", message.task_id)):
        if ident and not is_id(ident):
            raise refuse(field, f"is {ident[:60]!r}; an id is 1 to 128 of the characters A-Z a-z 0-9 . _ : -")
    kinds = [part.WhichOneof("content") for part in message.parts]
    if None in kinds:
        raise refuse(f"message.parts[{kinds.index(None)}]", "is empty; give text, data, raw or url.")
    return Given(
        message_id=message.message_id,
        text="\n\n".join(part.text for part in message.parts if part.WhichOneof("content") == "text"),
        outside=_outside(message, kinds),
        thread_id=message.context_id or None,
        task_id=message.task_id or None,
    )


def _outside(message: Message, kinds: list[str | None]) -> dict[str, Any]:
    """What our own message has no place for; the parts only where they are more than one plain text."""
    found: dict[str, Any] = {"messageId": message.message_id}
    if kinds != ["text"] or not _is_plain(message.parts[0]):
        found["parts"] = [MessageToDict(part) for part in message.parts]
    if message.HasField("metadata"):
        found["metadata"] = MessageToDict(message.metadata)
    if message.extensions:
        found["extensions"] = list(message.extensions)
    if message.reference_task_ids:
        found["referenceTaskIds"] = list(message.reference_task_ids)
    return found


def _is_plain(part: Part) -> bool:
    return not (part.HasField("metadata") or part.filename or part.media_type not in ("", "text/plain"))


def push_of(config: TaskPushNotificationConfig, task_id: str, version: str, new_id: str) -> Push:
    """Where news of a task is to be pushed."""
    return Push(
        task_id=task_id,
        id=config.id or new_id,
        url=config.url,
        token=config.token,
        scheme=config.authentication.scheme,
        credentials=config.authentication.credentials,
        version=version,
    )


def history_of(params: Any) -> int | None:
    """How many messages of the history are wanted; None: all.

    Raises:
        InvalidParamsError: It is negative.
    """
    if not params.HasField("history_length"):
        return None
    length: int = params.history_length
    if length < 0:
        raise refuse("historyLength", f"is {length}; give 0 or more.")
    return length


def page_size_of(params: Any, usual: int, most: int = PAGE_MOST) -> int:
    """How much one page is to hold.

    Raises:
        InvalidParamsError: It is below 1 or above what a page holds.
    """
    size: int = params.page_size
    wanted = params.HasField("page_size") if params.DESCRIPTOR.fields_by_name["page_size"].has_presence else size != 0
    if not wanted:
        return usual
    if not 1 <= size <= most:
        raise refuse("pageSize", f"is {size}; give 1 to {most}.")
    return size
