"""What a template is, what was planned, and the bounds of it. Data, no I/O."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.tasks.model import PLANNED

MOST_AT_ONCE = 3
"""So many generated tasks of an agent are open at most (P2)."""
DAY_S = 86_400.0
EVERY_S = DAY_S
"""The cool-down of a template that names none."""
ESTIMATE_S = 1_800.0
LATER_S = 3_600.0
"""So long at most until an agent that got nothing is looked at again."""
ANY = "any"
"""The role of templates for agents of no other role."""


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an idle agent of a role may be given to do (P1)."""

    id: str
    role: str
    text: str
    rules: str = ""
    """The work of the rules brain that does it; empty: it can't."""
    every_s: float = EVERY_S
    estimate_s: float = ESTIMATE_S
    priority: str = "low"
    project: bool = False
    """Whether it needs an active project."""
    capability: str = ""
    partner: str = ""
    """The role it is done with."""
    changes: bool = False
    approval: bool = False
    about: frozenset[str] = frozenset()
    """The roots of the words that it is about."""
    own: bool = False
    """Whether it comes from the user's file."""


class Planned(NamedTuple):
    """What a look at an agent came to: the tasks made, or why there are none, and when to look again."""

    agent: str
    tasks: tuple[str, ...]
    why: str
    next_at: float | None = None
    """Store time; None: as soon as the agent is idle with an empty queue."""


def topic_of(template: str, agent: str) -> str:
    """The dedupeKey of an agent's task from a template, and the thread of the mail it sends. Pure."""
    return f"{PLANNED}:{template}:{agent}"[:128]
