"""The first part of a result, from the first characters of its JSON. Pure."""

from __future__ import annotations

import json
import re

_SUMMARY = re.compile(r'\s*\{\s*"summary"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)')
"""A result's text comes first in it. An escape that is cut in two stays out."""
_HALF = re.compile(r"[\ud800-\udfff]")


def head_of(raw: str) -> str:
    """The text of a result as far as it goes in what is there of its JSON; where that has no text, the JSON itself."""
    found = _SUMMARY.match(raw)
    text = str(json.loads(f'"{found[1]}"', strict=False)) if found else ""
    return _HALF.sub("", text) or raw
