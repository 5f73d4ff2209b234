"""Where each setting comes from: a flag, the environment, the file, or nowhere, and then it is as by default. Pure, but for `written`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from covey.base.config.source import parsed, read
from covey.base.errors import Misconfigured
from covey.base.settings import Settings

Outer = Literal["environment", "flag"]
Origin = Literal["default", "covey.toml", "environment", "flag", "an earlier covey.toml"]
DERIVED = frozenset({"data_dir", "shared_dir", "logs_dir", "console_port", "gateway_port", "lead", "deputy"})
"""Where nothing is said, these are made from the other settings, so that their values are no mark of anything."""
REWRITTEN = DERIVED | {"store", "templates"}
"""These are in force in other words than the file's."""
_USUAL = {field: getattr(Settings(agents=()), field) for field in Settings.__struct_fields__}


class Origins(NamedTuple):
    """Where the settings of a fleet come from: its file, what stands in it, and what was given at its start from outside of it."""

    file: str
    """Empty: there is none."""
    written: Mapping[str, Any]
    """What stands in the file, by `fleet.lease_s` or `planning.usd`."""
    outer: Mapping[str, Outer]

    def of(self, section: str, key: str, value: Any, *, usual: bool) -> Origin:
        """Where the value in force comes from. `usual`: whether it is as by default. Pure."""
        if section == "fleet" and key in self.outer:
            return self.outer[key]
        if f"{section}.{key}" in self.written and not self.differs(section, key, value):
            return "covey.toml"
        return "default" if usual else "an earlier covey.toml"

    def differs(self, section: str, key: str, value: Any) -> bool:
        """Whether the file says something else by now, as far as that can be seen. Pure."""
        said = self.written.get(f"{section}.{key}")
        return isinstance(said, str | int | float) and key not in REWRITTEN and said != value


NOTHING_KNOWN = Origins("", {}, {})


def is_usual(key: str, settings: Settings) -> bool:
    """Whether a key of [fleet] is as by default, or made from others. Pure."""
    return key in DERIVED or getattr(settings, key) == _USUAL[key]


def written(file: Path) -> dict[str, Any]:
    """What stands in a file of the fleet, section by section; nothing if it can't be read."""
    try:
        document = parsed(str(file), read(file))
    except Misconfigured:
        return {}
    return {f"{section}.{key}": value for section, table in document.items() if isinstance(table, dict) for key, value in table.items()}
