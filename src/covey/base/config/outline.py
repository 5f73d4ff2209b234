"""The sections of covey.toml. Reading, showing and comparing all go by this list: a new section is a line here and a field of Settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from covey.base.settings import (
    A2aSettings,
    AgentSettings,
    PlanningSettings,
    ProjectSettings,
    Retention,
    ScheduleSettings,
    TelemetrySettings,
    WebhookSettings,
)

Takes = Literal["nothing", "agent", "agents", "fleet"]
"""What must start anew for a change: nothing (it applies live), this agent's process, every agent's, or by hand the whole fleet."""


class Single(NamedTuple):
    """A section that is one table."""

    form: type[msgspec.Struct]
    restart: Takes = "nothing"


RECORDS: Mapping[str, type[msgspec.Struct]] = {
    "agents": AgentSettings,
    "projects": ProjectSettings,
    "schedules": ScheduleSettings,
    "webhooks": WebhookSettings,
}
"""Sections of named tables, [SECTION.NAME]."""
SINGLES: Mapping[str, Single] = {
    "planning": Single(PlanningSettings, restart="agents"),
    "a2a": Single(A2aSettings, restart="agents"),
    "retention": Single(Retention),
    "telemetry": Single(TelemetrySettings, restart="agents"),
}
SECTIONS = ("fleet", *RECORDS, "features", *SINGLES)
"""All of them, in the order in which they are shown."""
