"""The sessions of brains with a context of their own, from one turn to the next (C5a)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR
from covey.brains.model import Cost, Outcome
from covey.tasks import changing
from tests.rules import rule
from tests.runner.desk import Desk


def worked(desk: Desk, session: str, cost: Cost | None = None) -> tuple[str, bool]:
    """A task that was done in a session; what its turn had been told of it."""
    desk.add()
    work = desk.begin("coder")
    turn = desk.turn(work)
    desk.settle(work, Outcome(summary="done", session=session, cost=cost))
    return turn.own_session, turn.fresh


@rule("C5a")
def test_a_turn_comes_with_the_session_that_the_last_one_of_its_lane_told(desk: Desk) -> None:
    assert worked(desk, "session-1") == ("", True)
    assert worked(desk, "session-2") == ("session-1", False)
    assert worked(desk, "") == ("session-2", False)
    desk.ask("coder")
    mail = desk.take("coder", "mail")
    assert desk.turn(mail).own_session == "", "mail and tasks may be at work at once"
    desk.settle(mail, Outcome(summary="well", session="session-of-mail"))
    desk.ask("coder")
    assert desk.turn(desk.take("coder", "mail")).own_session == "session-of-mail"
    assert worked(desk, "") == ("session-2", False)


@rule("C5a")
def test_no_agent_is_given_anothers_session_though_a_task_goes_from_one_to_the_next(desk: Desk) -> None:
    path = ("coder", "sales", "intel", "coder")
    for agent in path[:3]:
        desk.add(agent=agent)
        desk.settle(desk.begin(agent), Outcome(summary="done", session=f"session-of-{agent}"))
    task = desk.add(max_attempts=5)
    for agent in path:
        if agent != desk.task(task).agent:
            desk.hand(changing.reassign, task, agent, THE_OPERATOR)
        work = desk.begin(agent)
        assert (work.item, desk.turn(work).own_session) == (task, f"session-of-{agent}")
        desk.settle(work, Outcome(kind="failed", error="not yet", session=f"session-of-{agent}"))
        desk.clock.at += 100


@rule("C5a")
def test_a_session_that_is_nearly_full_is_not_gone_on_with(desk: Desk) -> None:
    worked(desk, "session-1", Cost(context_tokens=160_000, context_limit=200_000))
    assert worked(desk, "session-2") == ("", True)
    assert worked(desk, "session-2") == ("session-2", False)


@rule("C5a")
def test_what_came_while_a_turn_ran_is_news_to_its_session(desk: Desk) -> None:
    worked(desk, "session-1")
    desk.add()
    work = desk.begin("coder")
    began = desk.turn(work).now
    desk.clock.at += 100
    desk.settle(work, Outcome(summary="done", session="session-1"))
    desk.add()
    assert desk.turn(desk.begin("coder")).own_since == pytest.approx(began, abs=1)


@rule("C5a")
def test_a_session_that_failed_before_it_had_begun_is_not_gone_on_with(desk: Desk) -> None:
    desk.add(max_attempts=1)
    work = desk.begin("coder")
    desk.settle(work, Outcome(kind="failed", error="no", session="session-1"))
    desk.clock.at += 100
    desk.add()
    assert desk.turn(desk.begin("coder")).own_session == ""
