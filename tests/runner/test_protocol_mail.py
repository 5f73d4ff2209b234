"""Mail that the protocol answers itself: no brain sees a check of a buddy (A5a, A9)."""

from __future__ import annotations

import pytest

from covey.messages import reading as mail
from covey.store import events
from tests.rules import rule
from tests.runner.desk import Desk


@rule("A5a", "A9")
@pytest.mark.parametrize("asks", [True, False])
def test_a_message_of_type_buddy_check_is_answered_and_no_turn_is_made_of_it(desk: Desk, asks: bool) -> None:
    check = desk.send("coder", "are you there?", sender="devops", type="buddy-check", requires_response=asks)
    assert desk.try_to_take("coder", "mail") is None
    assert desk.hand(mail.show, check)[0].state == "handled"
    answers = [message for message in desk.hand(mail.inbox, "devops").items if message.in_reply_to == check]
    assert [message.from_ for message in answers] == ["coder"]
    data = answers[0].content["data"]
    assert set(data) == {
        "agentId", "status", "lastHeartbeat", "queueLength", "contextSize", "maxContextSize", "covering", "timestamp",
    }  # fmt: skip
    assert (data["agentId"], data["covering"]) == ("coder", [])
    assert desk.hand(events.after, events.START, kinds=("run.",), limit=1000).events == []


@rule("A5a")
def test_other_mail_beside_a_check_is_handled_as_ever(desk: Desk) -> None:
    desk.send("coder", "a note", sender="ops", type="update")
    desk.send("coder", "are you there?", sender="devops", type="buddy-check")
    asked = desk.ask("coder", "and now?")
    work = desk.take("coder", "mail")
    assert work.item == asked
    assert [message.type for message in work.riders] == ["update"]
