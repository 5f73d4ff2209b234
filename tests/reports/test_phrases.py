"""Times, lengths and lists as reports say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.reports.phrases import count, head, listed, percent, size, span, utc, when


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (12, "12 s"),
        (59.6, "1 min"),
        (90, "1 min 30 s"),
        (300, "5 min"),
        (3600, "1 h"),
        (7800, "2 h 10 min"),
        (90_000, "1 d 1 h"),
        (86_405, "1 d"),
    ],
)
def test_a_length_is_said_in_its_largest_unit_and_the_next(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_time_is_said_as_seen_from_now_and_as_a_date() -> None:
    assert when(1_700_000_000.0, 1_700_000_012.0) == "12 s ago (2023-11-14 22:13:20 UTC)"
    assert when(1_700_000_300.0, 1_700_000_000.0) == "in 5 min (2023-11-14 22:18:20 UTC)"


def test_a_long_list_names_the_first_few_and_counts_the_rest() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], word="or") == "a, b or c"
    assert listed(list("abcdefg"), most=3) == "a, b, c and 4 more"


def test_counts_shares_and_sizes_read_as_english() -> None:
    assert (count(0, "task"), count(1, "task"), count(1200, "task")) == ("no tasks", "1 task", "1,200 tasks")
    assert percent(0.123) == "12 %"
    assert (size(512), size(1536), size(3 * 2**30)) == ("512 B", "1.5 KiB", "3.0 GiB")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e15))
def test_any_time_has_words(at: float) -> None:
    assert utc(at)
    assert span(at)
    assert when(at, 1_700_000_000.0)


@given(st.text(), st.integers(min_value=2, max_value=200))
def test_a_head_is_one_line_within_its_bound(text: str, chars: int) -> None:
    found = head(text, chars)
    assert len(found) <= chars
    assert "\n" not in found
