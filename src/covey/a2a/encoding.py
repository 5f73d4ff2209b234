"""Our exchanges as A2A shows them: tasks, messages, artifacts, steps, places to push to. Pure."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import msgspec
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import ParseDict, ParseError

from covey.a2a.decoding import PHASES
from covey.exchanges.model import OUTSIDE, Exchange, News
from covey.exchanges.pushing import Push
from covey.messages.model import Message as Ours
from covey.tasks.model import Task as OurTask

log = logging.getLogger("covey.a2a")

Step = TaskStatusUpdateEvent | TaskArtifactUpdateEvent
STATES: dict[str, int] = {phase: state for state, phase in PHASES.items()}
TERMINAL = frozenset({"completed", "failed", "canceled"})
ARTIFACTS = 100


def task_of(found: Exchange) -> Task:
    """The task with its status, artifacts and history."""
    ident, context = found.task.task_id, found.thread_id
    said = _told(found.task) if found.phase == "completed" else found.said
    status = _status(found.phase, said, found.changed_at, ident, context)
    return Task(
        id=ident,
        context_id=context,
        status=status,
        artifacts=artifacts_of(found.task),
        history=[message_of(each, found) for each in found.history],
    )


def _status(phase: str, said: str, at: float, task_id: str, context_id: str) -> TaskStatus:
    status = TaskStatus(state=STATES[phase])  # type: ignore[arg-type]  # the numbers are its own
    status.timestamp.FromMicroseconds(int(at * 1e6))
    if said:
        status.message.CopyFrom(_words(said, f"{task_id}-{phase}-{at:.6f}", task_id, context_id))
    return status


def _words(text: str, ident: str, task_id: str, context_id: str) -> Message:
    return Message(message_id=ident, task_id=task_id, context_id=context_id, role=Role.ROLE_AGENT, parts=[Part(text=text)])


def message_of(ours: Ours, found: Exchange) -> Message:
    """One message of the history: its giver's as it came, the agent's as we have it."""
    outside = ours.content.get("data", {}).get(OUTSIDE, {})
    mine = ours.from_ == found.caller
    shown = Message(
        message_id=str(outside.get("messageId") or ours.message_id) if mine else ours.message_id,
        task_id=found.task.task_id,
        context_id=found.thread_id,
        role=Role.ROLE_USER if mine else Role.ROLE_AGENT,
        parts=parts_of(outside.get("parts")) or [Part(text=ours.body)],
    )
    if "metadata" in outside:
        shown.metadata.update(outside["metadata"])
    shown.extensions.extend(outside.get("extensions", []))
    shown.reference_task_ids.extend(outside.get("referenceTaskIds", []))
    return shown


def parts_of(given: Any) -> list[Part]:
    """The parts that stand in data; what is no part is left out and logged, since it is a brain's fault."""
    found = []
    for each in given if isinstance(given, list) else ():
        try:
            found.append(ParseDict(each, Part()))
        except (ParseError, TypeError, ValueError, AttributeError) as error:
            log.warning("a brain's part is none of A2A: %s", error)
    return [part for part in found if part.WhichOneof("content") is not None]


def artifacts_of(task: OurTask) -> list[Artifact]:
    """What a completed task has produced: the artifacts that its brain names, else its summary and data as one."""
    if task.state != "done" or not isinstance(task.result, dict):
        return []
    data = dict(task.result.get("data") or {})
    named = data.pop(OUTSIDE, None)
    found = list(_named(task, named.get("artifacts") if isinstance(named, dict) else None))
    parts = [Part(text=task.result["summary"])] if task.result.get("summary") and not found else []
    if data:
        part = Part()
        part.data.struct_value.update(msgspec.json.decode(msgspec.json.encode(data)))
        parts.append(part)
    if parts and not _as_message(task):
        found.insert(0, Artifact(artifact_id=f"{task.task_id}-result", name="result", parts=parts))
    return found


def _named(task: OurTask, given: Any) -> Iterator[Artifact]:
    for number, each in enumerate(given[:ARTIFACTS] if isinstance(given, list) else ()):
        parts = parts_of(each.get("parts")) if isinstance(each, dict) else []
        if parts:
            ident = str(each.get("artifactId") or f"{task.task_id}-{number + 1}")
            yield Artifact(artifact_id=ident, name=str(each.get("name", "")), description=str(each.get("description", "")), parts=parts)


def _told(task: OurTask) -> str:
    """What is said beside the artifacts: the summary, where the brain named artifacts of its own."""
    result = task.result if isinstance(task.result, dict) else {}
    named = (result.get("data") or {}).get(OUTSIDE)
    return str(result.get("summary") or "") if isinstance(named, dict) and named.get("artifacts") else ""


def _as_message(task: OurTask) -> bool:
    result = task.result if isinstance(task.result, dict) else {}
    named = (result.get("data") or {}).get(OUTSIDE)
    return isinstance(named, dict) and named.get("message") is True


def answer_of(found: Exchange) -> Task | Message:
    """What a call that waited gets: the task, or a message alone where the brain says that this is all it comes to."""
    if found.phase == "completed" and _as_message(found.task):
        text = str(found.task.result.get("summary") or "")
        return Message(
            message_id=f"{found.task.task_id}-message", context_id=found.thread_id, role=Role.ROLE_AGENT, parts=[Part(text=text)]
        )
    return task_of(found)


def steps_of(step: News, task_id: str, context_id: str) -> list[Step]:
    """What a stream says of one step: the artifacts of a completed task each, then the status."""
    said = _told(step.done) if step.done is not None else step.said
    status = _status(step.phase, said, step.at, task_id, context_id)
    told: list[Step] = [
        TaskArtifactUpdateEvent(task_id=task_id, context_id=context_id, artifact=artifact, last_chunk=True)
        for artifact in (artifacts_of(step.done) if step.done is not None else ())
    ]
    return [*told, TaskStatusUpdateEvent(task_id=task_id, context_id=context_id, status=status)]


def config_of(push: Push) -> TaskPushNotificationConfig:
    """A place to push to; its credentials are told to nobody again."""
    config = TaskPushNotificationConfig(id=push.id, task_id=push.task_id, url=push.url, token=push.token)
    if push.scheme:
        config.authentication.scheme = push.scheme
    return config
