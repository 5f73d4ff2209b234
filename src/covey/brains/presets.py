"""The command lines of coding assistants that run a turn and end: how a session is begun, and how it is gone on with. Pure.

The prompt always goes in on stdin, so nothing that a peer wrote can be taken for a flag.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SESSION = "SESSION"
ARGUMENTS = "ARGUMENTS"
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,127}")


class Preset(NamedTuple):
    """An assistant's command lines. SESSION stands for the id of its session, ARGUMENTS for what the agent's options add."""

    begin: tuple[str, ...]
    go_on: tuple[str, ...]
    lost: str
    """What it says, in part, where it does not have the session that it is to go on with."""
    adds_up: tuple[str, ...] = ()
    """What of a Cost it prints as the sum over its whole session, not over the turn."""


PRESETS = {
    "claude": Preset(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", ARGUMENTS),
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--resume", SESSION, ARGUMENTS),
        "No conversation found with session ID",
        ("usd",),
    ),
    "codex": Preset(
        ("codex", "exec", "--json", "--skip-git-repo-check", ARGUMENTS, "-"),
        ("codex", "exec", "--json", "--skip-git-repo-check", ARGUMENTS, "resume", SESSION, "-"),
        "no rollout found for thread id",
        ("tokens_in", "tokens_out"),
    ),
    "gemini": Preset(
        ("gemini", "--skip-trust", "--output-format", "stream-json", ARGUMENTS),
        ("gemini", "--skip-trust", "--output-format", "stream-json", "--resume", SESSION, ARGUMENTS),
        "Error resuming session",
    ),
}


def command(line: tuple[str, ...], arguments: tuple[str, ...], session: str = "") -> tuple[str, ...]:
    """A command line with what stands in it filled in."""
    filled: list[str] = []
    for word in line:
        filled += arguments if word == ARGUMENTS else (session,) if word == SESSION else (word,)
    return tuple(filled)


def is_session(ident: str) -> bool:
    """Whether an assistant's own word for its session can be given back to it: it came from its output."""
    return _ID.fullmatch(ident) is not None
