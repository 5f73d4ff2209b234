"""Parts of ours put into an assistant's settings, and taken out: text in, text out. Pure.

Whatever else stands in the file keeps its meaning. JSON is written anew with the file's own indent; TOML gets a marked block at its end.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

from covey.base.errors import Conflict, Invalid

_INDENT = re.compile(r'\{\r?\n([ \t]+)"')


class Put(NamedTuple):
    """A value of ours at a path of keys."""

    path: tuple[str, ...]
    value: Any


class Add(NamedTuple):
    """A value of ours at the end of a list at a path of keys. It is known again by `mark`, a text in it."""

    path: tuple[str, ...]
    value: Any
    mark: str


Part = Put | Add


class Place(NamedTuple):
    """Where a part of ours stands: a key, or what in a list has this mark."""

    path: tuple[str, ...]
    mark: str = ""


def places_of(parts: Sequence[Part]) -> list[Place]:
    """Where the parts stand once they are put."""
    return [Place(part.path, part.mark if isinstance(part, Add) else "") for part in parts]


def put_json(text: str, parts: Sequence[Part], name: str) -> str:
    """The JSON text with our parts in it; an empty one begins as an object.

    Raises:
        Invalid: It is no JSON object, or something that is not ours is in the way; `name` is what the message calls the file.
        Conflict: There is something else at the place of ours.
    """
    data = _parsed(text, name)
    for part in parts:
        at = _at(data, part.path[:-1], name)
        key = part.path[-1]
        if isinstance(part, Add):
            rest = at.setdefault(key, [])
            if not isinstance(rest, list):
                raise Invalid(f"{name}: {'.'.join(part.path)} is no list; mend it first.", field=".".join(part.path))
            rest.append(part.value)
        elif key in at:
            said = f"{name} has a {'.'.join(part.path)} that is not ours; leave first, or give ours another name with --name."
            raise Conflict(said, field=".".join(part.path))
        else:
            at[key] = part.value
    return _written(data, text)


def take_json(text: str, places: Sequence[Place], made: Sequence[tuple[str, ...]], name: str) -> str:
    """The JSON text without what is ours; lists that this empties go, and objects that were `made` for it."""
    data = _parsed(text, name)
    for path, mark in places:
        at = _seek(data, path[:-1])
        key = path[-1]
        if not isinstance(at, dict) or key not in at:
            continue
        if not mark:
            del at[key]
        elif isinstance(at[key], list):
            at[key] = [each for each in at[key] if not _has(each, mark)]
            if not at[key]:
                del at[key]
    for path in sorted(made, key=len, reverse=True):
        at = _seek(data, path[:-1])
        if isinstance(at, dict) and at.get(path[-1]) == {}:
            del at[path[-1]]
    return _written(data, text)


def _has(value: Any, mark: str) -> bool:
    """Whether one of the texts in a value has the mark."""
    if isinstance(value, str):
        return mark in value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has(each, mark) for each in inner)


def missing(text: str, parts: Sequence[Part], name: str) -> list[tuple[str, ...]]:
    """The objects that our parts need and the text has not."""
    data = _parsed(text, name)
    needed = {part.path[:length] for part in parts for length in range(1, len(part.path))}
    return sorted(path for path in needed if _seek(data, path) is None)


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise Invalid(
            f"{name} is no plain JSON ({error}); comments can't be kept. Mend it, or add the server by hand.", field=name
        ) from error
    if not isinstance(data, dict):
        raise Invalid(f"{name} holds no JSON object; mend it first.", field=name)
    return data


def _at(data: dict[str, Any], path: Sequence[str], name: str) -> dict[str, Any]:
    for place, key in enumerate(path):
        found = data.setdefault(key, {})
        if not isinstance(found, dict):
            said = ".".join(path[: place + 1])
            raise Invalid(f"{name}: {said} is no object; mend it first.", field=said)
        data = found
    return data


def _seek(data: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data


def _written(data: dict[str, Any], like: str) -> str:
    """The data as JSON with the indent and the end of another text."""
    found = _INDENT.match(like.lstrip())
    indent = found[1] if found else 2
    try:
        text = json.dumps(data, indent=indent, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(data, indent=indent)
    return text + ("\n" if like.endswith("\n") or not like else "")


# TOML


def _fences(server: str) -> tuple[str, str]:
    return f"# covey: begin {server} (`covey leave` takes this out)\n", f"# covey: end {server}\n"


def put_toml(text: str, block: str, server: str, name: str) -> str:
    """The TOML text with our block at its end, between marks.

    Raises:
        Invalid: The file is faulty as it is.
        Conflict: It says something at the place of ours.
    """
    begin, end = _fences(server)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{name} is faulty ({error}); mend it first.", field=name) from error
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    new = f"{text}{gap}{begin}{block.rstrip()}\n{end}"
    try:
        tomllib.loads(new)
    except tomllib.TOMLDecodeError as error:
        said = f"{name} has an MCP server {server} that is not ours; leave first, or give ours another name with --name."
        raise Conflict(said, field=f"mcp_servers.{server}") from error
    return new


def take_toml(text: str, server: str) -> str:
    """The TOML text without our block."""
    begin, end = _fences(server)
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    return before.removesuffix("\n") + after if found and ended else text
