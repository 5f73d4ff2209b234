"""What may stand at a place of a type, in words. Looked up only for a value that `wire` refused; it decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import inspect

_STEP = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


def words_at(kind: Any, path: str) -> str | None:
    """The words that may stand at a path of this type, or what its description says of it; None if it says neither."""
    ways = list(_ways(inspect.type_info(kind)))
    for step in _STEP.findall(path):
        ways = [way for each in ways for way in _below(each, step)]
    words = [str(word) for way in ways for word in _choices(way)]
    if words:
        return f"it may be {', '.join(words)}"
    return next((f"it is {way.extra_json_schema['description']}" for way in ways if _is_described(way)), None)


def _ways(kind: inspect.Type) -> Iterator[Any]:
    """The type, and what it is made of where it is one of several or has a description."""
    yield kind
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _ways(each)
    elif isinstance(kind, inspect.Metadata):
        yield from _ways(kind.type)


def _below(kind: Any, step: str) -> Iterator[Any]:
    """What may stand one step further down: a field of an object, a part of a list or mapping."""
    if isinstance(kind, inspect.StructType):
        for field in kind.fields:
            if field.encode_name == step:
                yield from _ways(field.type)
    elif isinstance(kind, inspect.DictType):
        yield from _ways(kind.value_type)
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        yield from _ways(kind.item_type)


def _choices(kind: Any) -> tuple[Any, ...]:
    if isinstance(kind, inspect.LiteralType):
        return kind.values
    if isinstance(kind, inspect.EnumType):
        return tuple(each.value for each in kind.cls)
    return ()


def _is_described(kind: Any) -> bool:
    return isinstance(kind, inspect.Metadata) and "description" in (kind.extra_json_schema or {})
