"""The simulation behind docs/weighted-votes.svg says what docs/teams.md says of it (Q4)."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from benchmarks.planted_truth import PICTURE, Line, by_both, by_confidence, majority, picture, share_right
from tests.rules import rule

TRIALS = 400
CLEAR = 0.06
"""Further apart than chance would have it with so many questions."""


@rule("Q4")
def test_among_unequals_whose_record_is_known_weights_beat_a_majority() -> None:
    assert share_right(0.42, by_both, trials=TRIALS) > share_right(0.42, majority, trials=TRIALS) + CLEAR


@rule("Q4")
def test_among_equals_they_are_no_better() -> None:
    assert share_right(0.0, by_both, trials=TRIALS) < share_right(0.0, majority, trials=TRIALS) + CLEAR


@rule("Q4")
def test_confidence_alone_is_no_help_where_the_crowd_boasts_and_expertise_mends_that() -> None:
    alone = share_right(0.42, by_confidence, boasts=True, trials=TRIALS)
    assert alone < share_right(0.42, majority, trials=TRIALS) + CLEAR
    assert share_right(0.42, by_both, boasts=True, trials=TRIALS) > alone + CLEAR


@rule("Q4")
def test_where_the_crowd_errs_together_expertise_holds_and_a_majority_does_not() -> None:
    assert share_right(0.35, by_both, shared=0.8, trials=TRIALS) > 0.6 > 0.3 > share_right(0.35, majority, shared=0.8, trials=TRIALS)


def test_the_picture_is_sound() -> None:
    drawn = picture(
        [Line("a", "#000", dashed=True, points=[(0.0, 0.0), (1.0, 1.0)])], [Line("c", "#000", dashed=False, points=[(1.0, 0.5)])]
    )
    for text in (drawn, PICTURE.read_text()):
        root = ET.fromstring(text)
        assert root.tag.endswith("svg")
    assert PICTURE.read_text().count("<polyline") == 8
