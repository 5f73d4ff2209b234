"""What each event adds to the figures."""

from __future__ import annotations

from typing import Any

import pytest

from covey.figures.folding import COUNTED, fold, tally_of
from covey.figures.model import COUNTS, KEPT_S, Stretch, Tally
from covey.store.events import Bookmark, Event

NOW = 1_800_000_000.0


def event(kind: str, agent: str | None = "coder", at: float = NOW, subject: str | None = "x1", **data: Any) -> Event:
    return Event(Bookmark(0, 1), at, kind, agent, subject, data)


ADDS: list[tuple[Event, dict[str, Any]]] = [
    (event("message.handled", took_s=2.0), {"handled": 1, "response": {156: 1}}),
    (event("message.handled"), {"handled": 1}),
    (event("task.done", took_s=0.0), {"done": 1, "work": {0: 1}}),
    (event("buddy.checked", subject="ops"), {"checks": 1, "answered": 1}),
    (event("buddy.missed", subject="ops"), {"checks": 1}),
    (event("incident.opened", incident="hung"), {"incidents": 1, "stalls": 1}),
    (event("incident.opened", incident="no_brain"), {"incidents": 1}),
    (event("incident.ended", incident="hung", outcome="back"), {"healed": 1}),
    (event("incident.ended", incident="hung", outcome="given_up"), {}),
    (event("incident.ended", incident="no_brain", outcome="cured"), {}),
    (event("run.priced", usd=0.25, tokens=None), {"runs": 1, "usd": 0.25}),
    (event("run.priced", usd=None, tokens=70), {"runs": 1, "tokens": 70}),
    *((event(kind), {field: 1}) for kind, field in COUNTED.items()),
]


@pytest.mark.parametrize(("told", "adds"), ADDS, ids=[f"{number} {told.kind}" for number, (told, _) in enumerate(ADDS)])
def test_an_event_adds_what_it_says(told: Event, adds: dict[str, Any]) -> None:
    assert tally_of(told) == Tally(**adds)


@pytest.mark.parametrize(
    "told", [event("message.sent", imported=True), event("buddy.checked", between=True), event("thread.paused")], ids=lambda told: told.kind
)
def test_what_is_no_work_of_now_does_not_count(told: Event) -> None:
    assert tally_of(told) is None


def test_an_event_counts_for_its_agent_and_the_fleet_in_each_length_of_stretch() -> None:
    found = fold([event("message.sent"), event("message.sent", agent="operator")], NOW)
    assert {stretch: tally.sent for stretch, tally in found.items()} == {
        Stretch(agent, span_s, NOW // span_s * span_s): count for span_s in KEPT_S for agent, count in (("", 2), ("coder", 1))
    }


def test_a_check_counts_for_who_made_it() -> None:
    found = fold([event("buddy.missed", subject="ops"), event("buddy.checked", subject="controller")], NOW)
    assert {stretch.agent: (tally.checks, tally.answered) for stretch, tally in found.items()} == {"": (2, 1), "ops": (1, 0)}


def test_what_is_past_its_time_is_not_counted_any_more() -> None:
    found = fold([event("message.sent", at=NOW - 3 * 3600)], NOW)
    assert {stretch.span_s for stretch in found} == {300, 3600}
    assert fold([event("message.sent", at=NOW - 9 * 86_400)], NOW) == {}


def test_adding_up_leaves_no_count_out() -> None:
    one = Tally(response={1: 2}, work={3: 4}, **dict.fromkeys(COUNTS, 1))
    one.add(Tally(response={1: 1, 2: 1}, work={3: 1}, **dict.fromkeys(COUNTS, 2)))
    assert one == Tally(response={1: 3, 2: 1}, work={3: 5}, **dict.fromkeys(COUNTS, 3))
