"""The seeds' messages, tasks and agent states read into ours, as others write such a tree, or as our own view does (S4). Stores nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from covey.agents.carrying import CarriedMetrics
from covey.base import wire
from covey.base.errors import CoveyError
from covey.base.ids import is_agent_name
from covey.contexts.carrying import CarriedEntry
from covey.files import foreign, tree
from covey.files.foreign import Faults, Item
from covey.files.ordering import Ordered
from covey.messages.carried import OPEN, CarriedMessage
from covey.messages.model import TASK_LEVEL_S, order_of, priority_of
from covey.tasks.carried import CarriedTask

T = TypeVar("T")

HANDLED = ("handled", "read", "acknowledged", "processed")
"""One of these, if true, says that a message needs nothing more."""
_OF_A_COPY = ("receiver", "state", "attempts", "reason", "deliveredAt", "seenAt", "handledAt", "endedAt", "answeredBy")


class State(NamedTuple):
    """What is taken from one agent's state."""

    file: str
    agent: str
    decisions: list[tuple[Item, CarriedEntry]]
    metrics: CarriedMetrics | None


def converted(kind: type[T], item: Item, value: Any, faults: Faults) -> T | None:
    """The value as this type; None if it is of the wrong form, which is told."""
    try:
        return wire.convert(kind, value)
    except CoveyError as error:
        what = error.message.removesuffix(" Nothing was stored.")
        faults.add(item.file, f"{item.place}{'.' + error.field if error.field else ''}", what)
        return None


def made_id(kind: str, value: Any) -> str:
    """An id for a thing that brings none: by what it says, so that it is the same at each import."""
    text = msgspec.json.encode(value, order="sorted")
    return f"import:{kind}:{hashlib.blake2b(text, digest_size=16).hexdigest()}"


def messages(root: Path, name: str, faults: Faults) -> list[tuple[Item, CarriedMessage]]:
    """The messages of a file, each once; entries for several receivers of one message become its copies."""
    found: dict[str, tuple[Item, CarriedMessage]] = {}
    for item in foreign.items(root, name, faults):
        message = converted(CarriedMessage, item, _message(item.value), faults)
        if message is None:
            continue
        before = found.get(message.message_id)
        if before is None:
            found[message.message_id] = (item, message)
        elif not _add_copies(before[1], message):
            faults.add(name, item.place, f"{message.message_id} stands here twice; the first one was taken.")
    return list(found.values())


def _add_copies(before: CarriedMessage, message: CarriedMessage) -> bool:
    """Whether the entry was the same message for other receivers."""
    there = {copy.receiver for copy in before.copies}
    new = [copy for copy in message.copies if copy.receiver not in there]
    if not new or before.content.body != message.content.body:
        return False
    before.copies.extend(new)
    return True


