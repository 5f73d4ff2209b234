"""How paths and values are written in TOML, each on one line. Knows nothing of what they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Key = tuple[str | int, ...]
"""A path into a document: names of tables and keys, positions in arrays."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dotted(path: Sequence[str | int]) -> str:
    """The path as TOML writes it, as `agents.coder.capabilities[2]`; names are quoted where they must be."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else spelled(part))
    return text


def spelled(value: Any) -> str:
    """The value as TOML writes it: text, numbers, true and false, lists, and tables as inline tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{dotted((key,))} = {spelled(part)}" for key, part in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(spelled, value)) + "]"
    return repr(value)


def table(path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The lines of a table, its header first."""
    return "\n".join([f"[{dotted(path)}]", *(f"{dotted((key,))} = {spelled(value)}" for key, value in values.items()), ""])
