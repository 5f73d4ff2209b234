"""What coding assistants print in their JSON modes: their answer, why they failed, what it cost. Pure, and tolerant of what is new.

Read are `claude -p --output-format json` (or stream-json), `codex exec --json` and `gemini --output-format stream-json`. Whatever else
is printed is not theirs.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from covey.brains.model import Cost

Event = dict[str, Any]
WORD_CHARS = 300


class Reading(NamedTuple):
    """What an assistant printed. `error` is empty unless it says that it failed."""

    text: str
    error: str
    cost: Cost
    session: str = ""
    """The id of the session that it worked in."""


def read(printed: str) -> Reading | None:
    """What an assistant's output says; None if it is not an assistant's."""
    events = _events(printed)
    return _of_claude(events) or _of_codex(events) or _of_gemini(events) if events else None


def progress(line: bytes) -> str:
    """What an assistant says of its work in a line of its output, in a few words; empty: nothing that anybody would want to read."""
    event = _line(line.decode(errors="replace")) if line.startswith(b"{") else None
    return " ".join(_word(event).split())[:WORD_CHARS] if isinstance(event, dict) else ""


def _word(event: Event) -> str:
    item = _object(event, "item")
    match event.get("type"):
        case "assistant":
            return next((word for part in reversed(_list(_object(event, "message"), "content")) if (word := _of_part(part))), "")
        case "item.started" | "item.completed" if item.get("type") not in (None, "error", "reasoning"):
            return str(item.get("command") or item.get("text") or item.get("tool") or item.get("query") or item["type"])
        case "tool_use":
            return f"{event.get('tool_name') or 'a tool'} {_said(event.get('parameters'))}"
    return ""


def _of_part(part: object) -> str:
    """A part of what Claude says: words, or the tool that it uses."""
    if not isinstance(part, dict):
        return ""
    if part.get("type") == "tool_use":
        return f"{part.get('name') or 'a tool'} {_said(part.get('input'))}"
    return str(part.get("text") or "") if part.get("type") == "text" else ""


def _said(given: object) -> str:
    """The first words of what a tool was given."""
    values = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    return values[0] if values else ""


def _events(printed: str) -> list[Event]:
    """The JSON objects of an output: the one it is, those of a list, or one a line."""
    if "{" not in printed[:1024]:
        return []
    try:
        whole = json.loads(printed)
        values = whole if isinstance(whole, list) else [whole]
    except (ValueError, RecursionError):
        values = [_line(line) for line in printed.splitlines() if line.startswith("{")]
    return [value for value in values if isinstance(value, dict)]


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _of_claude(events: list[Event]) -> Reading | None:
    """Its one object of type `result`, the last one where it prints all."""
    result = next(
        (event for event in reversed(events) if event.get("type") == "result" and ("session_id" in event or "total_cost_usd" in event)),
        None,
    )
    if result is None:
        return None
    usage = _object(result, "usage")
    cost = Cost(
        usd=_amount(result.get("total_cost_usd")),
        tokens_in=sum(_count(usage.get(key)) for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")),
        tokens_out=_count(usage.get("output_tokens")),
        context_tokens=_context_of_claude(events),
        context_limit=max((_count(each.get("contextWindow")) for each in _objects(result, "modelUsage")), default=0) or None,
    )
    text = str(result.get("result") or "")
    if not result.get("is_error") and result.get("subtype", "success") == "success":
        return Reading(text, "", cost, _session(result))
    errors = result.get("errors")
    reasons = [str(each) for each in errors] if isinstance(errors, list) else []
    return Reading(
        text, text or "; ".join(reasons) or str(result.get("subtype") or "it says that it failed, not why"), cost, _session(result)
    )


def _context_of_claude(events: list[Event]) -> int | None:
    """How much stood in its session at its last call of the model; known only where it prints all its events."""
    calls = [_object(_object(event, "message"), "usage") for event in events if event.get("type") == "assistant"]
    last = next((usage for usage in reversed(calls) if usage), {})
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(_count(last.get(key)) for key in keys) or None


def _objects(event: Event, key: str) -> list[Event]:
    return [each for each in _object(event, key).values() if isinstance(each, dict)]


def _of_codex(events: list[Event]) -> Reading | None:
    """Its events, one a line: `item.completed`, `turn.completed`, `turn.failed`; or the older ones inside `msg`."""
    kinds = {str(event.get("type")) for event in events}
    if any(kind.startswith(("thread.", "turn.")) for kind in kinds):
        return _of_codex_thread(events)
    told = [_object(event, "msg") for event in events]
    counts = [_object(each, "info") for each in told if each.get("type") == "token_count"]
    if not counts:
        return None
    texts = [str(each.get("message") or "") for each in told if each.get("type") == "agent_message"]
    errors = [str(each.get("message") or "") for each in told if each.get("type") == "error"]
    return Reading(texts[-1] if texts else "", errors[-1] if errors and not texts else "", _codex_cost(counts[-1]))


def _of_codex_thread(events: list[Event]) -> Reading:
    text = error = session = ""
    usage: Event = {}
    for event in events:
        item = _object(event, "item")
        match event.get("type"):
            case "thread.started":
                session = str(event.get("thread_id") or "")
            case "item.completed" if item.get("type") == "agent_message":
                text = str(item.get("text") or "")
            case "turn.completed":
                usage, error = _object(event, "usage"), ""
            case "turn.failed":
                error = str(_object(event, "error").get("message") or "its turn failed")
            case "error":
                error = str(event.get("message") or "an error without a word")
    return Reading(text, error, Cost(tokens_in=_count(usage.get("input_tokens")), tokens_out=_count(usage.get("output_tokens"))), session)


def _codex_cost(info: Event) -> Cost:
    total, last = _object(info, "total_token_usage"), _object(info, "last_token_usage")
    return Cost(
        tokens_in=_count(total.get("input_tokens")),
        tokens_out=_count(total.get("output_tokens")),
        context_tokens=_count(last.get("total_tokens")) or None,
        context_limit=_count(info.get("model_context_window")) or None,
    )


def _of_gemini(events: list[Event]) -> Reading | None:
    """Its events, one a line: `init`, `message` in pieces, `tool_use`, `result`. Its answer is what it said after its last tool."""
    if not any(event.get("type") == "init" and "session_id" in event for event in events):
        return None
    text = session = ""
    result: Event = {}
    for event in events:
        match event.get("type"):
            case "init":
                session = _session(event)
            case "message" if event.get("role") == "assistant":
                text = text * bool(event.get("delta")) + str(event.get("content") or "")
            case "tool_use":
                text = ""
            case "result":
                result = event
    stats = _object(result, "stats")
    cost = Cost(tokens_in=_count(stats.get("input_tokens")), tokens_out=_count(stats.get("output_tokens")))
    if result.get("status") == "success":
        return Reading(text, "", cost, session)
    return Reading(text, str(_object(result, "error").get("message") or "it ended without a result"), cost, session)


def _session(event: Event) -> str:
    return str(event.get("session_id") or "")


def _list(event: Event, key: str) -> list[Any]:
    value = event.get(key)
    return value if isinstance(value, list) else []


def _object(event: Event, key: str) -> Event:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    """A number of tokens, 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def _amount(value: object) -> float:
    """An amount of money, 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return 0.0
    return float(value)
