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
    """The tasks so that each comes after those it needs, else as they stood; and those that need themselves, or one that does."""
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
    return found, [by_id[ident] for ident, count in open_needs.items() if count]
