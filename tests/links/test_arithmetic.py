"""The arithmetic of credits: properties over any history, and a naive reference beside it (L5, L7, L8, L9)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.links import quota
from covey.links.quota import Bucket, Limits
from tests.rules import rule

limits = st.builds(Limits, st.integers(1, 500), st.integers(1, 168).map(lambda hours: hours * 3600.0))
times = st.floats(0, 4e9, allow_nan=False)


@st.composite
def buckets(draw: st.DrawFn) -> tuple[Bucket, Limits, float]:
    """A bucket under limits at a time: any that a history can leave."""
    found, now = draw(limits), draw(times)
    if draw(st.booleans()):
        return quota.full(found), found, now
    return Bucket(draw(st.integers(0, found.messages)), now + draw(st.floats(-1e6, found.window_s))), found, now


@rule("L9")
@given(buckets())
def test_what_is_shown_is_within_bounds_and_full_once_the_window_lapsed(case: tuple[Bucket, Limits, float]) -> None:
    bucket, found, now = case
    shown = quota.effective(bucket, found, now)
    assert 0 <= shown.credits <= found.messages
    assert quota.effective(shown, found, now) == shown
    if bucket.reset_at is None or now >= bucket.reset_at:
        assert shown == quota.full(found)
    else:
        assert shown == bucket


@rule("L5")
@given(buckets())
def test_one_message_takes_one_credit_and_never_moves_a_window_that_runs(case: tuple[Bucket, Limits, float]) -> None:
    bucket, found, now = case
    before, after = quota.effective(bucket, found, now), quota.spend(bucket, found, now)
    if after is None:
        assert before.credits == 0
        return
    assert after.credits == before.credits - 1
    assert after.reset_at == (before.reset_at if before.reset_at is not None else now + found.window_s)


@rule("L7")
@given(buckets(), limits)
def test_changed_limits_add_the_difference_or_clamp_and_never_make_the_window_longer(
    case: tuple[Bucket, Limits, float], new: Limits
) -> None:
    bucket, old, now = case
    before, after = quota.effective(bucket, old, now), quota.relimited(bucket, old, new, now)
    assert 0 <= after.credits <= new.messages
    if after.reset_at is None:
        return
    assert before.reset_at is not None
    assert now < after.reset_at <= before.reset_at
    raised = max(0, new.messages - old.messages)
    assert after.credits == min(before.credits + raised, new.messages)


@rule("L7")
@given(buckets())
def test_the_same_limits_again_change_nothing(case: tuple[Bucket, Limits, float]) -> None:
    bucket, found, now = case
    before, after = quota.effective(bucket, found, now), quota.relimited(bucket, found, found, now)
    assert (after.credits, after.reset_at) == (before.credits, before.reset_at and pytest.approx(before.reset_at))


@rule("L7")
@given(limits, st.lists(limits, min_size=1, max_size=6), st.floats(0, 3599.0))
def test_a_window_ends_at_the_soonest_that_any_limits_since_its_start_allow(first: Limits, later: list[Limits], gone: float) -> None:
    began, held = 1e9, first
    bucket = quota.spend(quota.full(first), first, began)
    assert bucket is not None
    for new in later:
        bucket, held = quota.relimited(bucket, held, new, began + gone), new
    assert bucket.reset_at == pytest.approx(began + min(each.window_s for each in [first, *later]), abs=1e-3)


@rule("L8")
@given(limits, st.lists(st.floats(0, 1e5), min_size=1, max_size=300))
def test_over_any_history_no_window_has_more_than_its_credits(found: Limits, gaps: list[float]) -> None:
    now, bucket = 1000.0, quota.full(found)
    windows: dict[float, int] = {}
    for gap in gaps:
        now += gap
        spent = quota.spend(bucket, found, now)
        if spent is None:
            continue
        bucket = spent
        assert bucket.reset_at is not None
        windows[bucket.reset_at] = windows.get(bucket.reset_at, 0) + 1
    assert all(count <= found.messages for count in windows.values())
    ends = sorted(windows)
    assert all(later - earlier >= found.window_s for earlier, later in pairwise(ends))
