"""Leases: renewed, given back, lost with the process that held them; whose try counts and whose does not (K4, M3, H7a)."""

from __future__ import annotations

import os

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import Conflict, LeaseLost
from covey.base.processes import Identity
from covey.brains.model import failure
from covey.runner import holding
from covey.runner.orphans import FAR_S, Suspect, suspects, verdict
from covey.runner.standing import standing
from covey.tasks import changing, runs
from tests.rules import rule
from tests.runner.desk import LIMITS, Desk

SOMEBODY = Identity(os.getpid(), 1, "a-boot")


@rule("M3", "H4")
def test_what_a_dead_process_held_is_tried_again_and_the_try_counts(desk: Desk) -> None:
    task = desk.add()
    asked = desk.ask("coder")
    on_task, on_mail = desk.begin("coder"), desk.take("coder", "mail")
    assert sorted(desk.hand(holding.lose_all, "coder")) == sorted([on_task.run_id, on_mail.run_id])
    assert (desk.task(task).state, desk.task(task).attempts) == ("queued", 1)
    assert (desk.copy(asked, "coder").state, desk.copy(asked, "coder").attempts) == ("delivered", 1)
    assert {desk.run_of(work).outcome for work in (on_task, on_mail)} == {"died"}
    with pytest.raises(LeaseLost):
        desk.settle(on_task)
    assert desk.hand(holding.lose_all, "coder") == []


@rule("K4")
def test_what_a_process_held_that_was_told_to_end_waits_as_if_it_had_not_been_taken(desk: Desk) -> None:
    task = desk.add()
    asked = desk.ask("coder")
    quiet = desk.send("coder", "by the way", sender="chief")
    on_task = desk.begin("coder")
    on_mail = desk.take("coder", "mail")
    desk.hand(holding.return_all, "coder", "the fleet was taken down")
    assert (desk.task(task).state, desk.task(task).attempts) == ("queued", 0)
    assert [(desk.copy(each, "coder").state, desk.copy(each, "coder").attempts) for each in (asked, quiet)] == [("delivered", 0)] * 2
    assert {desk.run_of(work).outcome for work in (on_task, on_mail)} == {"returned"}


@rule("M3", "M8")
def test_a_death_blames_the_message_that_made_the_turn_not_what_rode_along(desk: Desk) -> None:
    beside_mail = desk.send("coder", "one", sender="chief")
    asked = desk.ask("coder")
    desk.take("coder", "mail")
    beside_task = desk.send("coder", "two", sender="chief")
    desk.add()
    desk.take("coder", "task")
    desk.hand(holding.lose_all, "coder")
    assert desk.copy(asked, "coder").attempts == 1
    assert [(desk.copy(each, "coder").state, desk.copy(each, "coder").attempts) for each in (beside_mail, beside_task)] == [
        ("delivered", 0),
        ("delivered", 0),
    ]


@rule("H7a")
def test_a_task_that_killed_two_brains_is_quarantined_not_retried(desk: Desk) -> None:
    task = desk.add(max_attempts=10)
    desk.begin("coder")
    desk.hand(holding.lose_all, "coder")
    assert desk.task(task).state == "queued"
    desk.pass_time(60)
    desk.settle(desk.begin("coder"), failure("an ordinary failure kills nobody"))
    assert desk.task(task).state == "queued"
    desk.pass_time(60)
    desk.begin("coder")
    desk.hand(holding.lose_all, "coder")
    found = desk.task(task)
    assert found.state == "failed"
    assert "quarantined" in (found.error or "")
    assert f"covey task retry {task}" in (found.error or "")
    desk.hand(changing.retry, task, THE_OPERATOR)
    assert desk.task(task).state == "queued"


@rule("M8")
def test_mail_that_every_process_dies_of_ends_as_a_dead_letter(desk: Desk) -> None:
    asked = desk.ask("coder")
    for _ in range(5):
        desk.take("coder", "mail")
        desk.hand(holding.lose_all, "coder")
        desk.pass_time(60)
    assert desk.copy(asked, "coder").state == "dead"
    assert any(each.type == "alert" for each in desk.inbox("operator"))


@rule("A8", "K4")
def test_a_heartbeat_renews_all_leases_and_names_those_that_are_lost(desk: Desk) -> None:
    first, second = desk.add("first"), desk.add("second")
    works = [desk.begin("coder"), desk.begin("coder")]
    desk.pass_time(50)
    assert desk.hand(holding.renew, "coder", os.getpid(), works, 60.0) == []
    desk.pass_time(50)
    assert desk.hand(suspects) == []
    desk.hand(changing.cancel, first, THE_OPERATOR)
    assert desk.hand(holding.renew, "coder", os.getpid(), works, 60.0) == [works[0].run_id]
    assert desk.task(second).state == "running"


@rule("K4", "K4a")
def test_a_task_that_its_own_process_knows_nothing_of_goes_back_and_the_try_does_not_count(desk: Desk) -> None:
    ident = desk.add()
    work = desk.take("coder", "task", LIMITS._replace(near=True))
    for seconds, held in ((29.0, []), (31.0, [work])):  # its claim may still be on its way; it is known
        desk.pass_time(seconds)
        assert desk.hand(holding.renew, "coder", os.getpid(), held, 60.0) == []
        assert desk.task(ident).state == "running"
    assert desk.hand(holding.renew, "coder", os.getpid(), [], 60.0) == []
    assert (desk.task(ident).state, desk.task(ident).attempts, desk.run_of(work).outcome) == ("queued", 0, "returned")


@rule("K4a")
def test_a_brain_of_the_agents_own_process_starts_with_the_claim_and_any_other_later(desk: Desk) -> None:
    near, far = desk.add(), desk.add()
    desk.take("coder", "task", LIMITS._replace(near=True))
    desk.take("coder", "task")
    desk.pass_time(31.0)
    desk.sweep()
    assert [desk.task(each).state for each in (near, far)] == ["running", "queued"]


