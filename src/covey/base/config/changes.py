"""What differs between two fleets' settings, and what each difference takes to come into force. Pure; applying it is others' work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from covey.base.config.outline import RECORDS, SECTIONS, SINGLES, Takes
from covey.base.settings import AgentSettings, Settings

LIVE_OF_AGENT = frozenset({"role", "buddy", "owner", "organisation", "capabilities", "plan", "mcp_profile"})
LIVE_OF_FLEET = frozenset({"lead", "deputy", "notify"})
"""What the store tells a running process. All else is what it was started with."""
FLEET_RESTARTS = frozenset(
    (
        *("root", "data_dir", "shared_dir", "logs_dir", "store", "durability", "pooler", "tokens", "processes", "watchdog_s"),
        *("host", "console_port", "gateway_port", "gateway", "allowed_hosts", "open_metrics", "open_status"),
    )
)
_ASIDE = frozenset({*SECTIONS, "base_port", "only"})
"""Not keys of the fleet, or seen only by what follows from them: base_port by the ports, only by who runs."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference. `name` is the agent, project, schedule or organisation, empty for the fleet and the retention."""

    section: str
    name: str = ""
    how: Literal["added", "removed", "changed"]
    fields: tuple[str, ...] = ()
    """The keys that differ, of what is changed."""
    restart: Takes = "nothing"


def diff(old: Settings, new: Settings) -> list[Change]:
    """What is different in the new settings: the fleet first, then all else section by section."""
    changes = list(_fleet(old, new))
    for section in RECORDS:
        changes += _records(section, getattr(old, section), getattr(new, section))
    changes += _features(old, new)
    for section, single in SINGLES.items():
        if fields := _differing(getattr(old, section), getattr(new, section)):
            changes.append(Change(section=section, how="changed", fields=fields, restart=single.restart))
    return changes


def _fleet(old: Settings, new: Settings) -> Iterator[Change]:
    """One change for what applies live, one for what needs a restart."""
    differing = [field for field in _differing(old, new) if field not in _ASIDE]
    if live := tuple(field for field in differing if field in LIVE_OF_FLEET):
        yield Change(section="fleet", how="changed", fields=live)
    if each := tuple(field for field in differing if field not in LIVE_OF_FLEET | FLEET_RESTARTS):
        yield Change(section="fleet", how="changed", fields=each, restart="agents")
    if fixed := tuple(field for field in differing if field in FLEET_RESTARTS):
        yield Change(section="fleet", how="changed", fields=fixed, restart="fleet")


def _records(section: str, old: Sequence[msgspec.Struct], new: Sequence[msgspec.Struct]) -> Iterator[Change]:
    before, after = _by_name(old), _by_name(new)
    for name in before:
        if name not in after:
            yield Change(section=section, name=name, how="removed")
    for name, one in after.items():
        if name not in before:
            yield Change(section=section, name=name, how="added")
        elif fields := _differing(before[name], one):
            restart: Takes = "agent" if section == "agents" and not LIVE_OF_AGENT.issuperset(fields) else "nothing"
            yield Change(section=section, name=name, how="changed", fields=fields, restart=restart)


def _features(old: Settings, new: Settings) -> Iterator[Change]:
    """By organisation; a flag that is not named is on, so one that goes changes too."""
    for name in sorted(old.features.keys() | new.features.keys()):
        before, after = old.features.get(name), new.features.get(name)
        if before is None or after is None:
            yield Change(section="features", name=name, how="added" if before is None else "removed")
        elif before != after:
            fields = sorted(flag for flag in before.keys() | after.keys() if before.get(flag) != after.get(flag))
            yield Change(section="features", name=name, how="changed", fields=tuple(fields))


def _by_name(records: Sequence[msgspec.Struct]) -> dict[str, msgspec.Struct]:
    return {str(getattr(one, "id" if isinstance(one, AgentSettings) else "name")): one for one in records}


def _differing(old: msgspec.Struct, new: msgspec.Struct) -> tuple[str, ...]:
    """The fields that are not equal, in their order."""
    return tuple(field for field in new.__struct_fields__ if getattr(old, field) != getattr(new, field))
