"""Changes to a covey.toml by what they mean: projects, agents, single keys. Text in, text out; `rewrite` takes them to the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from covey.base.config.load import load_text
from covey.base.config.show import describe
from covey.base.config.surgery import Document
from covey.base.errors import ChangedMeanwhile, Failed
from covey.base.replacing import replace, turn
from covey.base.settings import Settings

_ANYWHERE = Path("/")
_WRITTEN = ("role", "port", "buddy", "capabilities", "brain")


def add_project(text: str, name: str, path: str, agents: Sequence[str] = ()) -> str:
    """The text with the project in it; one of that name gets the path and the agents (A1b)."""
    document = Document(text)
    values = {"path": path} | ({"agents": list(agents)} if agents else {})
    if name not in document.data.get("projects", {}):
        document.put(("projects", name), values)
    else:
        for key, value in values.items():
            document.put(("projects", name, key), value)
    return document.text()


def remove_project(text: str, name: str) -> str:
    """The text without the project.

    Raises:
        NotFound: The file has no such project.
    """
    return set_key(text, ("projects", name), None)


def set_agent(text: str, name: str, values: Mapping[str, object]) -> str:
    """The text with these keys of the agent; None takes a key away. An agent that is not there is added, at the end.

    In a file without agents the default eight are written out first: `[agents]` is always the whole fleet (A2).
    """
    document = _with_agents(text)
    agent = document.data["agents"].get(name)
    if agent is None:
        document.put(("agents", name), {key: value for key, value in values.items() if value is not None})
        return document.text()
    for key, value in values.items():
        if value is not None:
            document.put(("agents", name, key), value)
        elif key in agent:
            document.take(("agents", name, key))
    return document.text()


def remove_agent(text: str, name: str, heir: str = "") -> str:
    """The text without the agent. What named it names the heir; without one, its places as lead, deputy, buddy and in projects go.

    The others keep their ports, also those that were counted. A schedule that names it stays as it is without an heir, and the
    file is then refused: who does that work has to be said.

    Raises:
        NotFound: The file has no such agent.
    """
    document = _with_agents(text)
    ports = {agent.id: agent.port for agent in load_text(text, root=_ANYWHERE).agents}
    document.take(("agents", name))
    _hand_over(document, name, heir)
    counted = [agent for agent, draft in document.data["agents"].items() if "port" not in draft]
    document.put_each((("agents", agent, "port"), ports[agent]) for agent in counted)
    return document.text()


def set_key(text: str, path: Sequence[str], value: object | None) -> str:
    """The text with a value at a path, as ("fleet", "lease_s"); None takes it away. Tables on the way are made.

    Raises:
        NotFound: There is nothing at the path to take away.
    """
    document = _with_agents(text) if path[0] == "agents" else Document(text)
    if value is None:
        document.take(path)
    else:
        document.put(path, value)
    return document.text()


def _with_agents(text: str) -> Document:
    """The document; the default eight are written into it if it has no agents."""
    document = Document(text)
    if "agents" not in document.data:
        for name, agent in describe(load_text(text, root=_ANYWHERE))["agents"].items():
            document.put(("agents", name), {key: agent[key] for key in _WRITTEN} | {"brain": agent["brain"]["kind"]})
    return document


def _hand_over(document: Document, name: str, heir: str) -> None:
    """Let nothing name the agent any more, if that can be."""
    for path, value in list(_mentions(document.data, name)):
        if isinstance(value, list):
            rest = [agent for agent in value if agent != name]
            document.put(path, rest if heir in ("", *rest) else [*rest, heir])
        elif heir and path[-1] != "buddy":
            document.put(path, heir)
        elif path[0] != "schedules":
            document.take(path)


def _mentions(data: Mapping[str, Any], name: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Where an agent is named, and what stands there."""
    keys = {"agents": "buddy", "projects": "agents", "schedules": "agent"}
    for part in ("lead", "deputy"):
        if data.get("fleet", {}).get(part) == name:
            yield ("fleet", part), name
    for section, key in keys.items():
        for record, values in data.get(section, {}).items():
            if values.get(key) == name or (key == "agents" and name in values.get(key, ())):
                yield (section, record, key), values[key]


def rewrite(file: Path, edit: Callable[[str], str], **layers: Any) -> tuple[Settings, Settings]:
    """The settings before and after an edit of the file, which is written only if it is valid; a file that is not there begins empty.

    `layers` are the environ and flags of `load_text`. Edits take turns; the file is written whole, in one step.

    Raises:
        Misconfigured: The file is faulty, before or after; it is left as it was.
        ChangedMeanwhile: Somebody else changed the file in the meantime; it is left as they left it.
        Failed: The file can't be read or written.
    """
    file = file.resolve()
    try:
        with turn(file.parent):
            before = _text_of(file)
            old = load_text(before, root=file.parent, name=str(file), **layers)
            after = edit(before)
            new = load_text(after, root=file.parent, name=str(file), **layers)
            if _text_of(file) != before:
                raise ChangedMeanwhile(f"{file} was changed by somebody else in the meantime; look at it and try again.")
            if after != before:
                replace(file, after.encode(), file.stat().st_mode & 0o777 if file.exists() else 0o644)
    except OSError as wrong:
        raise Failed(f"{file} can't be changed: {wrong.strerror}. It is as it was.") from wrong
    return old, new


def _text_of(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig") if file.exists() else ""
