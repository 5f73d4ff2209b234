"""Who watches whom, and who covers: over fleets of any size (B1, B5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.defaults import AGENTS, BUDDY_PAIRS
from covey.buddies import pairing
from tests.rules import rule

FLEETS = st.integers(2, 50).map(lambda count: [f"a{number}" for number in range(count)])


@rule("B1")
def test_the_default_fleet_has_the_pairs_of_the_seed() -> None:
    assert pairing.pairs([agent.id for agent in AGENTS], {agent.id: agent.buddy for agent in AGENTS}) == BUDDY_PAIRS


@rule("B1")
def test_an_agent_that_is_alone_has_the_operator() -> None:
    assert pairing.pairs(["solo"]) == {"solo": "operator"}


@rule("B1")
@given(FLEETS)
def test_a_fleet_that_names_none_is_paired_by_itself(names: list[str]) -> None:
    found = pairing.pairs(names)
    assert set(found) == set(names)
    assert all(found[name] != name for name in names)
    assert sorted(found.values()) == sorted(names), "each one is watched by exactly one"
    rings = [name for name in names if found[found[name]] != name]
    assert len(rings) == (3 if len(names) % 2 else 0), "pairs watch each other; an odd one out makes a ring of three"
    assert all(found[found[found[name]]] == name for name in rings)
    assert pairing.unwatched(found) == []


@rule("B1")
@given(FLEETS, st.data())
def test_whoever_is_named_everyone_watches_exactly_one_other(names: list[str], data: st.DataObject) -> None:
    some = data.draw(st.lists(st.sampled_from(names), unique=True))
    named = {name: data.draw(st.sampled_from([other for other in names if other != name])) for name in some}
    found = pairing.pairs(names, named)
    assert set(found) == set(names)
    assert all(buddy in names and buddy != name for name, buddy in found.items())
    assert found | named == found, "what is written stands"
    lonely = pairing.unwatched(found)
    assert all(not pairing.watchers(found, name) for name in lonely)
    assert all(pairing.watchers(found, name) for name in set(names) - set(lonely))


@rule("B1")
@given(FLEETS)
def test_an_agent_that_comes_or_goes_changes_no_more_than_the_last_ring(names: list[str]) -> None:
    before, after = pairing.pairs(names), pairing.pairs([*names, "new"])
    assert len([name for name in names if before[name] != after[name]]) <= 3


@rule("B5")
@pytest.mark.parametrize(
    ("up", "who"),
    [
        ({"a", "b", "c", "chief", "ops"}, "a"),
        ({"c", "chief"}, "c"),
        ({"chief", "ops"}, "chief"),
        ({"ops"}, "ops"),
        (set(), "operator"),
        ({"b"}, "operator"),
    ],
)
def test_who_watches_it_covers_then_whom_it_watches_then_lead_and_deputy(up: set[str], who: str) -> None:
    assert pairing.coverer("b", {"a": "b", "b": "c", "c": "a"}, up, ("chief", "ops")) == who
