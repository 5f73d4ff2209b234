"""What new settings mean for a fleet as it is: pure plans, and what is handed over in the store."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict
from covey.base.settings import BrainSettings, Settings
from covey.cli.applying import as_it_can_be, leavers, plan, take_over
from covey.messages import handling, sending
from covey.messages import reading as mail
from covey.messages.model import draft
from covey.store import Store, events
from covey.tasks import adding
from covey.tasks import reading as tasks
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT
from tests.rules import rule


def with_agent(name: str, **changed: Any) -> Settings:
    """The eight, with one agent changed."""
    agents = tuple(msgspec.structs.replace(each, **changed) if each.id == name else each for each in EIGHT.agents)
    return msgspec.structs.replace(EIGHT, agents=agents)


def without(*names: str) -> Settings:
    """The eight, without some."""
    return msgspec.structs.replace(EIGHT, agents=tuple(each for each in EIGHT.agents if each.id not in names))


def test_only_the_agent_whose_process_is_started_otherwise_starts_anew() -> None:
    made = plan(EIGHT, with_agent("coder", brain=BrainSettings(kind="command", command=("true",))), running=True)
    assert (made.restarts, made.starts, made.ends, made.at_next_start) == (["coder"], [], [], [])


def test_what_the_store_tells_live_restarts_nobody() -> None:
    for changed in ({"role": "other"}, {"capabilities": ("code",)}, {"buddy": "ops"}):
        made = plan(EIGHT, with_agent("coder", **changed), running=True)
        assert made.changes
        assert not made.restarts
    assert plan(EIGHT, msgspec.structs.replace(EIGHT), running=True).changes == []


def test_agents_that_come_and_go_start_and_end() -> None:
    made = plan(without("ops"), without("sales"), running=True)
    assert (made.starts, made.ends) == (["ops"], ["sales"])


def test_what_a_running_fleet_can_not_change_is_named_and_kept() -> None:
    new = msgspec.structs.replace(with_agent("coder", cwd="/elsewhere"), store="postgresql://x/y", host="0.0.0.0", heartbeat_s=5.0)
    made = plan(EIGHT, new, running=True)
    assert set(made.at_next_start) == {"store", "host"}
    live = as_it_can_be(EIGHT, new)
    assert (live.store, live.host, live.heartbeat_s) == ("", EIGHT.host, 5.0)
    assert plan(EIGHT, new, running=False).at_next_start == []


async def busy(fleet: Store) -> None:
    """Give coder a task that waits, and three messages, one of them from ops."""
    await fleet.write(adding.add, TaskDraft(description="build", agent="coder", task_id="build"), THE_OPERATOR)
    await fleet.write(sending.send, draft(["coder", "ops"], "to both", message_id="both"), THE_OPERATOR)
    await fleet.write(sending.send, draft("coder", "to coder", message_id="alone", requires_response=True), THE_OPERATOR)
    await fleet.write(sending.send, draft("coder", "from ops", message_id="ops-asks"), as_agent("ops"))


@rule("A2")
async def test_who_leaves_with_something_undone_is_refused_and_counted(fleet: Store) -> None:
    await busy(fleet)
    (found,) = await fleet.read(leavers, without("coder", "sales"))
    assert (found.name, found.tasks, found.mail) == ("coder", 1, 3)
    with pytest.raises(Conflict, match="coder has 1 open task and 3 unread messages"):
        await fleet.write(take_over, without("coder"), None, changed=True)
    assert len((await fleet.read(tasks.listed, agent="coder")).items) == 1


@rule("A2")
async def test_an_heir_takes_over_tasks_and_mail_in_the_same_commit(fleet: Store) -> None:
    await busy(fleet)
    moved = await fleet.write(take_over, without("coder"), "ops", changed=True)
    assert moved == {"tasks": 1, "messages": 1}
    assert (await fleet.read(tasks.show, "build")).agent == "ops"
    found = {each.message_id: each for each in (await fleet.read(mail.inbox, "ops", unread=True)).items}
    assert {"both", "alone"} <= found.keys()
    assert found["alone"].requires_response
    (notice,) = [each for each in found.values() if each.from_ == "system"]
    assert "ops-asks" in notice.body
    assert await fleet.read(mail.unread_count, "coder") == 0


async def test_an_answer_of_the_heir_ends_the_wait(fleet: Store) -> None:
    await fleet.write(sending.send, draft("coder", "well?", message_id="q", requires_response=True), as_agent("sales"))
    await fleet.write(take_over, without("coder"), "ops", changed=True)
    receipt = await fleet.write(sending.send, draft(None, "yes", in_reply_to="q"), as_agent("ops"))
    assert receipt.note is None
    (copy,) = await fleet.read(mail.show, "q")
    assert copy.answered_by == receipt.message_id


async def test_nobody_leaves_whose_brain_is_at_work(fleet: Store) -> None:
    await fleet.write(sending.send, draft("coder", "well?", requires_response=True), THE_OPERATOR)
    assert await fleet.write(handling.claim, "coder", "run_1", lease_s=60, digest_s=900) is not None
    await fleet.write(adding.add, TaskDraft(description="build", agent="coder"), THE_OPERATOR)
    with pytest.raises(Conflict, match="at mail right now"):
        await fleet.write(take_over, without("coder"), "ops", changed=True)
    assert (await fleet.read(tasks.listed, agent="coder")).items


async def test_a_change_that_touches_no_agent_is_an_event_all_the_same(fleet: Store) -> None:
    before = await fleet.read(events.last)
    await fleet.write(take_over, EIGHT, None, changed=False)
    assert await fleet.read(events.last) == before
    await fleet.write(take_over, msgspec.structs.replace(EIGHT, heartbeat_s=5.0), None, changed=True)
    page = await fleet.read(events.after, before)
    assert [each.kind for each in page.events] == ["fleet.configured"]
