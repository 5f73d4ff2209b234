"""What a check of `covey doctor` gives: findings, a sentence each, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from covey.base.errors import CoveyError, Misconfigured
from covey.base.settings import Settings

Level = Literal["ok", "warn", "fail"]


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: Level
    about: str
    text: str
    todo: str = ""


Check = Callable[[Settings], Iterator[Finding]]


def checked(check: Check, about: str, settings: Settings) -> list[Finding]:
    """What a check finds. What keeps us from looking is a finding too."""
    try:
        return list(check(settings))
    except CoveyError as error:
        return [Finding("fail", about, error.message)]
    except OSError as error:
        return [
            Finding(
                "fail", about, f"{error.filename or 'a file'} can't be used: {error.strerror}.", "run this as the user whose fleet it is"
            )
        ]


def of_config(error: Misconfigured) -> list[Finding]:
    """Each fault of covey.toml."""
    if not error.faults:
        return [Finding("fail", "config", error.message)]
    return [Finding("fail", "config", f"{_place(fault)}{fault['path']} {fault['message']}", "mend covey.toml") for fault in error.faults]


def _place(fault: dict[str, Any]) -> str:
    return f"line {fault['line']}: " if fault["line"] else ""
