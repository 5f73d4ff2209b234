"""Coordination in one process: the seed's shapes, without its defects (Q1, Q2, Q3, Q5)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from covey.base.errors import Invalid
from covey.teams import (
    AgentCommunication,
    AgentFailureHandler,
    AgentMessage,
    ConsensusManager,
    HandoffProtocol,
    MessageType,
    SupervisorAgent,
)
from covey.teams.counting import InvalidBallot
from covey.teams.mail import InboxFull
from covey.teams.supervising import UnknownWorker
from covey.teams.voting import UnknownTopic
from tests.rules import rule


def message(number: int = 0, *, to: str = "b", priority: int = 0, **content: Any) -> AgentMessage:
    return AgentMessage("a", to, MessageType.REQUEST, {"n": number, **content}, priority=priority)


class Hand:
    """A clock that is moved by hand."""

    at = 100.0

    def __call__(self) -> float:
        return self.at


@rule("Q1")
def test_a_program_written_for_the_seed_prints_the_same() -> None:
    mail = AgentCommunication()
    boss = SupervisorAgent("supervisor", mail)
    boss.register_worker("researcher", ["search", "analyze"])
    boss.register_worker("writer", ["synthesize", "draft"])
    hands = HandoffProtocol(mail)
    mail.send(hands.create_handoff(from_agent="researcher", to_agent="writer", context={"findings": ["one"]}, reason="research_complete"))
    accepted = hands.accept_handoff("writer")
    assert accepted is not None
    assert accepted.content["transferred_context"] == {"findings": ["one"]}
    votes = ConsensusManager()
    votes.initiate_vote("way", ["x", "y", "z"], ["A", "B"])
    votes.submit_vote("way", "x", "A", confidence=0.9)
    votes.submit_vote("way", "y", "B", confidence=0.6)
    votes.submit_vote("way", "z", "A", confidence=0.8)
    found = votes.calculate_weighted_consensus("way")
    assert (found["status"], found["result"], f"{found['consensus_strength']:.2f}") == ("complete", "A", "0.57")
    assert found["details"]["B"] == {"weighted_score": 0.6, "avg_confidence": 0.6, "vote_count": 1}
    failures = AgentFailureHandler(mail, max_retries=3)
    told = [failures.handle_failure("flaky", "task_1", "timeout") for _ in range(3)]
    assert told[:2] == [
        {"action": "retry", "reason": "timeout", "retry_count": 1, "delay": 2},
        {"action": "retry", "reason": "timeout", "retry_count": 2, "delay": 4},
    ]
    assert [str(each["delay"]) for each in told[:2]] == ["2", "4"]
    assert told[2] == {"action": "reroute", "reason": "circuit_breaker_activated", "alternative": "default_backup_agent"}
    assert failures.is_available("flaky") is False


@rule("Q1", "Q2")
@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("research", ["search", "analyze", "synthesize"]),
        ("create", ["plan", "draft", "review"]),
        ("general", ["execute"]),
    ],
)
def test_a_workflow_does_all_parts_and_leaves_no_mail_behind(kind: str, parts: list[str]) -> None:
    mail = AgentCommunication()
    boss = SupervisorAgent("boss", mail)
    boss.register_worker("one", ["search"])
    boss.register_worker("two", ["analyze"])
    mail.send(message(7, to="boss"))
    run = boss.run_workflow({"id": "t", "type": kind, "description": "do it", "priority": 2})
    assert [result["subtask_type"] for result in run["subtask_results"]] == parts
    assert run["success"]
    assert run["final_result"]["quality_score"] == 1.0
    assert run["final_result"]["summary"].count(" completed: ") == len(parts)
    assert sum(info["metrics"]["tasks_completed"] for info in boss.workers.values()) == len(parts)
    assert [each.content["n"] for each in mail.receive("boss")] == [7], "others' mail stays"
    assert mail.inbox == {}
    assert len({each["id"] for each in boss.decompose_task({"type": kind})}) == len(parts)


@rule("Q2")
def test_a_strict_supervisor_gives_nobody_what_they_can_not_do() -> None:
    boss = SupervisorAgent("boss", AgentCommunication(), strict=True)
    with pytest.raises(ValueError, match=r"No available workers: none is registered"):
        boss.select_worker({"type": "search"})
    boss.register_worker("one", ["draft"])
    with pytest.raises(UnknownWorker, match=r"capability 'search'.*draft") as refused:
        boss.select_worker({"type": "search"})
    assert refused.value.details["nearest"] == ["draft"]
    with pytest.raises(ValueError, match=r"Unknown worker: two. There are: one"):
        boss.assign_task({"type": "draft"}, "two")
    assert SupervisorAgent("lax", AgentCommunication()).workers == {}


@rule("Q2", "Q5")
def test_what_one_worker_fails_at_goes_to_another_and_its_time_is_measured() -> None:
    clock = Hand()
    mail = AgentCommunication()

    def perform(worker: str, subtask: dict[str, Any]) -> dict[str, Any]:
        clock.at += 2.0
        if worker == "bad":
            raise RuntimeError("out of paper")
        return {"success": True, "summary": f"{worker} {subtask['type']}"}

    failures = AgentFailureHandler(mail, now=clock)
    boss = SupervisorAgent("boss", mail, perform=perform, failures=failures, now=clock)
    for worker in ("bad", "good"):
        boss.register_worker(worker, ["execute"])
    run = boss.run_workflow({"id": "t"})
    assert run["success"]
    assert failures.causes == {"bad": "RuntimeError: out of paper"}
    assert boss.workers["good"]["metrics"] == {"tasks_completed": 1, "avg_response_time": 2.0}
    assert boss.workers["bad"]["metrics"]["tasks_completed"] == 0
    for number in range(2):
        boss.workers["good"]["metrics"]["tasks_completed"] = 10
        boss.run_workflow({"id": f"t{number}"})
    clock.at += 1
    assert not failures.is_available("bad")
    assert boss.select_worker({"type": "execute"}) == "good"


@rule("Q2", "H6")
def test_whoever_is_not_chosen_keeps_its_trial() -> None:
    clock = Hand()
    mail = AgentCommunication()
    failures = AgentFailureHandler(mail, max_retries=1, now=clock)
    boss = SupervisorAgent("boss", mail, failures=failures)
    for worker in ("well", "shaky"):
        boss.register_worker(worker, ["execute"])
    failures.handle_failure("shaky", "t", "no")
    clock.at += 60
    boss.workers["shaky"]["metrics"]["tasks_completed"] = 1
    assert boss.select_worker({"type": "execute"}) == "well"
    assert failures.is_available("shaky"), "it was not asked for"


@rule("Q2")
def test_a_workflow_in_which_too_much_fails_is_no_success() -> None:
    boss = SupervisorAgent(
        "boss", AgentCommunication(), perform=lambda _, part: {"success": part["type"] != "draft", "summary": part["type"]}
    )
    boss.register_worker("one", ["plan", "draft", "review"])
    run = boss.run_workflow({"type": "create"})
    assert run["final_result"]["quality_score"] == pytest.approx(2 / 3)
    assert run["final_result"]["summary"] == "plan | review"
    assert not run["success"]
    assert boss.aggregate_results([])["quality_score"] == 0.0


@rule("Q3")
def test_accepting_a_handoff_touches_no_other_mail() -> None:
    mail = AgentCommunication()
    hands = HandoffProtocol(mail)
    mail.send(message(1))
    mail.send(hands.create_handoff("a", "b", {}, "first"))
    mail.send(hands.create_handoff("c", "b", {}, "second"))
    mail.send(message(2, priority=9))
    accepted = hands.accept_handoff("b")
    assert accepted is not None
    assert accepted.content["handoff_reason"] == "first"
    left = mail.receive("b")
    assert [each.content.get("n", each.content.get("handoff_reason")) for each in left] == [2, "second", 1]
    assert hands.accept_handoff("b") is None


@rule("Q3")
def test_an_offer_that_can_not_be_acknowledged_waits_as_before() -> None:
    mail = AgentCommunication(inbox=2)
    hands = HandoffProtocol(mail)
    mail.send(message(1, to="giver"))
    mail.send(message(2, to="giver"))
    offer = hands.create_handoff("giver", "b", {}, "full")
    offer.requires_response = True
    mail.send(offer)
    mail.send(hands.create_handoff("c", "b", {}, "later"))
    with pytest.raises(InboxFull, match="giver"):
        hands.accept_handoff("b")
    assert [each.content["handoff_reason"] for each in mail.waiting("b")] == ["full", "later"]
    mail.receive("giver")
    assert hands.accept_handoff("b") is offer
    assert [each.content["handoff_id"] for each in mail.receive("giver")] == [offer.message_id]


@rule("Q3")
def test_only_an_acknowledgement_of_this_offer_by_its_receiver_counts() -> None:
    mail = AgentCommunication()
    hands = HandoffProtocol(mail)

    def ack(sender: str, **more: Any) -> AgentMessage:
        return AgentMessage(sender, "a", MessageType.RESPONSE, {"status": "handoff_received", **more})

    mail.send(ack("b"))
    assert not hands.transfer_with_state("a", "b", {"progress": 0.5}, {"id": "t"}, timeout_s=0.0), "one that was there before"
    answers = [ack("c"), ack("b", handoff_id="another")]
    sent = mail.send

    def answering(each: AgentMessage) -> None:
        sent(each)
        if each.message_type == MessageType.HANDOVER:
            for answer in answers:
                sent(answer)

    mail.send = answering  # type: ignore[method-assign, assignment]
    assert not hands.transfer_with_state("a", "b", {}, {"id": "t"}, timeout_s=0.0), "of somebody else, and of another offer"
    answers.append(ack("b"))
    assert hands.transfer_with_state("a", "b", {}, {"id": "t"}, timeout_s=0.0), "as a seed's program acknowledges"
    assert len(mail.receive("a")) == 5, "what counted for nothing is still there"


@rule("Q3")
def test_a_receiver_in_another_thread_that_accepts_acknowledges() -> None:
    mail = AgentCommunication()
    hands = HandoffProtocol(mail)
    done = threading.Event()

    def accept() -> None:
        while hands.accept_handoff("b") is None and not done.is_set():
            pass

    other = threading.Thread(target=accept)
    other.start()
    try:
        assert hands.transfer_with_state("a", "b", {"progress": 1}, {"id": "t"}, timeout_s=30.0)
    finally:
        done.set()
        other.join(30)
    assert mail.inbox == {}


@rule("Q3")
def test_a_state_that_is_no_json_is_refused_with_its_path_and_nothing_is_sent() -> None:
    mail = AgentCommunication()
    with pytest.raises(Invalid, match=r"state.found\[1\] is a set") as refused:
        HandoffProtocol(mail).transfer_with_state("a", "b", {"found": [1, {2}]}, {})
    assert refused.value.field == "state.found[1]"
    with pytest.raises(Invalid, match=r"task.at is nan"):
        HandoffProtocol(mail).transfer_with_state("a", "b", {}, {"at": float("nan")})
    with pytest.raises(Invalid, match=r"key 1"):
        HandoffProtocol(mail).transfer_with_state("a", "b", {}, {"x": {1: 2}})
    assert mail.outbox == []


@rule("Q1")
def test_mail_is_read_by_urgency_and_then_by_age() -> None:
    mail = AgentCommunication()
    for number, priority in enumerate((0, 2, 0, 5, 2)):
        mail.send(message(number, priority=priority))
    assert [each.content["n"] for each in mail.receive("b")] == [3, 1, 4, 0, 2]
    assert mail.receive("b") == []


@rule("Q1")
def test_what_is_kept_is_bounded_and_a_full_inbox_says_so() -> None:
    mail = AgentCommunication(inbox=3, history=4)
    for number in range(20):
        mail.send(message(number))
        mail.receive("b")
    assert 4 <= len(mail.message_history) < 8
    assert mail.message_history[-1].content["n"] == 19
    for number in range(3):
        mail.send(message(number))
    with pytest.raises(InboxFull, match=r"b has 3 messages unread"):
        mail.send(message(3))


@rule("Q1")
def test_a_broadcast_reaches_each_once_and_strict_mail_is_json() -> None:
    mail = AgentCommunication(strict=True)
    mail.broadcast("a", MessageType.ALERT, {"x": 1}, ["b", "c", "b"])
    assert [len(mail.receive(each)) for each in ("b", "c")] == [1, 1]
    with pytest.raises(Invalid, match=r"receivers is a text"):
        mail.broadcast("a", MessageType.ALERT, {}, "bc")
    with pytest.raises(Invalid, match=r"content.what is a object"):
        mail.send(message(what=object()))


@rule("Q1")
def test_no_message_is_lost_or_doubled_between_threads() -> None:
    mail = AgentCommunication(inbox=100_000)
    got: list[int] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set() or mail.inbox:
            got.extend(each.content["n"] for each in mail.receive("b"))

    reader = threading.Thread(target=read)
    reader.start()

    def send_all(start: int) -> None:
        for number in range(start, start + 500):
            mail.send(message(number))

    writers = [threading.Thread(target=send_all, args=(start,)) for start in range(0, 4000, 500)]
    for each in writers:
        each.start()
    for each in writers:
        each.join(30)
    over.set()
    reader.join(30)
    assert sorted(got) == list(range(4000))


@rule("Q5", "H6")
def test_a_breaker_lets_one_through_after_its_time_and_a_success_closes_it() -> None:
    clock = Hand()
    handler = AgentFailureHandler(AgentCommunication(), max_retries=2, backups=["flaky", "spare"], now=clock)
    handler.handle_failure("flaky", "t1", "no")
    assert handler.is_available("flaky")
    assert handler.handle_failure("flaky", "t1", "no")["alternative"] == "spare"
    clock.at += 59.9
    assert not handler.is_available("flaky")
    clock.at += 0.1
    assert handler.is_available("flaky"), "one is let through"
    assert not handler.is_available("flaky"), "and no second"
    assert handler.handle_failure("flaky", "t2", "still no")["action"] == "reroute"
    assert not handler.is_available("flaky")
    clock.at += 60
    assert handler.is_available("flaky")
    handler.record_success("flaky")
    assert handler.is_available("flaky")
    assert handler.handle_failure("flaky", "t3", "again")["retry_count"] == 1
    assert handler.circuit_breakers == {}


@rule("Q5")
def test_what_can_not_get_better_is_not_tried_again_and_nobody_is_said_aloud() -> None:
    handler = AgentFailureHandler(AgentCommunication(), strict=True)
    told = handler.handle_failure("one", "t", "no such key", permanent=True)
    assert told == {"action": "reroute", "reason": "no such key", "alternative": None}
    assert handler.is_available("one")
    assert [handler.handle_failure("one", "t", "no")["action"] for _ in range(3)] == ["retry", "retry", "reroute"]
    with pytest.raises(Invalid, match=r"max_retries is 0"):
        AgentFailureHandler(AgentCommunication(), max_retries=0)


@rule("Q1")
def test_an_inbox_that_was_read_is_empty_and_takes_no_room() -> None:
    mail = AgentCommunication()
    mail.send(message())
    mail.receive("b")
    assert mail.inbox["b"] == []
    assert mail.inbox["nobody"] == []
    assert dict(mail.inbox) == {}


@rule("Q1", "M2")
def test_a_priority_that_is_none_is_refused_and_the_fleets_words_order_mail_too() -> None:
    mail = AgentCommunication()
    for bad in ("asap", None, float("nan"), [1]):
        with pytest.raises(Invalid, match="higher for more urgent, or urgent, high, medium, low") as refused:
            mail.send(AgentMessage("a", "b", MessageType.ALERT, {}, priority=bad))  # type: ignore[arg-type]
        assert refused.value.field == "priority"
    given: list[int | str] = ["low", 0, "urgent", 1]
    for priority in given:
        mail.send(AgentMessage("a", "b", MessageType.ALERT, {}, priority=priority))
    assert [each.priority for each in mail.receive("b")] == ["urgent", 1, 0, "low"]


@rule("Q1", "M6")
def test_one_full_inbox_keeps_a_broadcast_from_nobody_else() -> None:
    mail = AgentCommunication(inbox=1)
    mail.send(message(to="b"))
    with pytest.raises(InboxFull, match="the inbox of b is full") as refused:
        mail.broadcast("a", MessageType.ALERT, {}, ["b", "c"])
    assert refused.value.field == "receivers"
    assert len(mail.receive("c")) == 1


@rule("Q2")
@pytest.mark.parametrize("full", ["worker", "boss"])
def test_mail_that_nobody_reads_neither_ends_a_workflow_nor_keeps_a_worker_busy(full: str) -> None:
    mail = AgentCommunication(inbox=1)
    mail.send(message(to=full))
    boss = SupervisorAgent("boss", mail)
    boss.register_worker("worker", ["execute"])
    run = boss.run_workflow({"id": "t"})
    assert run["success"] is (full == "boss")
    assert ("InboxFull" in run["subtask_results"][0].get("error", "")) is (full == "worker")
    assert boss.workers["worker"]["status"] == "available"
    if full == "worker":
        with pytest.raises(InboxFull):
            boss.assign_task({"id": "t"}, "worker")
        assert boss.workers["worker"]["status"] == "available"


@rule("Q2")
def test_mail_of_any_content_in_a_workers_inbox_does_not_end_a_workflow() -> None:
    mail = AgentCommunication()
    mail.send(AgentMessage("x", "worker", MessageType.ALERT, "look here"))  # type: ignore[arg-type]
    boss = SupervisorAgent("boss", mail)
    boss.register_worker("worker", ["execute"])
    assert boss.run_workflow({"id": "t"})["success"]
    left: list[object] = [each.content for each in mail.receive("worker")]
    assert left == ["look here"]
    hands = HandoffProtocol(mail)

    def answer_offer() -> None:
        offer = mail.take("b", lambda each: True, 10)
        assert offer is not None
        for answer in ("received", None, {"status": "handoff_received", "handoff_id": offer.message_id}):
            mail.send(AgentMessage("b", "a", MessageType.RESPONSE, answer))  # type: ignore[arg-type]

    receiver = threading.Thread(target=answer_offer)
    receiver.start()
    assert hands.transfer_with_state("a", "b", {}, {}, timeout_s=10)
    receiver.join(10)


@rule("Q2")
@pytest.mark.parametrize(("result", "said"), [(None, "the result is a NoneType"), ({"success": True, "at": {1}}, r"result.at is a set")])
def test_an_answer_of_the_wrong_form_is_its_workers_failure(result: Any, said: str) -> None:
    boss = SupervisorAgent("boss", AgentCommunication(strict=True), perform=lambda worker, subtask: result)
    boss.register_worker("worker", ["execute"])
    run = boss.run_workflow({"id": "t"})
    assert not run["success"]
    assert said in run["subtask_results"][0]["error"]
    assert boss.workers["worker"]["status"] == "available"
    assert boss.workers["worker"]["metrics"]["tasks_completed"] == 0


@rule("Q2")
def test_workflows_of_several_threads_share_a_worker_one_at_a_time() -> None:
    at_work = threading.Lock()
    together: list[str] = []
    both = threading.Barrier(4)

    def perform(worker: str, subtask: dict[str, Any]) -> dict[str, Any]:
        if not at_work.acquire(blocking=False):
            together.append(worker)
        else:
            threading.Event().wait(0.002)  # long enough for the others to ask for the same worker
            at_work.release()
        return {"success": True, "summary": subtask["type"]}

    boss = SupervisorAgent("boss", AgentCommunication(), perform=perform, strict=True)
    boss.register_worker("worker", ["search", "analyze", "synthesize"])
    runs: list[dict[str, Any]] = []

    def work() -> None:
        both.wait(10)
        runs.append(boss.run_workflow({"type": "research"}))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [run["success"] for run in runs] == [True] * 4
    assert together == []
    assert boss.workers["worker"]["metrics"]["tasks_completed"] == 12


@rule("Q2")
def test_a_workflow_inside_a_workers_own_work_does_not_wait_for_itself() -> None:
    def perform(worker: str, subtask: dict[str, Any]) -> dict[str, Any]:
        return boss.run_workflow({"id": "inner"})

    boss = SupervisorAgent("boss", AgentCommunication(), perform=perform)
    boss.register_worker("worker", ["execute"])
    runs: list[dict[str, Any]] = []
    outer = threading.Thread(target=lambda: runs.append(boss.run_workflow({"id": "outer"})), daemon=True)
    outer.start()
    outer.join(10)
    assert [run["success"] for run in runs] == [False], "it waited"
    assert "all are busy" in runs[0]["subtask_results"][0]["error"]


@rule("Q1")
def test_a_text_where_a_list_is_asked_for_is_not_taken_for_its_letters() -> None:
    mail = AgentCommunication()
    with pytest.raises(Invalid, match="capabilities is a text"):
        SupervisorAgent("boss", mail).register_worker("worker", "search")
    with pytest.raises(Invalid, match="backups is a text"):
        AgentFailureHandler(mail, backups="bc")
    with pytest.raises(Invalid, match="agents is a text"):
        ConsensusManager().initiate_vote("t", "ab", ["A"])
    with pytest.raises(Invalid, match="options is a text"):
        ConsensusManager().initiate_vote("t", ["a"], "AB")


@rule("Q4")
def test_what_is_no_list_no_factors_no_words_and_no_vote_is_refused_by_its_name() -> None:
    votes = ConsensusManager()
    votes.initiate_vote("open", ["a"], ["A"])
    wrong: dict[str, Any] = {"agents": None, "options": 3, "expertise": ["a"]}
    for field, value in wrong.items():
        with pytest.raises(InvalidBallot) as refused:
            votes.initiate_vote("t", **({"agents": ["a"], "options": ["A"]} | {field: value}))
        assert refused.value.field == field
    number: Any = 7
    with pytest.raises(InvalidBallot, match="argument is 7"):
        votes.argue("open", "a", number)
    with pytest.raises(UnknownTopic, match="There are votes on: open"):
        votes.withdraw("nowhere", "a")


@rule("Q3")
@pytest.mark.parametrize("field", ["state", "task"])
def test_a_handoff_of_what_is_no_object_names_the_field(field: str) -> None:
    given: dict[str, Any] = {"state": {}, "task": {}} | {field: [1]}
    with pytest.raises(Invalid, match=f"{field} is a list") as refused:
        HandoffProtocol(AgentCommunication()).transfer_with_state("a", "b", **given)
    assert refused.value.field == field


@rule("Q5")
@pytest.mark.parametrize("retries", [0, 1.5, "3", True, None])
def test_retries_are_a_whole_number(retries: Any) -> None:
    with pytest.raises(Invalid) as refused:
        AgentFailureHandler(AgentCommunication(), max_retries=retries)
    assert refused.value.field == "max_retries"
