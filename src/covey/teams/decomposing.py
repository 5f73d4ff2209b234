"""A task cut into sub-tasks by rules, and what their results come to (Q2). Pure; a model's plan comes in their place where one is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SUCCESS_AT = 0.8
"""A run is a success when at least so much of it is."""

_PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "research": (("search", "Gather information"), ("analyze", "Analyze findings"), ("synthesize", "Synthesize results")),
    "create": (("plan", "Create plan"), ("draft", "Draft content"), ("review", "Review and refine")),
}


def subtasks_of(task: Mapping[str, Any], ident: str) -> list[dict[str, Any]]:
    """The sub-tasks of a task by its `type` (research, create, or any other: one that is the task itself), each with an id of its own."""
    parts = _PARTS.get(task.get("type", "general"), (("execute", task.get("description", "Execute task")),))
    shared = {"parent_task": task.get("id"), "priority": task.get("priority", 0)}
    return [{"type": kind, "description": words, "id": f"{ident}-{place}", **shared} for place, (kind, words) in enumerate(parts, 1)]


def aggregated(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the results come to: themselves, the summaries of those that succeeded, and the share of those (`quality_score`)."""
    good = [result for result in results if result.get("success")]
    return {
        "results": list(results),
        "summary": " | ".join(str(result.get("summary", "")) for result in good),
        "quality_score": len(good) / len(results) if results else 0.0,
    }
