"""Which templates an idle agent gets: fit, relevant, longest not done. Pure; `planning` reads the facts and makes the tasks (P2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from covey.planning.model import Template

WORDS_COUNTED = 5
"""So many words in common with recent decisions count."""


class Past(NamedTuple):
    """What is known of a template's last task for an agent."""

    made_at: float
    done_at: float | None = None
    is_open: bool = False


class Scene(NamedTuple):
    """What the choice goes by."""

    now: float
    capabilities: frozenset[str] = frozenset()
    projects: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    """The roots of the words of recent decisions."""
    waiting: frozenset[str] = frozenset()
    """The roles of those who wait for the agent."""
    partners: Mapping[str, str] = {}
    """Role → the colleague who plays it, able and fit to be a partner."""
    can: Callable[[Template], bool] = lambda _: True
    """Whether the agent's brain is able to do it."""


class Choice(NamedTuple):
    """A template that fits: for which project, with whom, and when it is due."""

    template: Template
    project: str | None
    partner: str | None
    relevance: int
    last_done: float
    """0 if never."""
    due_at: float

    @property
    def key(self) -> str:
        """What the memory of it goes by: a template is done for each project by itself."""
        return f"{self.template.id}@{self.project}" if self.project is not None else self.template.id


class Chosen(NamedTuple):
    """The choices to be made now, and when the next one is due: None if nothing will be by itself."""

    now: list[Choice]
    next_at: float | None
    fitting: int
    """How many fit at all, whether due or not."""


def choose(templates: Sequence[Template], scene: Scene, pasts: Mapping[str, Past], room: int) -> Chosen:
    """At most `room` of the templates: none that is open or in its cool-down, the relevant first, then the longest not done."""
    fitting = [each for template in templates for each in _fitting(template, scene, pasts)]
    due = sorted((each for each in fitting if each.due_at <= scene.now), key=_order)
    later = [each.due_at for each in fitting if each.due_at > scene.now]
    now = due[: max(0, room)]
    next_at = scene.now if len(due) > len(now) else min(later, default=None)
    return Chosen(now, next_at, len(fitting))


def _fitting(template: Template, scene: Scene, pasts: Mapping[str, Past]) -> list[Choice]:
    """The template for each project that it may be done for, as far as it fits the agent and is not open."""
    partner = scene.partners.get(template.partner) if template.partner else None
    if (template.partner and partner is None) or (template.capability and template.capability not in scene.capabilities):
        return []
    if not scene.can(template):
        return []
    found = []
    for project in scene.projects if template.project else (None,):
        choice = Choice(template, project, partner, _relevance(template, scene), 0.0, 0.0)
        past = pasts.get(choice.key)
        if past is None:
            found.append(choice)
        elif not past.is_open:
            last = past.done_at if past.done_at is not None else past.made_at
            found.append(choice._replace(last_done=last, due_at=past.made_at + template.every_s))
    return found


def _relevance(template: Template, scene: Scene) -> int:
    """More for what an active project asks for, for whom somebody waits, and for what was decided of late."""
    project = 4 if template.project and scene.projects else 0
    waited = 3 if template.partner in scene.waiting and template.partner else 0
    return project + waited + min(WORDS_COUNTED, len(template.about & scene.words))


def _order(each: Choice) -> tuple[int, float]:
    """What is equal keeps the order of the file."""
    return -each.relevance, each.last_done
