"""A goal cut into steps: by its parts, by a brain's plan, or by the rules of its type and mode (Q2). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from covey.base.errors import Invalid
from covey.tasks.model import TaskDraft
from covey.teams.decomposing import subtasks_of
from covey.teams.runs.model import GENERAL, MOST_STEPS, Part, Step, TeamDraft, check_needs

IN_ORDER = frozenset({"research", "create"})
"""Types whose steps work on the results of the step before."""


def steps_of(draft: TeamDraft, workers: Sequence[str]) -> list[Step]:
    """The steps by rule. `workers` do one each of a broadcast."""
    usual = draft.capability or GENERAL
    if draft.parts:
        return [_step(place, part, usual) for place, part in enumerate(draft.parts, 1)]
    if draft.mode == "broadcast":
        return [Step(place, "broadcast", draft.goal, _any(draft), worker) for place, worker in enumerate(workers, 1)]
    if draft.mode == "route":
        return [Step(1, "route", draft.goal, _any(draft))]
    if draft.type not in IN_ORDER:
        return [Step(1, "execute", draft.goal, (usual,))]
    return [
        Step(
            place,
            each["type"],
            f"{each['description']}: {draft.goal}",
            (draft.capability or each["type"],),
            None,
            (place - 1,) if place > 1 else (),
        )
        for place, each in enumerate(subtasks_of({"type": draft.type}, ""), 1)
    ]


def _any(draft: TeamDraft) -> tuple[str, ...]:
    """What a worker should be capable of who does the whole: all that the parts would ask for, as far as may be."""
    if draft.capability or draft.type not in IN_ORDER:
        return (draft.capability or GENERAL,)
    return tuple(each["type"] for each in subtasks_of({"type": draft.type}, ""))


def probe_of(draft: TeamDraft) -> Step:
    """A step that asks for what each worker of a broadcast must be able to do."""
    return Step(0, "broadcast", draft.goal, _any(draft))


def _step(place: int, part: Part, usual: str) -> Step:
    asked = part.capability or (None if part.worker else usual)
    return Step(
        place, part.capability or "part", part.description, (asked,) if asked else (), part.worker, tuple(dict.fromkeys(part.needs))
    )


def planned(drafts: Sequence[TaskDraft], workers: Sequence[str], usual: str = GENERAL) -> list[Step]:
    """The steps of a brain's plan: its tasks, which name one another by `taskId` in `dependencies`, and a worker or a capability.

    Raises:
        Invalid: It names a worker that there is not, a part that there is not, or a circle; who there is, is said.
    """
    if not 1 <= len(drafts) <= MOST_STEPS:
        raise Invalid(f"the plan has {len(drafts)} parts; it may have 1 to {MOST_STEPS}.", field="tasks")
    places = {each.task_id: place for place, each in enumerate(drafts, 1) if each.task_id}
    steps = []
    for place, each in enumerate(drafts, 1):
        unknown = [name for name in each.dependencies if name not in places]
        if unknown:
            raise Invalid(f"part {place} needs {unknown[0]!r}; the parts are called {', '.join(places) or 'nothing'}.", field="tasks")
        agent = each.agent if each.agent not in ("", "*") else None
        capability = agent[1:] if agent is not None and agent.startswith("@") else each.capability
        worker = agent if agent is not None and not agent.startswith("@") else None
        if worker is not None and worker not in workers:
            raise Invalid(f"part {place} is for {worker!r}; the workers are {', '.join(workers)}.", field="tasks", nearest=list(workers))
        needs = [places[name] for name in each.dependencies]
        steps.append(_step(place, Part(description=each.description, capability=capability, worker=worker, needs=needs), usual))
    check_needs([step.needs for step in steps])
    return steps
