"""What a brain answers, whatever its form, as an Outcome that can be stored. Pure."""

from __future__ import annotations

import json
import re
import traceback
from pathlib import Path
from typing import Any

import msgspec

from covey.base import wire
from covey.base.errors import CoveyError
from covey.brains.model import Outcome, failure

OUTCOME_BYTES = 1024 * 1024
"""An outcome may be so long as JSON."""
ERROR_CHARS = 4000
KEYS = frozenset(field.encode_name for field in msgspec.structs.fields(Outcome))
"""What an outcome as a JSON object may have."""
_OURS = str(Path(__file__).parent)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


def from_python(answer: object) -> Outcome:
    """The outcome of a function's answer: an Outcome, text (the result or reply), a dict (its data), or None: done, nothing to say."""
    if answer is None:
        return Outcome()
    if isinstance(answer, Outcome):
        return _sound(answer)
    if isinstance(answer, str):
        return _sound(Outcome(summary=answer))
    if isinstance(answer, dict):
        return _sound(Outcome(data=answer))
    kind = type(answer)
    return failure(f"the brain answered {kind.__module__}.{kind.__qualname__}; an Outcome, text, a dict or None is wanted.", permanent=True)


def _sound(outcome: Outcome) -> Outcome:
    """The outcome, once it is known to be what its type says and can be stored; else a failure that says why not."""
    try:
        raw = json.dumps(msgspec.to_builtins(outcome, str_keys=True))
        if len(raw) > OUTCOME_BYTES:
            return failure(
                f"the brain's outcome is {len(raw):,} bytes long; at most {OUTCOME_BYTES:,} are taken. Put the rest into a file."
            )
        return wire.decode(Outcome, raw)
    except CoveyError as error:
        return failure(f"the brain's outcome is not valid: {error.message}")
    except (TypeError, ValueError, RecursionError) as error:
        return failure(f"the brain's outcome is not JSON: {error}")


def from_error(error: BaseException) -> Outcome:
    """The failed outcome of an exception: its type, its message, and the last frames of the brain's own code."""
    said = "".join(traceback.format_exception_only(error)).strip()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((_OURS, "<frozen "))]
    places = [f"\n  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames[-3:]]
    text = said[:ERROR_CHARS] + "".join(places)
    return failure(text.encode(errors="replace").decode().replace("\0", "\ufffd"))


def from_text(text: str, *, marked: bool = False) -> Outcome:
    """The outcome of a text: an Outcome as a JSON object, checked strictly, else the text itself as summary.

    An object with none of an outcome's keys is text. `marked`: so is one without `kind`, for a model that was asked for JSON of
    its own; and an outcome between code fences counts too.
    """
    fenced = _FENCED.fullmatch(text)
    told = _as_outcome(text, marked) or (_as_outcome(fenced[1], marked=True) if fenced else None)
    return told or Outcome(summary=text.strip())


def _as_outcome(text: str, marked: bool) -> Outcome | None:
    """The outcome that the text is meant as, a failure if it is a wrong one; None if it is not meant as one."""
    value = _object(text)
    if value is None or (marked and "kind" not in value) or (value and not KEYS & value.keys()):
        return None
    unknown = sorted(value.keys() - KEYS)
    if unknown:
        return failure(
            f"the outcome that was printed has unknown keys: {', '.join(unknown)[:500]}. An outcome may have {', '.join(sorted(KEYS))}."
        )
    try:
        return wire.decode(Outcome, text)
    except CoveyError as error:
        return failure(f"the outcome that was printed is not valid: {error.message}")


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that is the whole text, by lenient reading; what is wrong in it is said later."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
