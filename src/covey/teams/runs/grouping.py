"""Workers under supervisors, at most so many under each; beyond that there are sub-supervisors (Q2). Pure.

A sub-supervisor is a level at which work is passed on and results are put together: what a worker can't do goes to the others of its
group first. It is named by the first worker of the group, and takes no brain's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Group(NamedTuple):
    """The workers, or the groups, under one sub-supervisor."""

    lead: str
    workers: tuple[str, ...]
    groups: tuple[Group, ...] = ()


def groups_of(workers: Sequence[str], span: int) -> list[Group]:
    """The groups of these workers, in order; none if one supervisor is enough."""
    if len(workers) <= span:
        return []
    width = max(span, 2)
    level = [Group(some[0], tuple(some)) for some in _shares(workers, span)]
    while len(level) > width:
        level = [Group(some[0].lead, (), tuple(some)) for some in _shares(level, width)]
    return level


def _shares(items: Sequence[T], most: int) -> list[Sequence[T]]:
    count = -(-len(items) // most)
    size, more = divmod(len(items), count)
    shares, start = [], 0
    for number in range(count):
        end = start + size + (number < more)
        shares.append(items[start:end])
        start = end
    return shares


def near(worker: str, groups: Sequence[Group]) -> frozenset[str]:
    """Those under the same sub-supervisor as a worker; nobody if there is none."""
    for group in groups:
        if worker in group.workers:
            return frozenset(group.workers)
        found = near(worker, group.groups)
        if found:
            return found
    return frozenset()
