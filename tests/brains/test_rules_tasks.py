"""The rules brain does a task: true figures from the records and the machine, or a plain word that it can't."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR, THE_SYSTEM, as_agent
from covey.base.processes import Identity
from covey.base.settings import ProjectSettings, Settings
from covey.brains.rules import DOABLE
from covey.brains.rules.audit import audit
from covey.brains.rules.desk import DATA_BYTES, fitted
from covey.messages import handling
from covey.messages.checking import DATA_BYTES as BOUND
from covey.store import Store
from covey.tasks import adding, reading, runs, working
from covey.tasks.model import TaskDraft
from tests.brains.rules_turns import Thinker
from tests.conftest import EIGHT, ManualClock
from tests.reports.acting import add, awake, claim_mail, send, take
from tests.rules import rule


@pytest.fixture
async def busy(store: Store, clock: ManualClock) -> Store:
    """The default fleet with something of everything: done, failed, running, blocked, dead, asked, paid."""
    projects = (ProjectSettings(name="site", path="/srv/site", agents=("coder", "ops")),)
    await store.write(configuring.configure, Settings(agents=EIGHT.agents, lead="chief", deputy="ops", projects=projects))
    await awake(store)
    await add(store, "Lay out", "coder", task_id="layout", project_id="site")
    _, token = await take(store, "coder")
    clock.at += 90
    await store.write(working.finish, "coder", token, "laid out")
    await add(store, "Break", "coder", task_id="broken", max_attempts=1)
    _, token = await take(store, "coder")
    await store.write(working.fail, "coder", token, "the disk is full")
    await add(store, "Dig", "coder", task_id="dig", project_id="site")
    await take(store, "coder")
    await add(store, "Build", "ops", task_id="build", project_id="site", dependencies=["dig"], priority="high")
    await add(store, "Pay", "finance", task_id="pay", approval=True)
    await send(store, "sales", "finance", "What is the secret floor?", requires_response=True)
    await send(store, "operator", "intel", "too hard")
    for _ in range(5):
        claimed = await claim_mail(store, "intel")
        await store.write(handling.failed, "intel", claimed.token, "no idea")
        clock.at += 61
    await store.write(runs.open_run, "run_9", item="layout", kind="task", agent="coder", node="n1", attempt=1)
    await store.write(runs.close, "run_9", "done", cost_usd=0.75, tokens=1234)
    await awake(store)
    return store


SAYS = {
    "productivity": ["finished 1 task (50 % of those that ran to an end), 1 min 30 s each on average; 1 failed", "coder: 1 done"],
    "pending": [
        "2 tasks wait, the most pressing first:\n- build (ops, blocked): Build — high\n- pay (finance, blocked): Pay — wants approval"
    ],
    "resource_conflicts": ["I found no conflicts"],
    "fleet_status": [
        "8 agents:",
        "coder is busy: its brain is at the task dig",
        "finance is active: work is ready for it; 1 unread message",
    ],
    "workload": ["3 open tasks", "coder: 1 running, 0 queued, 0 blocked", "Free and able: chief, sales, intel, devops and comms."],
    "failures": ["1 task failed in the last 7 days", "broken (coder, 5 min 5 s ago", "the disk is full"],
    "dependency_chains": ["3 open tasks, 2 of them blocked.", "dig (coder, running): 1 task behind it", "The longest chain is dig → build"],
    "own_queue": ["1 open task in coder's queue."],
    "own_record": ["In the last 7 days coder finished 1 task, 1 min 30 s each on average; 1 failed"],
    "open_questions": ["1 question is open, 0 of them coder's:", "sales waits for finance to answer msg_"],
    "costs": [
        "brains ran 1 times; 1 of these runs recorded a price",
        "$0.7500 and 1,234 tokens",
        "Other expenses are not in the fleet's records.",
    ],
    "forecast": ["$0.7500 in the last 30 days", "they cost $3.21"],
    "allocation": ["At work on tasks: 1 of 8 agents (12 %)."],
    "digest": ["Today (UTC) the fleet finished 1 task", "reached a mailbox"],
    "traffic": ["In the last 24 hours 4 messages reached a mailbox, 0 of them are handled.", "sales → finance: 1 (0 handled)"],
    "dead_letters": ["1 dead letter: intel (1).", "1 × no idea", "covey dead requeue ID"],
    "system_health": ["Memory: ", "Disk: ", "Processor: "],
    "security_audit": ["I checked ", "127.0.0.1"],
    "performance": ["no handled message among the latest events", "1 finished task; 50 % of all ended attempts", "I changed nothing."],
    "project_timelines": ["site: 1 blocked, 1 done, 1 running; ", "by the estimates along dig → build"],
    "lying": ["3 open tasks in the fleet.", "Waiting for the operator's approval: pay (finance"],
    "workflow": ["The lead is chief, its deputy ops", "site at /srv/site, with coder and ops", "finance (rules brain): Finance"],
    "buddies": ["8 of 8 agents watch another", "coder watches devops, which is idle, and has not looked yet", "No check is overdue."],
    "contexts": ["No agent's context is above 80 %.", "Nobody has anything in its context yet."],
    "budgets": ["0 of 200 turns of paid brains were used, and $0.75 of $5.00.", "Every agent has generated tasks left."],
    "retries": ["Of 2 tasks that ran to an end in the last 7 days, each took one attempt."],
    "comparison": ["done: 1 in the last 7 days, 0 in the 7 before", "The day with most done was "],
    "daily_digest": [
        "Today (UTC) 1 task done, 1 failed",
        "By agent: coder 1.",
        "Failed: broken (coder): the disk is full",
        "pay wants approval since",
    ],
    "reminder": ["2 things wait for the operator:", "`covey approve pay`", "1 dead letter: `covey dead` lists them"],
    "coverage": ["The fleet has 24 capabilities.", "For each of them somebody is able right now.", "code (coder)"],
}


async def test_every_report_says_what_the_records_say(busy: Store, tmp_path: Path) -> None:
    thinker = Thinker(busy, "coder", tmp_path)
    assert SAYS.keys() == DOABLE.keys()
    for name, doable in DOABLE.items():
        outcome = await thinker.does(doable.template)
        assert outcome.kind == "done", (name, outcome.error)
        assert [part for part in SAYS[name] if part not in outcome.summary] == [], f"{name}:\n{outcome.summary}"
        assert outcome.data, name
        assert len(msgspec.json.encode(outcome.data)) <= BOUND
        assert "secret floor" not in outcome.summary + str(outcome.data), "mail between others is not for a task that everybody sees"


async def test_every_report_has_words_for_a_fleet_where_nothing_happened_yet(fleet: Store, tmp_path: Path) -> None:
    for name, doable in DOABLE.items():
        outcome = await Thinker(fleet, "ops", tmp_path).does(doable.template)
        assert outcome.kind == "done", name
        assert outcome.summary.strip()
        assert "None" not in outcome.summary, name


async def test_an_outcome_can_be_stored_as_it_is(busy: Store, tmp_path: Path) -> None:
    await add(busy, "Check for resource conflicts", "ops", task_id="check")
    _, token = await take(busy, "ops")
    outcome = await Thinker(busy, "ops", tmp_path).does("Check for resource conflicts")
    done = await busy.write(working.finish, "ops", token, outcome.summary, outcome.data)
    assert done.result["summary"] == outcome.summary


@rule("P1")
async def test_what_it_can_not_do_it_refuses_for_good_and_says_what_would_help(fleet: Store, tmp_path: Path) -> None:
    outcome = await Thinker(fleet, "coder", tmp_path).does("Refactor legacy code modules")
    assert (outcome.kind, outcome.permanent) == ("failed", True)
    assert "The rules brain can't do this: “Refactor legacy code modules”." in outcome.error
    assert "give this agent a `python`, `command` or `model` brain (covey.toml, [agents.coder] brain = …)" in outcome.error


async def test_it_can_not_split_a_task(fleet: Store, tmp_path: Path) -> None:
    outcome = await Thinker(fleet, "coder", tmp_path).splits("Monitor system health")
    assert (outcome.kind, outcome.permanent) == ("failed", True)


async def waiting_with(store: Store, origin: str) -> None:
    """A low task that an urgent one waits for."""
    by = THE_SYSTEM if origin == "generated" else as_agent("chief") if origin == "agent" else THE_OPERATOR
    await store.write(adding.add, TaskDraft(description="Base", agent="ops", task_id="base", priority="low"), by, origin=origin)
    await add(store, "Top", "ops", task_id="top", priority="urgent", dependencies=["base"])


@pytest.mark.parametrize("origin", ["generated", "agent"])
@rule("K2")
async def test_the_lead_lends_the_priority_of_what_waits_to_generated_tasks_and_its_own(fleet: Store, tmp_path: Path, origin: str) -> None:
    await waiting_with(fleet, origin)
    outcome = await Thinker(fleet, "chief", tmp_path).does("Prioritize pending tasks across agents")
    assert "I raised base to urgent" in outcome.summary
    assert outcome.decisions == ["I raised base to urgent: a task with that priority waits for it."]
    assert (await fleet.read(reading.show, "base")).priority == "urgent"
    again = await Thinker(fleet, "chief", tmp_path).does("Prioritize pending tasks across agents")
    assert again.decisions == []


async def test_it_changes_no_priority_of_the_operators_tasks_nor_without_being_the_lead_nor_when_only_asked(
    fleet: Store, tmp_path: Path
) -> None:
    await waiting_with(fleet, "operator")
    await Thinker(fleet, "chief", tmp_path).does("Prioritize pending tasks across agents")
    assert (await fleet.read(reading.show, "base")).priority == "low"
    await fleet.write(
        adding.add, TaskDraft(description="Other base", agent="ops", task_id="other", priority="low"), THE_SYSTEM, origin="generated"
    )
    await add(fleet, "Other top", "ops", priority="urgent", dependencies=["other"])
    await Thinker(fleet, "ops", tmp_path).does("Prioritize pending tasks across agents")
    await Thinker(fleet, "chief", tmp_path).hears("Which pending tasks come first?")
    assert (await fleet.read(reading.show, "other")).priority == "low"


@rule("H10")
async def test_system_health_has_true_figures_and_most_detail_for_who_monitors(fleet: Store, tmp_path: Path) -> None:
    me = Identity.of(os.getpid())
    assert me is not None
    await fleet.write(living.arrive, "coder", node="n1", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, port=8002)
    outcome = await Thinker(fleet, "devops", tmp_path).does("Monitor system health")
    assert f"coder (pid {os.getpid()}): " in outcome.summary
    assert outcome.data["disk"]["totalBytes"] == os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize
    assert "1 agent process of the fleet on this machine" in outcome.summary
    assert "pid" not in (await Thinker(fleet, "sales", tmp_path).does("Monitor system health")).summary


async def test_the_audit_finds_what_others_could_read_or_change(fleet: Store, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "tokens.toml").touch(mode=0o600)
    (data / "store.db").touch(mode=0o600)
    (tmp_path / "covey.toml").touch()
    (tmp_path / "covey.toml").chmod(0o644)
    sound = audit(data, tmp_path, ["127.0.0.1", "::1", "localhost"])
    assert [fault for fault in sound.faults if "root" not in fault] == []
    assert "tokens.toml is private (0600)" in sound.fine
    assert "run" in sound.missing
    (data / "tokens.toml").chmod(0o644)
    data.chmod(0o755)
    (tmp_path / "covey.toml").chmod(0o666)
    found = audit(data, tmp_path, ["0.0.0.0"])
    assert any(f"others may get at tokens.toml: its mode is 0644; `chmod 600 {data / 'tokens.toml'}`" in fault for fault in found.faults)
    assert any("others may get at the data folder: its mode is 0755" in fault for fault in found.faults)
    assert any("others may change covey.toml" in fault for fault in found.faults)
    assert any("0.0.0.0, which other machines may reach" in fault for fault in found.faults)
    outcome = await Thinker(fleet, "devops", data).does("Security audit")
    assert "tokens.toml: its mode is 0644" in outcome.summary
    assert stat.S_IMODE((data / "tokens.toml").stat().st_mode) == 0o644, "an audit changes nothing"


def test_figures_are_cut_until_they_fit() -> None:
    many = {"agents": [{"agentId": f"a{number}", "text": "x" * 100} for number in range(5000)], "n": 5000}
    cut = fitted(many)
    assert cut["n"] == 5000
    assert 0 < len(cut["agents"]) < 5000
    assert len(msgspec.json.encode(cut)) <= DATA_BYTES
    assert "leftOut" in fitted({"one": "x" * (DATA_BYTES + 1)})
    small = {"a": [1, 2, {"b": None}]}
    assert fitted(small) == small


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(text=st.text(max_size=300) | st.sampled_from([each.template for each in DOABLE.values()]))
async def test_no_task_makes_it_raise(fleet: Store, tmp_path: Path, text: str) -> None:
    outcome = await Thinker(fleet, "coder", tmp_path).does(text or "x")
    assert outcome.kind in ("done", "failed")
    assert outcome.summary or outcome.error
