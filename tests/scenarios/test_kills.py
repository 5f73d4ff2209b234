"""With work in flight each agent and the node is killed with -9 in turn, twice over: all is handled, no effect twice, nothing left."""

from __future__ import annotations

from collections import Counter

import pytest

from covey import Fleet
from covey.messages.model import draft
from covey.store import Statement, Transaction
from tests.rules import rule
from tests.scenarios.conftest import NAMES, RunningFleet, run, wait_until

MESSAGES = 1000
TASKS = 200

UNHANDLED = Statement("unhandled", "SELECT count(*) AS n FROM copies WHERE receiver <> 'operator' AND state <> 'handled'")
UNDONE = Statement("undone", "SELECT count(*) AS n FROM tasks WHERE state <> 'done'")
REPLIES = Statement("replies", "SELECT in_reply_to AS id, count(*) AS n FROM messages WHERE in_reply_to IS NOT NULL GROUP BY in_reply_to")
DONE = Statement("done", "SELECT subject AS id, count(*) AS n FROM events WHERE kind = 'task.done' GROUP BY subject")
STATES = Statement("states", "SELECT receiver AS who, state, count(*) AS n FROM copies GROUP BY receiver, state")
TASK_STATES = Statement("task_states", "SELECT state, error, count(*) AS n FROM tasks GROUP BY state, error")


def _counts(tx: Transaction) -> tuple[int, int]:
    return tx.one(UNHANDLED).n, tx.one(UNDONE).n  # type: ignore[union-attr]


def _effects(tx: Transaction) -> tuple[dict[str, int], dict[str, int]]:
    return {row.id: row.n for row in tx.all(REPLIES)}, {row.id: row.n for row in tx.all(DONE)}


async def _fill(fleet: RunningFleet) -> list[str]:
    async with Fleet.open(fleet.folder, environ=fleet.env) as opened:
        sent = []
        for number in range(MESSAGES):
            message = draft(NAMES[number % 8], f"message {number}", requires_response=True)
            sent.append((await opened.post(message)).message_id)
            if number % 5 == 0:
                await opened.add_task(NAMES[(number // 5) % 8], f"task {number} {'slowly' if number % 50 == 0 else ''}")
        return sent


async def _look(fleet: RunningFleet) -> tuple[int, int]:
    async with Fleet.open(fleet.folder, environ=fleet.env) as opened:
        return await opened.read(_counts)


async def _count(fleet: RunningFleet) -> tuple[dict[str, int], dict[str, int], str]:
    async with Fleet.open(fleet.folder, environ=fleet.env) as opened:
        replies, done = await opened.read(_effects)
        states = await opened.read(lambda tx: [tuple(row) for row in [*tx.all(STATES), *tx.all(TASK_STATES)]])
        return replies, done, "\n".join(map(str, states))


@pytest.mark.scenario
@pytest.mark.timeout(300)
@rule("M3", "H4", "H9", "K4")
def test_every_process_is_killed_twice_and_all_work_is_done_once(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.up()
    sent = run(_fill(fleet))
    for _ in range(2):
        for name in (*NAMES, "node"):
            if name == "node":
                fleet.kill("node")
                fleet.up()
            else:
                fleet.serving_again(name, fleet.kill(name))
    wait_until(lambda: run(_look(fleet)) == (0, 0), 150, lambda: f"work is left: {run(_count(fleet))[2]}\n{fleet.logs()}")
    replies, done, _ = run(_count(fleet))
    assert Counter(replies[ident] for ident in sent) == {1: MESSAGES}
    assert Counter(done.values()) == {1: TASKS}
    fleet.down()
    assert fleet.processes() == []


@pytest.mark.scenario
@rule("H4")
def test_a_killed_agent_serves_again(fleet_folder: RunningFleet) -> None:
    fleet_folder.up()
    took = [fleet_folder.serving_again(name, fleet_folder.kill(name)) for name in NAMES[:3]]
    assert max(took) < 30


@pytest.mark.scenario
@rule("A7a", "H9")
def test_up_on_a_running_fleet_prints_its_addresses_and_changes_nothing(fleet_folder: RunningFleet) -> None:
    fleet_folder.up()
    before = [fleet_folder.marker(name) for name in (*NAMES, "node", "console")]
    again = fleet_folder.json("up", "--detach")
    assert again["status"] == "the fleet runs already"
    assert {each["name"] for each in again["addresses"]} == {*NAMES, "console"}
    assert [fleet_folder.marker(name) for name in (*NAMES, "node", "console")] == before


@pytest.mark.scenario
@rule("H9")
def test_agents_outlive_the_node_and_the_next_one_adopts_them(fleet_folder: RunningFleet) -> None:
    fleet_folder.up()
    before = {name: fleet_folder.marker(name) for name in NAMES}
    fleet_folder.kill("node")
    answer = fleet_folder.covey("ask", "coder", "alive?")
    assert "alive?" in answer.stdout
    fleet_folder.up()
    assert {name: fleet_folder.marker(name) for name in NAMES} == before
    fleet_folder.serving_again("coder", fleet_folder.kill("coder"))
