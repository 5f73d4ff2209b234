"""Rounds that repeat: when the next one is."""

from __future__ import annotations

import pytest

from covey.base.loops import pause_s


@pytest.mark.parametrize(
    ("interval_s", "now", "pause"),
    [
        (5.0, 1002.0, 3.0),
        (5.0, 1000.0, 5.0),
        (5.0, 1004.9, 5.1),  # all but there: a round that ends late, or a timer that is early, has no second one right after it
        (0.7, 1000.0, pytest.approx(0.3)),
    ],
)
def test_loops_wake_at_multiples_of_their_interval_so_that_they_wake_together(interval_s: float, now: float, pause: float) -> None:
    assert pause_s(interval_s, now) == pytest.approx(pause)


@pytest.mark.parametrize("now", [1000.0 + n / 50 for n in range(60)])
def test_a_pause_is_never_much_longer_than_the_interval(now: float) -> None:
    assert 0.7 / 8 <= pause_s(0.7, now) <= 0.7 * 9 / 8 + 1e-9
