"""Tasks of a tree put into an order in which each comes after those that it needs. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from covey.files.foreign import Item
from covey.tasks.carried import CarriedTask


class Ordered(NamedTuple):
    """A task, where it stands in the tree, and the key that it may not go ahead of."""

    item: Item
    task: CarriedTask
    not_ahead_of: float


def in_order(tasks: Sequence[Ordered]) -> tuple[list[Ordered], list[Ordered]]:
    """The tasks so that each comes after those it needs, else as they stood; and those that a circle keeps from that.

    What merely needs a task of a circle stands at the end of the first list, and will be found to need what is not there.
    """
    by_id = {each.task.task_id: each for each in tasks}
    needed_by: defaultdict[str, list[str]] = defaultdict(list)
    open_needs: dict[str, int] = {}
    for ident, each in by_id.items():
        needs = {name for name in each.task.dependencies if name in by_id}
        open_needs[ident] = len(needs)
        for name in needs:
            needed_by[name].append(ident)
    line = deque(ident for ident, count in open_needs.items() if count == 0)
    found: list[Ordered] = []
    while line:
        ident = line.popleft()
        found.append(by_id[ident])
        for other in needed_by[ident]:
            open_needs[other] -= 1
            if open_needs[other] == 0:
                line.append(other)
    placed = {each.task.task_id for each in found}
    left = [each for ident, each in by_id.items() if ident not in placed]
    circle = _of_a_circle(left)
    return found + [each for each in left if each.task.task_id not in circle], [each for each in left if each.task.task_id in circle]


def _of_a_circle(left: list[Ordered]) -> set[str]:
    """Those of what is left that somebody who is left needs, again and again: the circles, without what merely hangs on them."""
    names = {each.task.task_id for each in left}
    needs = {each.task.task_id: {name for name in each.task.dependencies if name in names} for each in left}
    while True:
        needed = {name for ident in names for name in needs[ident]}
        unneeded = names - needed
        if not unneeded:
            return names
        names -= unneeded
