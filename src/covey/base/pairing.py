"""Who watches whom in a fleet, decided from names alone (B1). Pure: no settings, no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def complete(names: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Each agent with the one it watches: as named, and the rest by themselves (B1); nobody in a fleet of one.

    Who is named by another and names nobody watches back. The rest are paired in order; an odd one out makes a ring of three with the
    last pair that has nothing written against it. If there is none, it watches the agent before it. `named` holds names of the fleet
    only, and nobody under its own.
    """
    found = {name: named[name] for name in names if named.get(name)}
    pairs = []
    for name in names:
        buddy = found.get(name)
        if buddy is not None and buddy not in found:
            found[buddy] = name
            pairs.append((name, buddy))
    lone = [name for name in names if name not in found]
    pairs += zip(lone[::2], lone[1::2], strict=False)
    found |= {name: buddy for first, second in pairs for name, buddy in ((first, second), (second, first))}
    if len(lone) % 2 and len(names) > 1:
        found |= _with_the_odd_one(lone[-1], pairs, names)
    return found


def _with_the_odd_one(odd: str, pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> dict[str, str]:
    """Who is watched otherwise now that the odd one is there too."""
    if not pairs:
        return {odd: names[names.index(odd) - 1]}
    first, second = pairs[-1]
    return {second: odd, odd: first}
