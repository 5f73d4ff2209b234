"""How much an agent may make of others' work, however it makes it."""

from __future__ import annotations

import pytest

from covey.base.errors import TooDeep, TooMany
from covey.tasks import changing, making
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, caller, do, now, taken


@rule("K1")
def test_an_agent_makes_no_more_tasks_than_so_many_open_ones_and_others_go_on(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_OPEN", 3)
    made = [add(hand, f"flood {n}", agent="ops" if n % 2 else "@code", by="chief", task_id=f"t{n}") for n in range(3)]
    with pytest.raises(TooMany, match="cancel some"):
        add(hand, "one too many", by="chief")
    assert add(hand, "flood 0", agent="@code", by="chief", task_id="t0").known
    add(hand, "of another", by="devops")
    for n in range(5):
        add(hand, f"the operator's {n}")
    hand(changing.cancel, made[0].task_id, caller("chief"), "enough")
    assert add(hand, "there is room again", by="chief").state == "queued"


@rule("L10")
def test_two_agents_do_not_make_work_of_each_other_for_ever(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_CHAIN", 4)
    made = add(hand, "begin")
    for giver, taker in (("coder", "devops"), ("devops", "coder"), ("coder", "devops"), ("devops", "coder")):
        taken(hand, giver)
        made = add(hand, "your turn", agent=taker, by=giver)
        hand.clock.at += 1
    assert now(hand, made).visited == ["coder", "devops", "coder", "devops"]
    hand.clock.at += 1
    task, _ = taken(hand, "coder")
    assert task.task_id == made.task_id
    with pytest.raises(TooDeep, match="tell the operator"):
        add(hand, "your turn", agent="devops", by="coder")
    assert add(hand, "anew", agent="devops").visited == []


def test_what_an_agent_makes_with_nothing_in_hand_begins_a_chain(hand: Hand) -> None:
    add(hand, "begin")
    do(hand)
    assert add(hand, "later", agent="devops", by="coder").visited == ["coder"]
