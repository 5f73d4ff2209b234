"""Ids and tokens as they are made, and the form in which times and names leave the fleet (T1, T3)."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey.api
import covey.messages.model
import covey.tasks.model
from covey.base.clock import SystemClock
from covey.base.ids import Ids, is_agent_name, is_id, new_secret
from tests.rules import rule

CAMEL = re.compile(r"[a-z][a-zA-Z0-9]*")


@rule("T3")
@given(st.sampled_from(["msg", "task", "thread"]), st.floats(0, 4e9), st.floats(0.002, 4e9))
def test_an_id_has_its_prefix_and_sorts_by_the_time_it_was_made(prefix: str, at: float, later: float) -> None:
    ids = Ids()
    first, second = ids.new(prefix, at), ids.new(prefix, at + later)
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", first)
    assert first < second
    assert is_id(first), "what is made has the form of what may be brought"


@rule("T3")
def test_ids_of_one_moment_are_all_different_and_in_no_order() -> None:
    ids = Ids()
    made = [ids.new("msg", 1_800_000_000.0) for _ in range(2000)]
    assert len(set(made)) == 2000
    assert made != sorted(made), "nobody may take them for an order"


def test_ids_of_a_seeded_source_are_the_same_again() -> None:
    def some(seed: int) -> list[str]:
        ids = Ids(random.Random(seed))
        return [ids.new("task", 1.0), ids.token()]

    assert some(1) == some(1) != some(2)


def test_tokens_can_not_be_guessed() -> None:
    ids = Ids()
    assert len({ids.token() for _ in range(1000)}) == 1000
    assert re.fullmatch(r"[0-9a-f]{32}", ids.token())
    assert len(new_secret()) >= 43


@rule("T3")
@pytest.mark.parametrize(("text", "fits"), [("a", True), ("A-b_c.d:e", True), ("x" * 128, True), ("x" * 129, False), ("", False), ("a b", False), ("ä", False), ("a\n", False)])  # fmt: skip
def test_the_form_of_an_id_that_is_brought(text: str, fits: bool) -> None:
    assert is_id(text) is fits


@rule("A2")
@pytest.mark.parametrize(("text", "fits"), [("a", True), ("a-1", True), ("a" * 32, True), ("a" * 33, False), ("1a", False), ("A", False), ("a_b", False), ("", False), ("a\n", False)])  # fmt: skip
def test_the_form_of_an_agents_name(text: str, fits: bool) -> None:
    assert is_agent_name(text) is fits


def shapes() -> Iterator[type[msgspec.Struct]]:
    """Every struct of messages, of tasks, and of the HTTP door."""
    doors = [importlib.import_module(f"covey.api.{each.name}") for each in pkgutil.iter_modules(covey.api.__path__)]
    for module in (covey.messages.model, covey.tasks.model, *doors):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__:
                yield kind


def is_spread(kind: object) -> bool:
    """Whether it tells how many durations there were and how they lie, each a number, as the seeds' `responseTime`."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct) and "p95" in kind.__struct_fields__


@rule("T1")
def test_every_field_that_leaves_the_fleet_is_in_camel_case_and_times_are_numbers() -> None:
    seen = 0
    for kind in shapes():
        for field in msgspec.structs.fields(kind):
            seen += 1
            assert field.encode_name == "grace_s" or CAMEL.fullmatch(field.encode_name), (
                f"{kind.__name__}.{field.encode_name}"
            )  # A5a spells it so
            if re.search(r"(At|imestamp|eadline|^at|notBefore|Time)$", field.encode_name):
                assert "float" in str(field.type) or is_spread(field.type), f"{kind.__name__}.{field.encode_name} is {field.type}"
    assert seen > 100


@rule("T2")
def test_the_machines_own_clock_goes_on_and_knows_its_boot() -> None:
    clock = SystemClock()
    first = clock.boot()
    assert 0 < first <= clock.boot()
    assert re.fullmatch(r"[0-9a-f-]{36}", clock.boot_id())
    assert clock.wall() > 1.7e9
