"""What `brain = …` may say, and the settings it stands for. Whether the program or module is there is found out when it runs."""

from __future__ import annotations

from typing import Any, get_args

from covey.base.config import brain_options
from covey.base.config.faults import Faults
from covey.base.config.keys import BRAIN, values
from covey.base.config.shapes import BAD, At, Check, below, formed, list_of, one_of, text
from covey.base.settings import BrainKind, BrainSettings, Preset

KINDS: tuple[str, ...] = get_args(BrainKind)
COMMAND = "command"
_NAME = r"[^\W\d]\w*"
_python = formed(rf"{_NAME}(\.{_NAME})*:{_NAME}(\.{_NAME})*", '"module:function" or "module:Class"')
_arguments = list_of(text, 'a program and its arguments, as ["claude", "-p"], or one line for the shell, as "./answer.sh --short"')
_preset = one_of(get_args(Preset))
_TARGETS: dict[str, Check] = {
    "python": _python,
    "a2a": formed(r"https?://[^\s\0]+", "the address of an agent card: https://…"),
    "model": formed(r"[^\s\0]{1,200}", 'the name of a model, as "provider:name"'),
}
_EXAMPLES = {
    "python": 'brain = "module:function"',
    COMMAND: 'brain = { kind = "command", command = ["./answer.sh"] }, or preset = "claude" in place of command',
    "model": 'brain = { kind = "model", target = "provider:name" }',
    "a2a": 'brain = { kind = "a2a", target = "https://…" }',
}
_OWNERS = {"target": tuple(_TARGETS), "process": ("python",), COMMAND: (COMMAND,), "preset": (COMMAND,)}
"""Keys that only some kinds have."""


def brain(faults: Faults, at: At, value: object) -> Any:
    """The settings of a brain, from "rules", "external", "module:function" or a table; BAD with faults noted."""
    if isinstance(value, str):
        return _by_word(faults, at, value)
    good = len(faults.found)
    found = values(faults, at, value, BRAIN | {COMMAND: _command, "preset": _preset})
    if isinstance(value, dict):
        _kind_fits(faults, at, value, found)
    return BrainSettings(**found) if len(faults.found) == good else BAD


def _by_word(faults: Faults, at: At, word: str) -> Any:
    if word in ("rules", "external"):
        return BrainSettings(kind="rules" if word == "rules" else "external")
    if ":" in word:
        target = _python(faults, at, word)
        return BAD if target is BAD else BrainSettings(kind="python", target=target)
    if word in KINDS:
        faults.add(at, f'"{word}" alone is not enough; write {_EXAMPLES[word]}')
    else:
        faults.unknown(at, "brain", word, (*KINDS, "module:function"))
    return BAD


def _kind_fits(faults: Faults, at: At, written: dict[str, Any], found: dict[str, Any]) -> None:
    """The kind itself, what it needs, and nothing that belongs to another."""
    if "kind" not in written and (COMMAND in written or "preset" in written):
        found["kind"] = COMMAND
    kind = found.get("kind")
    if kind is None:
        if "kind" not in written:
            faults.add(at, f"has no kind; allowed: {', '.join(KINDS)}")
        return
    for key, owners in _OWNERS.items():
        if key in written and kind not in owners:
            faults.add(below(at, key), f"does not go with kind {kind}; allowed with: {', '.join(owners)}")
    brain_options.check(faults, at, kind, found.get("options", {}))
    need = COMMAND if kind == COMMAND else "target"
    if written.get("preset") and COMMAND in written:
        faults.add(below(at, COMMAND), f'does not go with preset = "{found.get("preset", "")}"; leave one of them out')
    elif kind in _EXAMPLES and need not in written and not (kind == COMMAND and written.get("preset")):
        faults.add(at, f"has no {need}; write {_EXAMPLES[kind]}")
    elif kind in _TARGETS and need in found:
        _TARGETS[kind](faults, below(at, need), found[need])


def _command(faults: Faults, at: At, value: object) -> Any:
    """Program and arguments; one text is a line for the shell."""
    if value == [] or (isinstance(value, str) and not value.strip()) or (isinstance(value, list) and value[0] == ""):
        faults.add(at, 'is empty; write a program and its arguments, as ["claude", "-p"]')
        return BAD
    return _arguments(faults, at, ("sh", "-c", value) if isinstance(value, str) else value)
