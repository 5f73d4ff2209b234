"""Turns of a model from the store and back: work, proposals, ballots, parts; what they cost, and what its absence means. Both databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from covey.agents import breaking
from covey.agents.model import THE_OPERATOR
from covey.base.settings import BrainSettings, PlanningSettings
from covey.brains.launching import Site
from covey.brains.making import make
from covey.brains.model import Outcome
from covey.planning import budgets
from covey.reports import spending
from covey.runner import settling, taking, turning
from covey.runner.work import Work
from covey.tasks import reading
from covey.teams.votes import opening
from covey.teams.votes import reading as votes
from covey.teams.votes.model import VoteDraft
from tests.brains.endpoint import calls, fails, says, served
from tests.brains.turns import Noted, settings
from tests.inline import Hand
from tests.planning.idle import PYTHON, fleet_of, plan, set_up
from tests.rules import rule
from tests.runner.desk import LIMITS, Desk

pytest.importorskip("pydantic_ai", reason="the extra `model` is not installed")

PRICES = {"input": 1000.0, "output": 1000.0}


class AtStore(Noted):
    """Hands that read from the store."""

    def __init__(self, hand: Hand) -> None:
        super().__init__()
        self._hand = hand

    async def read(self, verb: Any, *args: Any, **kwargs: Any) -> Any:
        return self._hand(verb, *args, **kwargs)


async def thought(hand: Hand, work: Work, url: str) -> Outcome:
    """What a model on this endpoint makes of a work's turn."""
    options = {"base_url": url, "patience_s": 0.001, "prices": PRICES}
    brain = make(settings(Path.cwd(), kind="model", target="openai-compatible:scripted", options=options), Site())
    try:
        return await brain.think(hand(turning.turn_of, work, 1800.0, 86400.0), AtStore(hand))
    finally:
        await brain.close()


@rule("M3", "P3")
async def test_what_a_model_did_happens_once_with_its_outcome_and_its_cost_is_counted(desk: Desk) -> None:
    task = desk.add("Ship it")
    work = desk.begin("coder")
    async with served(
        calls(("send_message", {"to": "devops", "text": "ship it"}), ("recall", {"words": "key"})), says("shipped")
    ) as endpoint:
        outcome = await thought(desk.hand, work, endpoint.url)
    assert desk.inbox("devops") == []
    desk.settle(work, outcome)
    assert [(each.from_, each.body) for each in desk.inbox("devops")] == [("coder", "ship it")]
    assert (desk.task(task).state, desk.task(task).result["summary"]) == ("done", "shipped")
    assert desk.run_of(work).tokens == 240
    assert desk.hand(spending.money).spent == pytest.approx(0.24)
    desk.hand(budgets.change, THE_OPERATOR, {"usd": 0.2})
    spent = desk.hand(spending.spent_of_fleet)
    assert spent is not None
    assert spent.name == "usd"


@rule("M7")
async def test_a_task_waits_for_the_answer_that_its_model_asked_for(desk: Desk) -> None:
    task = desk.add("Pick a colour")
    work = desk.begin("coder")
    async with served(calls(("ask", {"to": "chief", "question": "which?"}))) as endpoint:
        desk.settle(work, await thought(desk.hand, work, endpoint.url))
    assert desk.task(task).state == "blocked"
    desk.settle(desk.take("chief", "mail"), Outcome(summary="blue"))
    assert desk.try_to_take("coder", "mail") is None, "the answer comes with the task"
    again = desk.begin("coder")
    async with served(says("blue it is")) as endpoint:
        desk.settle(again, await thought(desk.hand, again, endpoint.url))
        assert "blue" in endpoint.said("user")
    assert desk.task(task).state == "done"


@rule("Q4")
async def test_a_model_casts_the_ballot_that_it_is_asked_for(desk: Desk) -> None:
    draft = VoteDraft(topic="Which colour?", voters=["coder"], options=["red", "blue"], quorum=1)
    vote = desk.hand(opening.open_vote, draft, THE_OPERATOR).vote_id
    work = desk.take("coder", "mail")
    async with served(calls(("vote", {"selection": "blue", "confidence": 0.9, "argument": "calm"}))) as endpoint:
        desk.settle(work, await thought(desk.hand, work, endpoint.url))
        assert endpoint.tools()["vote"]["properties"]["selection"]["enum"] == ["red", "blue"]
    result = desk.hand(votes.show, vote, THE_OPERATOR).result
    assert result is not None
    assert result.winner == "blue"


@rule("P4")
async def test_a_model_proposes_tasks_for_idle_colleagues(hand: Hand) -> None:
    brain = BrainSettings(kind="model", target="openai-compatible:scripted", options={"base_url": "http://h/v1"})
    fleet = fleet_of(
        {"chief": {"brain": brain, "plan": True}, "sales": {"brain": PYTHON}}, planning=PlanningSettings(planner="chief", tasks=5)
    )
    set_up(hand, fleet)
    (ident,) = plan(hand, "chief", fleet).tasks
    work = hand(taking.take, "chief", "task", "n1", 4000, LIMITS)
    assert work is not None
    assert work.item == ident
    async with served(calls(("add_task", {"description": "Call the old customers", "to": "sales"})), says("proposed one")) as endpoint:
        outcome = await thought(hand, work, endpoint.url)
    hand(settling.settle, work, outcome, LIMITS, 4000)
    made = [each for each in hand(reading.queue_of_agent, "sales") if each.origin == "generated"]
    assert [each.description for each in made] == ["Call the old customers"]


@rule("H6")
async def test_a_model_that_cant_be_reached_opens_its_agents_breaker_at_once(desk: Desk) -> None:
    desk.add("Ship it")
    work = desk.begin("coder")
    desk.settle(work, await thought(desk.hand, work, "http://127.0.0.1:9/v1"))
    opened = desk.hand(breaking.open_of, "coder")
    assert opened is not None
    assert "can't be reached" in opened.reason
    assert desk.try_to_take("coder", "task") is None


@rule("H6")
async def test_a_request_that_a_model_refuses_is_no_failure_of_its_agent(desk: Desk) -> None:
    for _ in range(4):
        desk.add("Say something bad", max_attempts=1)
        work = desk.begin("coder")
        async with served(fails(400, "content policy")) as endpoint:
            desk.settle(work, await thought(desk.hand, work, endpoint.url))
    assert desk.hand(breaking.open_of, "coder") is None