@rule("A8")
def test_a_heartbeat_of_another_process_renews_nothing_process_renews_nothing(desk: Desk) -> None:
    desk.add()
    work = desk.begin("coder")
    desk.pass_time(59)
    with pytest.raises(Conflict):
        desk.hand(holding.renew, "coder", 999_999, [work], 60.0)
    desk.pass_time(2)
    assert [each.token for each in desk.hand(suspects)] == [work.token]


@rule("A8", "M3")
def test_a_process_that_is_no_longer_the_agent_takes_nothing(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.hand(living.arrive, "coder", node="here", pid=4711, start_ticks=1, boot_id="b", port=8002)
    with pytest.raises(Conflict):
        desk.take("coder", "mail")
    assert desk.copy(asked, "coder").state == "delivered"


@rule("K4a")
def test_the_start_of_a_brain_whose_lease_is_gone_is_refused(desk: Desk) -> None:
    task = desk.add()
    work = desk.take("coder", "task")
    desk.pass_time(30)
    desk.sweep()
    assert (desk.task(task).state, desk.task(task).attempts) == ("queued", 0), "a brain that never started gives its try back"
    with pytest.raises(LeaseLost):
        desk.hand(holding.started, work)


@rule("K4c")
def test_the_process_that_thinks_is_recorded_before_its_input(desk: Desk) -> None:
    desk.add()
    work = desk.take("coder", "task")
    desk.hand(holding.started, work, SOMEBODY, 77)
    (run,) = desk.hand(runs.open_of, "coder")
    assert (run.id, run.pid, run.pgid, run.start_ticks, run.boot_id) == (work.run_id, SOMEBODY.pid, 77, 1, "a-boot")


@rule("K7", "A7")
def test_the_poll_tells_what_is_ready_which_leases_are_void_and_the_flags(desk: Desk) -> None:
    found = desk.hand(standing, "coder", [], 900.0)
    assert (found.mail, found.tasks, found.takes_work, found.led) == (False, False, True, False)
    task = desk.add()
    desk.send("coder", "by the way", sender="chief")
    found = desk.hand(standing, "coder", [], 900.0)
    assert (found.mail, found.tasks) == (False, True)
    work = desk.begin("coder")
    assert work.riders
    desk.ask("coder")
    found = desk.hand(standing, "coder", [work], 900.0)
    assert (found.mail, found.tasks, found.lost) == (True, False, frozenset())
    desk.hand(changing.cancel, task, THE_OPERATOR)
    assert desk.hand(standing, "coder", [work], 900.0).lost == {work.run_id}
    desk.hand(living.stop, "coder", THE_OPERATOR)
    found = desk.hand(standing, "coder", [], 900.0)
    assert (found.takes_work, found.stopped, found.gone) == (False, True, False)
    assert desk.hand(standing, "nobody", [work], 900.0).gone


@rule("M5", "A7")
def test_whoever_is_paused_stopped_or_gone_takes_nothing(desk: Desk) -> None:
    desk.ask("coder")
    desk.add()
    for flag in (living.pause, living.stop):
        desk.hand(flag, "coder", THE_OPERATOR)
        assert desk.try_to_take("coder", "mail") is None
        assert desk.try_to_take("coder", "task") is None
        desk.hand(living.resume, "coder", THE_OPERATOR)
    assert desk.try_to_take("coder", "mail") is not None
    assert desk.try_to_take("nobody", "mail") is None


def suspect(**more: object) -> Suspect:
    """A lapsed lease of a process that was here."""
    usual: dict[str, object] = {
        "agent": "coder", "token": "t", "run_id": "r", "brain": None, "pgid": 0, "host": SOMEBODY, "node": "here", "silent_s": 61.0,
        "external": False,
    }  # fmt: skip
    return Suspect(**(usual | more))  # type: ignore[arg-type]


@rule("K4", "K4a", "N2")
def test_a_lapsed_lease_is_free_only_once_its_process_is_known_to_be_gone() -> None:
    assert verdict(suspect(), "here", 60.0, lives=True, forgotten=False) == "leave"
    assert verdict(suspect(), "here", 60.0, lives=True, forgotten=True) == "end"
    assert verdict(suspect(), "here", 60.0, lives=False, forgotten=False) == "end"
    assert verdict(suspect(external=True), "here", 60.0, lives=False, forgotten=False) == "free"


@rule("N2")
def test_on_another_node_no_pid_is_judged_only_silence() -> None:
    far = suspect(node="there", silent_s=60.0 + FAR_S)
    assert verdict(far, "here", 60.0, lives=False, forgotten=False) == "leave"
    assert verdict(far._replace(silent_s=60.1 + FAR_S), "here", 60.0, lives=True, forgotten=False) == "end"


@rule("K4")
def test_a_lapsed_lease_names_its_run_its_agents_process_and_how_long_that_was_silent(desk: Desk) -> None:
    desk.add()
    work = desk.take("coder", "task")
    desk.hand(holding.started, work, SOMEBODY, SOMEBODY.pid)
    desk.pass_time(59)
    assert desk.hand(suspects) == []
    desk.pass_time(2)
    (found,) = desk.hand(suspects)
    assert (found.agent, found.token, found.run_id, found.brain, found.node) == ("coder", work.token, work.run_id, SOMEBODY, "here")
    assert found.silent_s == pytest.approx(61.0)
    assert desk.hand(suspects, "ops") == []
    desk.hand(holding.free, found.agent, found.token, found.run_id, "gone")
    assert desk.hand(suspects) == []
    assert desk.run_of(work).outcome == "lost"
