"""The sections of covey.toml, each read by itself into plain drafts. What holds between sections is judged in `fleet`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.base.config.brain import brain
from covey.base.config.faults import Faults
from covey.base.config.keys import RECORD, RESERVED, agent_name, record_name, values
from covey.base.config.shapes import Check, refuse
from covey.base.defaults import AGENTS, BY_NAME

Drafts = dict[str, dict[str, Any]]
"""Of each name the fields that are written and fit."""

MOST_AGENTS = 10_000
_AGENT = RECORD["agents"] | {"brain": brain}


def agents(faults: Faults, table: object) -> Drafts:
    """The agents as written; the default eight if there is no such section (A1, A2)."""
    if table is None:
        return {agent.id: {"role": agent.role, "buddy": agent.buddy, "capabilities": agent.capabilities} for agent in AGENTS}
    found = _records(faults, "agents", table, agent_name, lambda at, one: _agent(faults, at, one))
    if isinstance(table, dict) and not 1 <= len(table) <= MOST_AGENTS:
        faults.add(("agents",), f"has {len(table):,} agents; allowed: 1 to {MOST_AGENTS:,}; without this section the default eight stand")
    for name in RESERVED & found.keys():
        faults.add(("agents", name), f'"{name}" is reserved; call the agent something else')
    return found


def _agent(faults: Faults, at: tuple[str, str], table: object) -> dict[str, Any]:
    """One agent; a default name without a role of its own keeps the default's role and capabilities."""
    draft = values(faults, at, table, _AGENT)
    known = BY_NAME.get(at[1])
    if known and isinstance(table, dict) and "role" not in table:
        draft = {"role": known.role, "capabilities": known.capabilities} | draft
    thinks = draft.get("brain")
    for lanes in ("message_lanes", "task_lanes"):
        if thinks and thinks.kind == "command" and draft.get(lanes, 1) > 1:
            faults.add((*at, lanes), f"is {draft[lanes]}; a command brain has one lane")
    return draft


def projects(faults: Faults, table: object) -> Drafts:
    """The projects as written (A1b)."""
    return _records(faults, "projects", table, record_name, lambda at, one: values(faults, at, one, RECORD["projects"]))


def schedules(faults: Faults, table: object) -> Drafts:
    """The schedules as written (K6a); cron and zone are judged elsewhere."""
    return _records(faults, "schedules", table, record_name, lambda at, one: _schedule(faults, at, one))


def _schedule(faults: Faults, at: tuple[str, str], table: object) -> dict[str, Any]:
    draft = values(faults, at, table, RECORD["schedules"])
    if not isinstance(table, dict):
        return draft
    if not draft.get("text", "").strip() and ("text" in draft or "text" not in table):
        faults.add(at, 'has no text; write what is to be done: text = "…"')
    if not any(table.get(who) for who in ("agent", "capability")):
        faults.add(at, "has neither agent nor capability; write who does it")
    cron = table.get("cron", "") != ""
    if ("every_s" in table) == cron:
        both = "both every_s and cron" if cron else "neither every_s nor cron"
        faults.add(at, f"has {both}; write one of them")
    return draft


def webhooks(faults: Faults, table: object) -> Drafts:
    """The webhooks as written; what their keys may hold is judged elsewhere."""
    return _records(faults, "webhooks", table, record_name, lambda at, one: _webhook(faults, at, one))


def _webhook(faults: Faults, at: tuple[str, str], table: object) -> dict[str, Any]:
    for key, example in (("url", 'url = "https://…"'), ("kinds", 'kinds = ["task.done"]'), ("secret", 'secret = "env:NAME"')):
        if isinstance(table, dict) and not table.get(key):
            faults.add(at, f"has no {key}; write {example}")
    return values(faults, at, table, RECORD["webhooks"])


def _records(
    faults: Faults, section: str, table: object, name_check: Check, read: Callable[[tuple[str, str], object], dict[str, Any]]
) -> Drafts:
    """The named tables of a section. A bad name is a fault, and its table is read all the same."""
    if table is None:
        return {}
    if not isinstance(table, dict):
        refuse(faults, (section,), table, f"tables named {section}.NAME")
        return {}
    for name in table:
        name_check(faults, (section, name), name)
    return {name: read((section, name), one) for name, one in table.items()}
