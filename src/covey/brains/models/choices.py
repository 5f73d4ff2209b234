"""Whom and what the tools of a model may name in one turn, and how a wrong call is told to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic_ai import ModelRetry
from pydantic_ai.tools import ToolDefinition

from covey.agents.model import OPERATOR
from covey.base.errors import CoveyError
from covey.brains.model import Turn

T = TypeVar("T")
NAMED = 200
"""So many names at most stand in a tool's schema; of a larger fleet none do, and a wrong name is refused when it is used."""


class Choices:
    """The names there are: agents, capabilities, the options of a vote."""

    def __init__(self, turn: Turn) -> None:
        names = [str(each["id"]) for each in turn.colleagues]
        able = sorted({f"@{word}" for each in turn.colleagues for word in each.get("capabilities") or ()})
        self.receivers = [*names, OPERATOR]
        """Who may be written to."""
        self.others = [*names, *able]
        """Who may be given what is the agent's own."""
        self.workers = [turn.agent, *self.others]
        """Who may be given a task."""
        self.options = _options(turn)
        """What may be voted for."""

    def named(self, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        """The tools with the names that may be given, so that a model invents none."""
        return [
            dataclasses.replace(each, parameters_json_schema=self._with_names(each.name, each.parameters_json_schema)) for each in tools
        ]

    def _with_names(self, tool: str, schema: dict[str, Any]) -> dict[str, Any]:
        to = {"add_task": self.workers, "hand_over": self.others}.get(tool, self.receivers)
        choices = {"to": to, "selection": self.options}
        fields = schema.get("properties", {})
        found = {name: {**fields[name], "enum": choices[name]} for name in choices if name in fields and 0 < len(choices[name]) <= NAMED}
        return {**schema, "properties": {**fields, **found}}


def _options(turn: Turn) -> list[str]:
    options = turn.message.message.content.get("data", {}).get("options") if turn.message is not None else None
    return [each for each in options if isinstance(each, str)] if isinstance(options, list) else []


def known(name: str, names: Sequence[str], what: str = "colleague") -> str:
    """The name, if it is one of these.

    Raises:
        ModelRetry: It is not; the model is told which there are.
    """
    if name not in names:
        raise ModelRetry(f"there is no {what} {name[:100]!r}; there are: {', '.join(names[:NAMED])}.")
    return name


def fits(checked: Callable[[], T]) -> T:
    """What the check answers; what it refuses is told to the model in the same words (M10)."""
    try:
        return checked()
    except CoveyError as error:
        raise ModelRetry(error.message) from error
