"""`covey hook SEAT`: what an assistant runs after each tool, at its stop and at its start. It tells what waits in the fleet, and ends.

What waits is told once, in few words; nothing waits, or no fleet runs: it prints nothing and ends with 0, quickly. It never keeps the
assistant from its work: whatever goes wrong here is nobody's error there (COVEY_DEBUG=1 prints it).

Beside the interpreter it imports next to nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from covey.base.target import target_of
from covey.seats import seat as seats
from covey.seats import told
from covey.seats.asking import get
from covey.seats.seat import Seat
from covey.seats.told import MOST_KEPT, Told

HOOK_S = 1.0
"""The fleet answers within so long, or nothing is told this time."""
WAIT_S = 60.0
"""So long one call of a hook that waits takes at most; then the next one does."""
AGAIN_S = 5.0
INPUT_BYTES = 1024 * 1024
WAKES = 2
"""The exit code by which a hook in the background wakes its assistant."""
STOPS = frozenset({"Stop", "AfterAgent"})
STARTS = frozenset({"SessionStart"})

Event = dict[str, Any]
Glance = dict[str, Any]


def main(words: list[str]) -> int:
    """Be the hook of a seat's file; the exit code.

    With `--idle` it waits until something comes, says it on stderr and ends with 2. With `--headers` it prints the header that shows
    the token, for an assistant that asks for it instead of keeping it. A brain of the fleet that is such an assistant itself is told
    of its mail by its turns, not by hooks.
    """
    try:
        path = Path(words[0])
        if "--headers" in words[1:]:
            print_answer(headers(path))
            return 0
        if "COVEY_RUN" in os.environ:
            return 0
        if "--idle" in words[1:]:
            if is_unattended(os.environ):
                return 0
            from covey.seats.idle import wait  # noqa: PLC0415 - only the hook that waits needs it

            return wait(path)
        event = read_event()
        print_answer(answer(path, event))
    except Exception as error:  # noqa: BLE001 - a door: what is wrong here is not the assistant's concern
        if os.environ.get("COVEY_DEBUG"):
            sys.stderr.write(f"covey hook: {type(error).__name__}: {error}\n")
    return 0


def headers(path: Path) -> Event:
    """The header by which the seat's agent calls."""
    return {"Authorization": f"Bearer {seats.read(path).shown_token}"}


def is_unattended(environ: Mapping[str, str]) -> bool:
    """Whether Claude Code runs without a person (`claude -p`): it would wait at its end for a hook in the background."""
    return environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0" or environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def read_event() -> Event:
    """What the assistant says on standard input; nothing, if it is no JSON object."""
    if sys.stdin.isatty():
        return {}
    try:
        found = json.loads(sys.stdin.buffer.read(INPUT_BYTES))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def answer(path: Path, event: Event) -> Event | None:
    """What the hook says to its assistant; None: nothing."""
    seat = seats.read(path)
    with told.turn(seats.told_path(path)) as so_far:
        if so_far is None:
            return None
        kind = str(event.get("hook_event_name", ""))
        if not may_tell(kind, bool(event.get("stop_hook_active")), so_far):
            return None
        glance = look(seat, "" if kind in STARTS else so_far.mark, HOOK_S)
        return told_by(kind, glance, so_far)


def may_tell(kind: str, active: bool, so_far: Told) -> bool:
    """Whether it may say something now: at a stop only so often in a row; a stop of the assistant's own begins a new row."""
    if kind not in STOPS:
        return True
    if not active:
        so_far.kept = 0
    return so_far.kept < MOST_KEPT


def told_by(kind: str, glance: Glance, so_far: Told) -> Event | None:
    """The glance as this kind of hook says it; noted as told."""
    if not glance["text"]:
        return None
    so_far.mark = glance["mark"]
    if kind in STOPS:
        so_far.kept += 1
        return {"decision": "block", "reason": glance["text"]}
    return {"hookSpecificOutput": {"hookEventName": kind or "PostToolUse", "additionalContext": glance["text"]}}


def look(seat: Seat, mark: str, patience_s: float, **more: str) -> Glance:
    """What waits for the seat's agent."""
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in {"after": mark, **more}.items() if value)
    target = target_of(seat.api)
    path = f"{target.path.rstrip('/')}/api/v1/agents/{quote(seat.agent, safe='')}/glance?{query}"
    glance: Glance = json.loads(get(target, path, seat.shown_token, patience_s))
    return glance


def print_answer(said: Event | None) -> None:
    """Print it as one line of JSON, or nothing."""
    if said is not None:
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
