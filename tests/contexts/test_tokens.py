"""The estimate of tokens, held against exact counts of the o200k vocabulary that stand beside the samples (C1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.contexts.tokens import tokens_of
from tests.rules import rule

SAMPLES = Path(__file__).parents[1] / "data" / "token_samples.json"


class Sample(NamedTuple):
    """A text with its kind and its exact count."""

    kind: str
    name: str
    tokens: int
    text: str


ALL = [Sample(**each) for each in json.loads(SAMPLES.read_text(encoding="utf-8"))]


def test_there_are_samples_of_all_kinds() -> None:
    assert {each.kind for each in ALL} == {"prose", "code", "json", "logs", "cjk", "base64", "ids"}
    assert all(each.tokens >= 50 for each in ALL)


@rule("C1")
@pytest.mark.parametrize("sample", ALL, ids=[f"{each.kind}-{each.name}" for each in ALL])
def test_no_kind_of_text_is_counted_more_than_a_tenth_too_low(sample: Sample) -> None:
    assert tokens_of(sample.text) >= 0.9 * sample.tokens


@rule("C1")
@pytest.mark.parametrize("sample", ALL, ids=[f"{each.kind}-{each.name}" for each in ALL])
def test_no_kind_of_text_is_counted_wildly_too_high(sample: Sample) -> None:
    assert tokens_of(sample.text) <= (1.6 if sample.kind == "cjk" else 1.35) * sample.tokens


def test_a_part_of_a_sample_is_no_lower_either() -> None:
    """What a short text is made of weighs more; its exact count is not known, so that of the whole stands in, in proportion."""
    for sample in ALL:
        parts = [sample.text[start : start + 200] for start in range(0, len(sample.text), 200)]
        assert sum(map(tokens_of, parts)) >= 0.9 * sample.tokens


@given(st.text(max_size=400))
def test_any_text_has_a_count(text: str) -> None:
    assert 1 <= tokens_of(text) <= 1 + 6 * len(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_texts_joined_are_about_as_much_as_both(one: str, other: str) -> None:
    assert tokens_of(f"{one}\n{other}") <= tokens_of(one) + tokens_of(other) + 12
