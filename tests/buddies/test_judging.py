"""What a buddy's answers come to: any bytes at all give a verdict, and only its own good answer counts (B2, B3)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.buddies.asking import health_of
from covey.buddies.model import Answer, Last, Reply, Silence, due_at, judge
from tests.rules import rule

CHECK = {
    "agentId": "devops", "status": "idle", "lastHeartbeat": 5.0, "queueLength": 0, "contextSize": 10, "maxContextSize": 100,
    "covering": [], "timestamp": 6.0, "checkId": "check-1",
}  # fmt: skip
STATE = Reply(200, b'{"agentId":"devops","status":"idle"}')


def reply(status: int = 200, **changes: object) -> Reply:
    return Reply(status, msgspec.json.encode(CHECK | changes))


@rule("B2")
def test_its_own_answer_counts() -> None:
    found = judge("devops", "check-1", STATE, reply())
    assert isinstance(found, Answer)
    assert (found.status, found.share, found.idle_and_empty) == ("idle", 0.1, True)


@rule("B3")
@pytest.mark.parametrize(
    ("status", "check", "fault"),
    [
        (STATE, reply(agentId="coder"), "another name"),
        (Reply(200, b'{"agentId":"coder"}'), reply(), "another name"),
        (Reply(200, b'{"agentId":"coder","x":"', whole=False), reply(), "another name"),
        (STATE, Reply(200, b"<html>"), "garbage"),
        (STATE, Reply(200, b"\xff\xfe"), "garbage"),
        (STATE, Reply(200, b"[]"), "garbage"),
        (STATE, reply(queueLength="many"), "garbage"),
        (STATE, Reply(200, msgspec.json.encode(CHECK | {"status": "splendid"})), "garbage"),
        (STATE, reply(checkId="check-2"), "garbage"),
        (STATE, reply()._replace(whole=False), "garbage"),
        (Reply(200, b"7"), reply(), "garbage"),
        (STATE, reply(500), "refused"),
        (Reply(401, b""), reply(), "refused"),
        (STATE, Silence("slow", "too late"), "slow"),
        (Silence("no answer", "refused"), reply(), "no answer"),
    ],
)
def test_what_is_not_its_answer_counts_as_none_with_the_reason(status: Reply | Silence, check: Reply | Silence, fault: str) -> None:
    found = judge("devops", "check-1", status, check)
    assert isinstance(found, Silence)
    assert found.fault == fault
    assert found.sentence


@rule("B3")
def test_a_state_too_long_to_be_read_whole_is_known_by_its_beginning() -> None:
    assert isinstance(judge("devops", "check-1", Reply(200, b'{"agentId":"devops","taskQueue":[', whole=False), reply()), Answer)


@rule("B3")
@given(st.integers(100, 599), st.binary(max_size=300), st.booleans(), st.binary(max_size=300), st.booleans())
def test_any_bytes_give_a_verdict(status: int, one: bytes, one_whole: bool, other: bytes, other_whole: bool) -> None:
    found = judge("devops", "check-1", Reply(status, one, one_whole), Reply(status, other, other_whole))
    assert isinstance(found, Silence), "and never an answer"
    assert health_of(Reply(status, one)) in ("healthy", "degraded", "paused", "none")


@rule("B2")
def test_a_check_is_due_an_hour_after_the_last_one_and_a_minute_after_the_agent_was_made() -> None:
    assert due_at(3600, 1000.0, None, "devops", None) == 1060.0
    assert due_at(3600, 1000.0, 5000.0, "devops", None) == 8600.0
    missed = Last("coder", "devops", 5000.0, "coder", "missed", "", True, 5060.0, 1, 0, 1)
    assert due_at(3600, 1000.0, 5000.0, "devops", missed) == 5060.0
    assert due_at(3600, 1000.0, 5000.0, "ops", missed) == 8600.0, "another one is watched now"
    assert due_at(3600, 1000.0, 5000.0, "devops", missed._replace(outcome="answered", look_at=8600.0)) == 8600.0
    assert due_at(60, 1000.0, 5000.0, "devops", missed._replace(look_at=8600.0)) == 5060.0, "the settings say more often now"
