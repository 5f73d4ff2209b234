"""What a single value may be: checks that give the value in the form of the settings, or note a fault. They know no keys."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from covey.base.config.faults import Faults, kind_of, shown
from covey.base.config.spelling import Key

At = Key | str
Check = Callable[[Faults, At, Any], Any]
"""Takes the faults, the value's place and the value; gives the value as it goes into the settings, or BAD with a fault noted."""

BAD: Final = object()
LONGEST_TEXT = 10_000
DEEPEST = 20


def below(at: At, part: str | int) -> At:
    """The place of something inside of what stands at `at`."""
    return f"{at}[{part}]" if isinstance(at, str) else (*at, part)


def refuse(faults: Faults, at: At, value: object, allowed: str) -> Any:
    """BAD, with the fault noted: what the value is, and what is allowed."""
    faults.add(at, f"is {shown(value)}; allowed: {allowed}")
    return BAD


def flag(faults: Faults, at: At, value: object) -> Any:
    """True or false."""
    return value if isinstance(value, bool) else refuse(faults, at, value, "true or false")


def whole(low: int, high: int) -> Check:
    """A whole number within bounds."""
    allowed = f"a whole number from {low:,} to {high:,}"

    def check(faults: Faults, at: At, value: object) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        return refuse(faults, at, value, allowed)

    return check


def number(low: float, high: float, unit: str) -> Check:
    """A finite number within bounds, as a float."""
    allowed = f"a number of {unit} from {low:,} to {high:,}"

    def check(faults: Faults, at: At, value: object) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        return refuse(faults, at, value, allowed)

    return check


def text(faults: Faults, at: At, value: object) -> Any:
    """Any text that a path, an environment or a command can carry: bounded, no NUL."""
    if not isinstance(value, str):
        return refuse(faults, at, value, "text, in quotes")
    if len(value) > LONGEST_TEXT or "\0" in value:
        return refuse(faults, at, value, f"text of at most {LONGEST_TEXT:,} characters, without a NUL")
    return value


def formed(form: str, allowed: str) -> Check:
    """Text of a form, given as a regular expression for all of it."""
    pattern = re.compile(form)

    def check(faults: Faults, at: At, value: object) -> Any:
        if isinstance(value, str) and len(value) <= LONGEST_TEXT and pattern.fullmatch(value):
            return value
        return refuse(faults, at, value, allowed)

    return check


def one_of(words: Iterable[str]) -> Check:
    """One of some words."""
    allowed = tuple(words)

    def check(faults: Faults, at: At, value: object) -> Any:
        if not isinstance(value, str):
            return refuse(faults, at, value, "one of " + ", ".join(allowed))
        if value not in allowed:
            faults.unknown(at, "", value, allowed)
            return BAD
        return value

    return check


def list_of(element: Check, allowed: str, *, distinct: bool = False) -> Check:
    """A list, as a tuple; each element is checked. `distinct`: what stands there twice counts once."""

    def check(faults: Faults, at: At, value: object) -> Any:
        if not isinstance(value, (list, tuple)):
            return refuse(faults, at, value, allowed)
        found = tuple(element(faults, below(at, place), part) for place, part in enumerate(value))
        if BAD in found:
            return BAD
        return tuple(dict.fromkeys(found)) if distinct else found

    return check


def table_of(element: Check, name: Check, allowed: str) -> Check:
    """A table of values that are all of one kind, under names of one form."""

    def check(faults: Faults, at: At, value: object) -> Any:
        if not isinstance(value, dict):
            return refuse(faults, at, value, allowed)
        found = {key: element(faults, below(at, key), part) for key, part in value.items() if name(faults, below(at, key), key) is not BAD}
        return BAD if len(found) < len(value) or BAD in found.values() else found

    return check


def options(faults: Faults, at: At, value: object) -> Any:
    """A table of anything that JSON can carry, at most 20 deep."""
    if not isinstance(value, dict):
        return refuse(faults, at, value, "a table of options")
    good = len(faults.found)
    _json(faults, at, value, DEEPEST)
    return value if len(faults.found) == good else BAD


def _json(faults: Faults, at: At, value: object, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if depth == 0:
            faults.add(at, f"is more than {DEEPEST} levels deep")
            return
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _json(faults, below(at, part), inner, depth - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        refuse(faults, at, value, "a finite number")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        refuse(faults, at, value, "a whole number of at most 64 bits")
    elif not isinstance(value, (str, int, float)):
        faults.add(at, f"is {kind_of(value)}; allowed: what JSON can carry; write it as text, in quotes")
