"""Percentiles from a few numbers: never further off than promised, and the same however they were added up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.figures import sketches
from covey.figures.sketches import ERROR, LEAST_S, MOST_S, Sketch
from covey.reports import metrics

SECONDS = st.floats(min_value=LEAST_S, max_value=MOST_S)


def sketch_of(values: list[float]) -> Sketch:
    found: Sketch = {}
    for value in values:
        sketches.merge(found, {sketches.bucket_of(value): 1})
    return found


@given(st.lists(SECONDS, min_size=1, max_size=200), st.floats(min_value=0.01, max_value=1.0))
def test_a_percentile_is_within_its_error_of_the_exact_one(values: list[float], share: float) -> None:
    exact = metrics.percentile(sorted(values), share)
    found = sketches.percentile(sketch_of(values), share)
    assert exact is not None
    assert found is not None
    assert abs(found - exact) <= exact * (ERROR + 1e-6) + 1e-4, (found, exact)


@given(st.lists(SECONDS, max_size=50), st.lists(SECONDS, max_size=50))
def test_sketches_of_parts_add_up_to_that_of_the_whole(one: list[float], other: list[float]) -> None:
    both = sketch_of(one)
    sketches.merge(both, sketch_of(other))
    assert both == sketch_of(one + other)


@given(SECONDS, SECONDS)
def test_buckets_keep_the_order_of_durations(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert sketches.bucket_of(low) <= sketches.bucket_of(high)


@pytest.mark.parametrize("seconds", [-5.0, 0.0, 1e-9, LEAST_S, math.inf])
def test_odd_durations_have_a_bucket_too(seconds: float) -> None:
    bucket = sketches.bucket_of(seconds)
    assert 0 <= bucket <= sketches.bucket_of(MOST_S)
    assert sketches.percentile({bucket: 3}, 0.95) is not None


def test_of_nothing_there_is_no_percentile() -> None:
    assert sketches.percentile({}, 0.5) is None
