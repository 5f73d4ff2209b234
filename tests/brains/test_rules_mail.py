"""The rules brain handles mail: answers from the records, a plain word where it has none, notes taken without a reply."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.store import Store
from tests.brains.rules_turns import Thinker
from tests.reports.acting import add, awake, send, take
from tests.rules import rule


@pytest.fixture
async def coder(fleet: Store, tmp_path: Path) -> Thinker:
    """The coder of a fleet at work."""
    await awake(fleet)
    await add(fleet, "Dig", "coder", task_id="dig-1")
    await take(fleet, "coder")
    await add(fleet, "Pour", "coder", task_id="pour-2", dependencies=["dig-1"])
    await send(fleet, "coder", "finance", "May I?", requires_response=True)
    return Thinker(fleet, "coder", tmp_path)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("How are you?", "I am coder, busy: its brain is at the task dig-1"),
        ("What are you doing right now?", "I work on dig-1 (“Dig”) since"),
        ("status?", "I am coder, busy"),
        ("What's the status of the team?", "8 agents:"),
        ("What's your status?", "I am coder, busy"),
        ("What is in your queue?", "pour-2 (medium, blocked): Pour"),
        ("what are you waiting for?", "an answer from finance to msg_"),
        ("Are you blocked?", "It needs dig-1 (running with coder) to be done first."),
        ("Who are you?", "I am coder: Coder - Development"),
        ("What can you do?", "Tasks I can do are, for example: “Check for resource conflicts”"),
        ("help", "You can ask me how I am"),
        ("How is everyone?", "8 agents:"),
        ("who is busy?", "coder is busy: its brain is at the task dig-1"),
        ("How is the system?", "Memory: "),
        ("hey coder, how's the machine doing today?", "Disk: "),
        ("How is finance?", "The agent finance is active"),
        ("What is devops doing?", "The agent devops is idle: it has had nothing to do."),
        ("why pour-2?", "It needs dig-1 (running with coder) to be done first."),
        ("Where do dig-1 and pour-2 stand?", "The task pour-2 (“Pour”, medium, from operator) is blocked."),
        ("Any resource conflicts?", "I found no conflicts"),
        ("How many tasks failed?", "No task has failed in the last 7 days."),
        ("How much disk is left?", "Disk: "),
        ("Which questions are open?", "coder waits for finance to answer msg_"),
        ("How many unread messages are there?", "finance is active: work is ready for it; 1 unread message"),
    ],
)
async def test_a_question_is_answered_from_the_records(coder: Thinker, asked: str, answered: str) -> None:
    outcome = await coder.hears(asked)
    assert outcome.kind == "done"
    assert answered in outcome.summary
    assert outcome.messages == []


@pytest.mark.parametrize(
    "asked",
    [
        "What is the capital of France?",
        "How are sales this quarter?",
        "Write me a poem about queues",
        "Delete all tasks",
        "Can you deploy the new release?",
        "Is the moon full?",
        "???",
        "wie geht's dem system",
    ],
)
async def test_what_it_can_not_answer_it_says_and_what_it_can(coder: Thinker, asked: str) -> None:
    outcome = await coder.hears(asked)
    assert outcome.kind == "done"
    assert outcome.summary.startswith("I can't answer that or do that: ")
    assert "You can ask me how I am" in outcome.summary
    assert outcome.data == {}


async def test_news_is_noted_without_a_reply(coder: Thinker) -> None:
    for kind in ("notification", "update", "feedback", "alert", "response"):
        outcome = await coder.hears("The build is green. How is the system", sender="ops", type=kind, requires_response=False)
        assert (outcome.kind, outcome.messages) == ("done", [])
        assert outcome.summary == "Noted 1 message: ops (“The build is green. How is the system”)."
    assert (await coder.reads("one", "two")).summary == "Noted 2 messages: sales (“one”) and sales (“two”)."
    assert (await coder.hears("Why so late?", sender="system", type="request", requires_response=False)).messages == []


async def test_thanks_start_no_conversation(coder: Thinker) -> None:
    for text in ("Thanks!", "ok great, thank you very much", "Noted.", "got it"):
        outcome = await coder.hears(text, sender="ops", type="request", requires_response=False)
        assert (outcome.summary, outcome.messages) == ("You're welcome.", [])
    assert (await coder.hears("ok?")).summary != "You're welcome."


async def test_a_request_that_requires_no_response_is_answered_by_a_message_of_its_own(coder: Thinker) -> None:
    outcome = await coder.hears("Check for resource conflicts", sender="chief", type="request", requires_response=False)
    assert [(each.to, each.in_reply_to) for each in outcome.messages] == [("chief", "msg_1")]
    assert outcome.messages[0].content.body == outcome.summary
    assert "I found no conflicts" in outcome.summary
    asked = await coder.hears("how is the system?", type="notification", requires_response=False)
    assert [each.to for each in asked.messages] == ["operator"]


async def test_the_subject_counts_as_said(coder: Thinker) -> None:
    assert "Memory: " in (await coder.hears("Please tell me.", subject="How is the system?")).summary


@rule("M12")
async def test_mail_between_others_is_not_told_to_a_third(fleet: Store, tmp_path: Path) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "finance", "the secret floor", requires_response=True)
    coder = Thinker(fleet, "coder", tmp_path)
    for asked in (f"why {ident}?", "Which questions are open?", "How is sales?", f"Where does {ident} stand"):
        for_ops = await coder.hears(asked, sender="ops")
        assert "secret floor" not in for_ops.summary + str(for_ops.data)
    assert "The message" not in (await coder.hears(f"why {ident}?", sender="ops")).summary
    assert "the secret floor" in (await coder.hears(f"why {ident}?", sender="sales")).summary
    assert "the secret floor" in (await coder.hears(f"why {ident}?")).summary


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    text=st.text(min_size=1, max_size=300),
    sender=st.sampled_from(["operator", "ops", "system"]),
    kind=st.sampled_from(["question", "notification", "task", "handover"]),
    requires=st.booleans(),
)
async def test_no_message_makes_it_raise(fleet: Store, tmp_path: Path, text: str, sender: str, kind: str, requires: bool) -> None:
    outcome = await Thinker(fleet, "coder", tmp_path).hears(text, sender=sender, type=kind, requires_response=requires)
    assert outcome.kind == "done"
    assert outcome.summary
