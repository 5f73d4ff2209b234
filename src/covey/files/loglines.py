"""Which log an event stands in, and the line that it makes there: short, and without secrets (S3). Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from covey.agents.model import RESERVED
from covey.base.ids import is_agent_name
from covey.store.events import Event

CONTROLLER = "system/protocol-controller.log"
HEALTH = "system/health-checks.log"
MESSAGES = "communication/messages.log"
BUDDIES = "communication/buddy-checks.log"
TASK_METRICS = "performance/task-metrics.log"
CONTEXT_METRICS = "performance/context-metrics.log"

TABLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("agent.started", (CONTROLLER, HEALTH)),
    ("agent.ended", (CONTROLLER, HEALTH)),
    ("agent.hung", (CONTROLLER, HEALTH)),
    ("agent.given_up", (CONTROLLER, HEALTH)),
    ("agent.", (CONTROLLER,)),
    ("fleet.", (CONTROLLER,)),
    ("node.", (CONTROLLER,)),
    ("leader.", (CONTROLLER,)),
    ("cycle.", (CONTROLLER,)),
    ("schedule.", (CONTROLLER,)),
    ("store.", (CONTROLLER,)),
    ("token.", (CONTROLLER,)),
    ("operator.", (CONTROLLER,)),
    ("clock.", (CONTROLLER,)),
    ("plan.", (CONTROLLER,)),
    ("file.", (CONTROLLER,)),
    ("view.", (CONTROLLER,)),
    ("logs.", (CONTROLLER,)),
    ("drop.", (CONTROLLER,)),
    ("incident.", (CONTROLLER, HEALTH)),
    ("health.", (HEALTH,)),
    ("stall.", (HEALTH,)),
    ("breaker.", (HEALTH,)),
    ("message.", (MESSAGES,)),
    ("thread.", (MESSAGES,)),
    ("link.", (MESSAGES,)),
    ("quota.", (MESSAGES,)),
    ("buddy.", (BUDDIES,)),
    ("notice.", (CONTROLLER,)),
    ("vote.", (CONTROLLER,)),
    ("team.", (CONTROLLER,)),
    ("handoff.", (CONTROLLER,)),
    ("task.done", (TASK_METRICS,)),
    ("task.failed", (TASK_METRICS,)),
    ("task.cancelled", (TASK_METRICS,)),
    ("task.retried", (TASK_METRICS,)),
    ("run.", (TASK_METRICS,)),
    ("context.", (CONTEXT_METRICS,)),
)
"""The first kind, or beginning of one, that fits says in which logs of the fleet an event stands; it stands in its agent's too."""
FLEET_LOGS = (CONTROLLER, HEALTH, MESSAGES, BUDDIES, TASK_METRICS, CONTEXT_METRICS)

TEXT_CHARS = 400
LONG_WORD = 18
SECRET_CHARS = 12
"""A text that is shorter holds none with its name."""
ITEMS = 20
LEFT_OUT = frozenset({"body", "content", "data", "token", "secret", "password"})

_SECRET = re.compile(
    r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"
    r"|\b((?:[\w-]*(?:token|secret|passwd|password|api[_-]?key|authorization|credential)s?)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;]{4,}"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|npm|pypi)[-_][\w-]{16,}|\bgithub_pat_\w{16,}|\bAKIA[0-9A-Z]{16}|\beyJ[\w-]{10,}\.[\w.-]{10,}"
)
_RANDOM = re.compile(r"\b(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{40,}")
"""A bearer token of ours, or of somebody like us: long, and of all kinds of characters. Ids and digests have no capitals."""
_SUSPECT = tuple(b'token secret passw api-key api_key apikey authoriz credential bearer basic "body" "content" "data"'.split())
"""One of these, or a long word that is no id of ours, stands in every line that something must be taken out of."""
_IDS = (b"msg_", b"task_", b"thread_", b"run_", b"entry_")
_WORDS_ONLY = bytes(byte if chr(byte).isalnum() or chr(byte) in "_-" else 0x20 for byte in range(256))


def files_of(event: Event) -> list[str]:
    """The logs that an event stands in. Pure."""
    if event.agent and event.agent not in RESERVED and is_agent_name(event.agent):
        return [*_fleet_logs_of(event.kind), f"agents/{event.agent}.log"]
    return list(_fleet_logs_of(event.kind))


@lru_cache(maxsize=1000)
def _fleet_logs_of(kind: str) -> tuple[str, ...]:
    return next((files for start, files in TABLE if kind == start or (start.endswith(".") and kind.startswith(start))), ())


def line_of(event: Event) -> bytes:
    """The event as a line of a log: short, and without secrets. Pure."""
    shown = {key: value for key, value in event.shown().items() if value is not None and key not in LEFT_OUT}
    line = msgspec.json.encode(shown)
    if len(line) > TEXT_CHARS or _is_suspect(line):
        line = msgspec.json.encode(shortened(shown))
    return line + b"\n"


def _is_suspect(line: bytes) -> bool:
    """Whether a second look at a short line is worth its time: most have no word of a secret and no long word in them."""
    small = line.lower()
    if any(word in small for word in _SUSPECT):
        return True
    return any(len(word) >= LONG_WORD and not word.startswith(_IDS) for word in small.translate(_WORDS_ONLY).split())


def shortened(value: Any) -> Any:
    """A value of an event as a log may have it: long texts and lists cut, secrets taken out. Pure."""
    if isinstance(value, str):
        return value if len(value) < SECRET_CHARS else redacted(value[: 2 * TEXT_CHARS])[:TEXT_CHARS]
    if isinstance(value, dict):
        kept = {str(key)[:TEXT_CHARS]: shortened(each) for key, each in list(value.items())[:ITEMS] if key not in LEFT_OUT}
        return kept | ({"…": len(value) - ITEMS} if len(value) > ITEMS else {})
    if isinstance(value, list):
        return [shortened(each) for each in value[:ITEMS]] + ([f"… {len(value) - ITEMS} more"] if len(value) > ITEMS else [])
    return value


def redacted(text: str) -> str:
    """The text without what looks like a token, key or password. Pure."""
    return _RANDOM.sub("[redacted]", _SECRET.sub(lambda found: f"{found[1] + ' ' if found[1] else found[2] or ''}[redacted]", text))