def _message(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a carried message, from a seed's or from what our view shows."""
    made = {**value, "messageId": value.get("messageId") or made_id("message", value)}
    if isinstance(value.get("receiver"), str):
        return made | {"copies": [_copy_shown(value)]}
    state = value.get("state") or ("handled" if any(value.get(mark) is True for mark in HANDLED) else None)
    receivers = value.get("to")
    names = [receivers] if isinstance(receivers, str) else receivers
    if state is not None and isinstance(names, list) and not any(isinstance(name, str) and name.startswith(("*", "@")) for name in names):
        return made | {"copies": [{"receiver": name, "state": state} for name in names]}
    return made


def _copy_shown(value: dict[str, Any]) -> dict[str, Any]:
    copy = {key: value[key] for key in _OF_A_COPY if value.get(key) is not None}
    content = value.get("content")
    waits = isinstance(content, dict) and content.get("requiresResponse") is True and "answeredBy" not in copy
    if isinstance(content, dict) and waits and copy.get("state") in {*OPEN, "handled"}:
        copy["answerDue"] = content.get("deadline")
    return copy


def tasks(root: Path, now: float, faults: Faults) -> list[Ordered]:
    """The open tasks of all queues and states, each once, the queues in their order."""
    found: dict[str, Ordered] = {}
    for name, values, defaults in _task_lists(root, faults):
        ahead: dict[bool, float] = {}
        for item in values:
            task = converted(CarriedTask, item, _task(item.value, defaults, now), faults)
            if task is None:
                continue
            before = found.get(task.task_id)
            if before is None:
                found[task.task_id] = Ordered(item, task, _place_in_line(task, ahead, own="state" in item.value))
            elif before.item.file == name or before.task.description != task.description:
                faults.add(name, item.place, f"{task.task_id} stands here twice; the first one, in {before.item.file}, was taken.")
    return list(found.values())


def _task_lists(root: Path, faults: Faults) -> list[tuple[str, list[Item], dict[str, Any]]]:
    lists: list[tuple[str, list[Item], dict[str, Any]]] = [
        (tree.URGENT_QUEUE, foreign.items(root, tree.URGENT_QUEUE, faults), {"priority": "urgent"}),
        (tree.GLOBAL_QUEUE, foreign.items(root, tree.GLOBAL_QUEUE, faults), {}),
    ]
    for file in _files_of(root, tree.TASKS, "-tasks.json", faults):
        name = f"{tree.TASKS}/{file}-tasks.json"
        lists.append((name, foreign.items(root, name, faults), {"agent": file}))
    for file in _files_of(root, tree.STATES, ".json", faults):
        name = f"{tree.STATES}/{file}.json"
        lists.append((name, _tasks_of_state(root, name, faults), {"agent": file}))
    return lists


def _tasks_of_state(root: Path, name: str, faults: Faults) -> list[Item]:
    state = foreign.load(root, name, faults)
    if isinstance(state, list):  # what could be saved of a file that is cut off
        return foreign.objects(name, "taskQueue", state, faults)
    if not isinstance(state, dict):
        return []
    queue, current = state.get("taskQueue"), state.get("currentTask")
    found = [Item(name, "currentTask", current)] if isinstance(current, dict) else []
    found = [item for item in found if foreign.is_sound(item, faults)]
    return found + (foreign.objects(name, "taskQueue", queue, faults) if isinstance(queue, list) else [])


def _task(value: dict[str, Any], defaults: dict[str, Any], now: float) -> dict[str, Any]:
    """The fields of a carried task, from a seed's or from what our view shows. What was running starts anew."""
    made = {key: each for key, each in value.items() if each is not None}
    queue = made.get("queue")
    if isinstance(queue, str) and ":" in queue:
        made.setdefault("capability", queue.partition(":")[2])
    elif str(made.get("agent", "")) in ("", "*"):
        made |= {"agent": defaults["agent"]} if "agent" in defaults else {}
    made.setdefault("priority", defaults.get("priority", "medium"))
    made.setdefault("taskId", made_id("task", value))
    made.setdefault("createdBy", made.get("assignedBy", "operator"))
    start, end = made.get("startTime"), made.get("estimatedCompletion")
    made.setdefault("createdAt", start if isinstance(start, int | float) else now)
    if isinstance(start, int | float) and isinstance(end, int | float) and end > start:
        made.setdefault("estimatedSeconds", end - start)
    if made.get("state") == "running" and isinstance(made.get("attempts"), int):
        made["attempts"] -= 1
    return made


def _place_in_line(task: CarriedTask, ahead: dict[bool, float], *, own: bool) -> float:
    """The key that it may not go ahead of: a seed's queue is in its order, ours has keys of its own."""
    if own:
        return 0.0
    try:
        urgent, key = order_of(priority_of(task.priority), task.created_at or 0.0, TASK_LEVEL_S)
    except CoveyError:  # told when it is put in
        return 0.0
    before = ahead.get(bool(urgent), 0.0)
    ahead[bool(urgent)] = max(key, before)
    return before


def states(root: Path, faults: Faults) -> list[State]:
    """What the agent states hold beside tasks. Faults of the files themselves were told with their tasks."""
    found = []
    for file in _files_of(root, tree.STATES, ".json", Faults()):
        name = f"{tree.STATES}/{file}.json"
        state = foreign.load(root, name, Faults())
        if not isinstance(state, dict):
            if state is not None and not isinstance(state, list):
                faults.add(name, "", "it is no object; nothing of it was taken.")
            continue
        agent = state.get("agentId", file)
        if agent != file:
            faults.add(name, "agentId", f"it is {str(agent)[:60]!r}, and the file's name says {file!r}; the name stands.")
        found.append(State(name, file, _decisions(name, file, state.get("context"), faults), _metrics(name, state.get("metrics"), faults)))
    return found


def _decisions(name: str, agent: str, context: Any, faults: Faults) -> list[tuple[Item, CarriedEntry]]:
    if not isinstance(context, dict):
        if context is not None:
            faults.add(name, "context", "it is no object; nothing of it was taken.")
        return []
    values = context.get("recentDecisions", [])
    if not isinstance(values, list):
        faults.add(name, "context.recentDecisions", "it is no list; nothing of it was taken.")
        return []
    found = []
    for index, value in enumerate(values):
        item = Item(name, f"context.recentDecisions[{index}]", {"text": value} if isinstance(value, str) else value)
        if foreign.is_sound(item, faults) and (entry := converted(CarriedEntry, item, _decision(agent, item.value), faults)) is not None:
            found.append((item, entry))
    return found[::-1]


def _decision(agent: str, value: dict[str, Any]) -> dict[str, Any]:
    text = next((value[key] for key in ("text", "decision", "summary", "description") if key in value), None)
    at = next((value[key] for key in ("at", "timestamp", "time") if key in value), None)
    return {"id": value.get("id") or made_id("decision", [agent, value]), "agent": agent, "kind": "decision", "text": text, "at": at}


def _metrics(name: str, value: Any, faults: Faults) -> CarriedMetrics | None:
    item = Item(name, "metrics", value)
    if value is None or not foreign.is_sound(item, faults):
        return None
    return converted(CarriedMetrics, item, {key: each for key, each in value.items() if each is not None}, faults)


def _files_of(root: Path, folder: str, ending: str, faults: Faults) -> list[str]:
    """Whose files lie in a folder, in the order of their names."""
    try:
        names = sorted(path.name for path in (root / folder).iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        faults.add(folder, "", f"it can't be read ({error.strerror}).")
        return []
    found = [name.removesuffix(ending) for name in names if name.endswith(ending) and not name.startswith(".")]
    for name in found:
        if not is_agent_name(name):
            faults.add(f"{folder}/{name}{ending}", "", "no agent can be called so: it was left out.")
    return [name for name in found if is_agent_name(name)]
