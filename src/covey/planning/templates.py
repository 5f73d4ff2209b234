"""The templates of a fleet: the package's own and the user's, from TOML, each fault named with its place (P1). It reads files, no store."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from covey.base.config.faults import Faults
from covey.base.config.keys import PRIORITIES, agent_name, values
from covey.base.config.refusal import refusal
from covey.base.config.shapes import BAD, At, Check, flag, formed, list_of, one_of, refuse, text
from covey.base.config.source import parsed, read
from covey.base.errors import Misconfigured
from covey.base.ids import ID_FORM
from covey.base.settings import PlanningSettings
from covey.brains.rules.doable import DOABLE, recognised
from covey.brains.rules.words import FILLER, hear, roots
from covey.planning.model import EVERY_S, Template

OWN = Path(__file__).with_name("templates.toml")
TEXT_CHARS = 2_000
MOST = 2_000
"""So many templates a file may have."""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SHORTEST_S, _LONGEST_S = 60.0, 366 * 86_400.0
_duration_form = formed(r"\d{1,7}[smhd]", 'a time as "30m", "6h" or "7d"')
_word = formed(r"[^\W\d_]{1,40}", "one word")
_able = formed(r"[a-z0-9][a-z0-9_-]{0,31}", "a capability: a word of a-z, 0-9, - and _, at most 32 characters")


class Templates(NamedTuple):
    """The templates in force, and what is wrong with the user's file: {line, column, path, message} each."""

    all: tuple[Template, ...]
    faults: tuple[dict[str, Any], ...] = ()
    refused: str = ""
    """Why there are none; empty where there are."""

    def of_role(self, role: str) -> list[Template]:
        """Those of a role, in the file's order."""
        return [each for each in self.all if each.role == role]

    @property
    def roles(self) -> frozenset[str]:
        """The roles that have any."""
        return frozenset(each.role for each in self.all)


def _duration(faults: Faults, at: At, value: object) -> Any:
    found = _duration_form(faults, at, value)
    if found is BAD:
        return BAD
    seconds = int(found[:-1]) * _UNITS[found[-1]]
    return seconds if _SHORTEST_S <= seconds <= _LONGEST_S else refuse(faults, at, value, "a minute to a year")


def _needs(faults: Faults, at: At, value: object) -> Any:
    good = len(faults.found)
    found = values(faults, at, value, {"project": flag, "capability": _able})
    return found if len(faults.found) == good else BAD


def _text(faults: Faults, at: At, value: object) -> Any:
    found = text(faults, at, value)
    if found is not BAD and not (found.strip() and len(found) <= TEXT_CHARS):
        return refuse(faults, at, value, f"what is to be done, in 1 to {TEXT_CHARS:,} characters")
    return found


KEYS: Mapping[str, Check] = {
    "text": _text,
    "rules": one_of(DOABLE),
    "every": _duration,
    "estimate": _duration,
    "priority": one_of(PRIORITIES),
    "needs": _needs,
    "with": agent_name,
    "changes": flag,
    "approval": flag,
    "about": list_of(_word, 'a list of words, as ["cost", "budget"]'),
}
_template_id = formed(ID_FORM.pattern.replace("{1,128}", "{1,60}"), "letters, digits and . _ : -, at most 60 characters")


def of(settings: PlanningSettings) -> Templates:
    """The templates that the settings ask for; read once for as long as the files stay as they are.

    A file that can't be used is told in `refused` (none are in force then) or, if what is right of it is used, in `faults`.
    """
    return _of(settings.templates, settings.mode, settings.faults, _stamp(Path(settings.templates)) if settings.templates else (0, 0))


def check(settings: PlanningSettings) -> Templates:
    """As `of`, where a file with faults that is to be refused is an error.

    Raises:
        Misconfigured: The user's file is refused, with every fault and its place.
    """
    found = of(settings)
    if found.refused:
        raise Misconfigured(found.refused, list(found.faults))
    return found


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_mtime_ns, found.st_size


def _read(path: Path) -> str:
    if not path.exists():
        raise Misconfigured(f"there is no file {path}, which covey.toml names as planning.templates; write it, or leave that line out.")
    return read(path)


@lru_cache(maxsize=8)
def _of(path: str, mode: str, faulty: str, _stamp: tuple[int, int]) -> Templates:
    usual = loaded(OWN.read_text(encoding="utf-8"), str(OWN), own=False).all
    if not path:
        return Templates(usual)
    try:
        found = loaded(_read(Path(path)), path, skip=faulty == "skip")
    except Misconfigured as error:
        told = tuple(error.faults) or ({"line": None, "column": None, "path": path, "message": error.message},)
        return Templates(usual, told) if (faulty, mode) == ("skip", "add") else Templates((), told, error.message)
    if mode == "replace":
        return found
    theirs = {(each.role, each.id): each for each in found.all}
    kept = [theirs.pop((each.role, each.id), each) for each in usual]
    return Templates((*kept, *theirs.values()), found.faults)


def loaded(source: str, name: str, *, skip: bool = False, own: bool = True) -> Templates:
    """The templates of a text. `skip`: those with a fault are left out and told, instead of all being refused.

    Raises:
        Misconfigured: It has faults, or is no TOML at all; each with its line.
    """
    faults = Faults(name, source)
    document = parsed(name, source)
    found: dict[tuple[str, str], Template] = {}
    for role, table in document.items():
        agent_name(faults, (role,), role)
        if not isinstance(table, dict):
            refuse(faults, (role,), table, f"a table of templates: [{role}]")
            continue
        for ident, written in table.items():
            template = _template(faults, role, ident, written, own=own)
            if template is not None:
                found[role, ident] = template
    if len(found) > MOST:
        faults.add(next(iter(found)), f"is one of {len(found):,} templates; a file may have {MOST:,}")
    if not faults.found:
        return Templates(tuple(found.values()))
    error = refusal(faults)
    if not skip:
        raise error
    bad = {each.at[:2] if isinstance(each.at, tuple) else () for each in faults.found}
    whole = {at[0] for at in bad if len(at) == 1}
    good = tuple(each for key, each in found.items() if key not in bad and key[0] not in whole)[:MOST]
    return Templates(good, tuple(error.faults))


def _template(faults: Faults, role: str, ident: str, written: object, *, own: bool) -> Template | None:
    """One template, or None with its faults noted."""
    at, before = (role, ident), len(faults.found)
    _template_id(faults, at, ident)
    draft = values(faults, at, written, KEYS)
    if isinstance(written, dict) and "text" not in written:
        faults.add(at, 'has no text; write what is to be done: text = "…"')
    if len(faults.found) > before:
        return None
    does = recognised(draft["text"])
    if "rules" in draft and (does is None or does.topic.name != draft["rules"]):
        said = f"would be taken for {does.topic.name}" if does else "would not recognise this text"
        faults.add((*at, "rules"), f'is "{draft["rules"]}", but the rules brain {said}; leave it out, or word the text otherwise')
        return None
    needs, changes = draft.get("needs", {}), draft.get("changes", False)
    return Template(
        id=ident,
        role=role,
        text=draft["text"],
        rules=does.topic.name if does is not None else "",
        every_s=draft.get("every", EVERY_S),
        estimate_s=draft.get("estimate", 1_800.0),
        priority=draft.get("priority", "low"),
        project=needs.get("project", changes),
        capability=needs.get("capability", ""),
        partner=draft.get("with", ""),
        changes=changes,
        approval=draft.get("approval", changes),
        about=roots(" ".join(draft.get("about", ()))) | (hear(draft["text"]).words - FILLER),
        own=own,
    )
