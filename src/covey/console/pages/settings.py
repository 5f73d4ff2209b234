"""What the fleet is configured to be, and where each value comes from; budgets, paused threads, flags, projects. No secret is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from markupsafe import Markup

from covey.base.config.origins import Origin, Origins, is_usual
from covey.base.config.outline import SINGLES
from covey.base.config.show import describe
from covey.base.config.spelling import spelled
from covey.base.settings import Settings
from covey.console import pieces, views
from covey.console.console import console_of
from covey.console.rendering import Place, render
from covey.console.routes import Operations, page, shared
from covey.console.shown import span
from covey.console.views import Configured
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing

PLACE = Place("/settings", "Settings")
GROUPS: tuple[tuple[str, frozenset[str]], ...] = (
    ("Who leads", frozenset({"lead", "deputy", "notify"})),
    (
        "Addresses",
        frozenset({"host", "base_port", "console_port", "gateway", "gateway_port", "allowed_hosts", "open_metrics", "open_status"}),
    ),
    ("Places and store", frozenset({"data_dir", "shared_dir", "logs_dir", "store", "durability", "pooler", "tokens"})),
    ("Mail and links", frozenset({"links", "limits", "digest_s", "wake_debounce_s", "wait_s"})),
    ("Work", frozenset({"lease_s", "estimate_s", "idle_timeout_s", "hard_cap_s", "cycle_s"})),
    ("Care", frozenset({"processes", "heartbeat_s", "stale_s", "stall_s", "back_s", "start_s", "grace_s", "watchdog_s", "buddy_check_s"})),
)
"""The keys of [fleet] as they are shown; one that stands in none comes under `More of [fleet]`."""
BUDGETS = (("turns", "Turns of paid brains"), ("usd", "US dollars"))


class Line(NamedTuple):
    """One setting as it is in force."""

    key: str
    value: str
    """As covey.toml has it."""
    words: str
    """As a person reads it, where that differs."""
    origin: Origin
    pending: bool
    """Whether covey.toml says something else by now."""


class Group(NamedTuple):
    """Settings that belong together."""

    title: str
    lines: tuple[Line, ...]


def groups_of(settings: Settings, origins: Origins) -> list[Group]:
    """The settings in force, secrets masked, each with where it comes from. Pure."""
    told = describe(settings)
    fleet = {key: _line(origins, "fleet", key, value, usual=is_usual(key, settings)) for key, value in told["fleet"].items()}
    found = [Group(title, tuple(line for key, line in fleet.items() if key in keys)) for title, keys in GROUPS]
    grouped = frozenset().union(*(keys for _, keys in GROUPS))
    found.append(Group("More of [fleet]", tuple(line for key, line in fleet.items() if key not in grouped)))
    for section in SINGLES:
        usual = type(getattr(settings, section))()
        lines = [
            _line(origins, section, key, value, usual=getattr(usual, key) == getattr(getattr(settings, section), key))
            for key, value in told[section].items()
        ]
        found.append(Group(f"[{section}]", tuple(lines)))
    return [group for group in found if group.lines]


def _line(origins: Origins, section: str, key: str, value: Any, *, usual: bool) -> Line:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    words = span(value) if key.endswith("_s") and value >= 60 else ""
    pending = origins.differs(section, key, value) and key not in origins.outer
    return Line(key, spelled(value), words, origins.of(section, key, value, usual=usual), pending)


async def read_configured(call: Call[Any, Any]) -> Configured:
    """What the store has of the configuration, read once for all parts of the page and all who look."""
    return await console_of(call).shared.get("configured", lambda: call.door.store.read(views.configured))


async def force_part(call: Call[Any, Any]) -> Markup:
    """The settings in force."""
    settings = call.door.settings
    origins = await asyncio.to_thread(console_of(call).origins, settings)
    return render("settings/force.html", groups=groups_of(settings, origins), file=origins.file)


def budgets_part(found: Configured) -> Markup:
    """The budgets of a day, and what is spent of them. Pure."""
    own = [each for each in found.budgets["agents"] if each["limit"] != found.budgets["tasks"]["limit"] or each["spent"]]
    return render("settings/budgets.html", budgets=found.budgets, funds=BUDGETS, agents=own, meter=pieces.meter, agent=pieces.agent)


def paused_part(found: Configured) -> Markup:
    """Threads in which no agent may send. Pure."""
    return render("settings/paused.html", pauses=found.pauses, thread=pieces.thread)


def flags_part(found: Configured) -> Markup:
    """Feature flags by organisation or owner, and the links that stand behind one. Pure."""
    return render("settings/flags.html", policy=found.policy, links=found.flagged)


def projects_part(found: Configured) -> Markup:
    """Projects, where they lie, who works on them. Pure."""
    return render("settings/projects.html", projects=found.projects, agent=pieces.agent)


PARTS: dict[str, Callable[[Configured], Markup]] = {
    "budgets": budgets_part,
    "paused": paused_part,
    "flags": flags_part,
    "projects": projects_part,
}


async def get_settings(call: Call[Nothing, Nothing]) -> Answer:
    """The page."""
    found = await read_configured(call)
    parts = {name: make(found) for name, make in PARTS.items()} | {"force": await force_part(call)}
    return console_of(call).whole(call, "settings/settings.html", parts=parts)


async def get_force(call: Call[Nothing, Nothing]) -> Answer:
    """The settings in force alone."""
    return await shared(call, lambda: force_part(call))


def _part_of(make: Callable[[Configured], Markup]) -> Callable[[Call[Nothing, Nothing]], Any]:
    async def get_part(call: Call[Nothing, Nothing]) -> Answer:
        async def made() -> Markup:
            return make(await read_configured(call))

        return await shared(call, made)

    return get_part


OPERATIONS: Operations = (
    page("/settings", get_settings, "Settings."),
    page("/settings/force", get_force, "The settings in force."),
    *(page(f"/settings/{name}", _part_of(make), f"Settings: {name}.") for name, make in PARTS.items()),
)
