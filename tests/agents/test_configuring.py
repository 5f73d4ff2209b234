"""The stored fleet is brought in line with the settings, and nobody's mail, work or history is lost by it (A2)."""

from __future__ import annotations

import pytest

from covey.agents import configuring, living, roster
from covey.agents.configuring import Changes, queues_of
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.defaults import AGENTS
from covey.base.errors import Invalid
from covey.base.settings import AgentSettings, BrainSettings, ProjectSettings, Settings
from covey.messages import reading, sending
from covey.messages.model import draft
from covey.store import Store, Transaction, events
from covey.store.statements import Statement
from tests.conftest import EIGHT
from tests.rules import rule

QUEUES = Statement("tests:queues", "SELECT queue FROM agent_queues WHERE agent = :agent ORDER BY queue")


def queues(tx: Transaction, agent: str) -> list[str]:
    return [row.queue for row in tx.all(QUEUES, agent=agent)]


def one(name: str, **more: object) -> AgentSettings:
    return AgentSettings(id=name, port=9000, **more)  # type: ignore[arg-type]


@rule("A2")
async def test_the_same_settings_again_change_nothing(fleet: Store) -> None:
    before = await fleet.read(roster.everyone)
    last = await fleet.read(events.last)
    assert await fleet.write(configuring.configure, EIGHT) == Changes((), (), ())
    assert await fleet.read(roster.everyone) == before
    assert await fleet.read(events.last) == last


@rule("A2")
async def test_agents_are_added_changed_and_removed(fleet: Store) -> None:
    new = one("poet", role="writes", capabilities=("general", "verse"), owner="me", organisation="us", brain=BrainSettings(kind="command"))
    changed = AgentSettings(id="coder", port=8002, role="reviews", capabilities=("review",))
    settings = Settings(agents=(changed, AGENTS[0], new), lead="poet", deputy="coder", host="::1")
    changes = await fleet.write(configuring.configure, settings)
    assert changes == Changes(("poet",), ("coder", "chief"), ("sales", "finance", "intel", "devops", "comms", "ops"))
    assert await fleet.read(roster.all_names) == ["coder", "chief", "poet"]
    poet = await fleet.read(roster.find, "poet")
    assert (poet.role, poet.port, poet.capabilities, poet.owner, poet.organisation, poet.brain, poet.host) == (
        "writes",
        9000,
        ("general", "verse"),
        "me",
        "us",
        "command",
        "::1",
    )
    assert await fleet.read(queues, "coder") == sorted(queues_of("coder", ("review",)))
    assert await fleet.read(queues, "sales") == []
    assert await fleet.read(roster.lead) == ("poet", "coder")
    told = [event.kind for event in (await fleet.read(events.after, events.START)).events][9:]
    assert told == ["agent.removed"] * 6 + ["agent.added", "fleet.configured"]


@rule("A2")
async def test_an_agent_that_comes_back_has_its_mail_its_flags_and_its_counts(fleet: Store) -> None:
    await fleet.write(sending.send, draft("sales", "hello", message_id="m1"), as_agent("chief"))
    await fleet.write(living.pause, "sales", THE_OPERATOR, "away")
    await fleet.write(living.acted, "sales", tasks=2)
    await fleet.write(configuring.configure, Settings(agents=AGENTS[:2], lead="chief", deputy="coder"))
    assert (await fleet.read(reading.show, "m1"))[0].body == "hello"
    await fleet.write(configuring.configure, EIGHT)
    sales = await fleet.read(roster.find, "sales")
    assert (sales.removed_at, sales.flag_reason, sales.place) == (None, "away", 2)
    assert (await fleet.read(roster.vitals, "sales")).tasks_completed == 2
    assert [message.message_id for message in (await fleet.read(reading.inbox, "sales")).items] == ["m1"]


@rule("K2")
def test_an_agent_takes_from_its_own_queue_and_the_urgent_and_global_ones_of_what_it_can() -> None:
    assert queues_of("coder", ("code", "test")) == ["coder", "urgent:code", "urgent:test", "global:code", "global:test"]


@rule("A2")
async def test_one_agent_is_a_fleet(store: Store) -> None:
    await store.write(configuring.configure, Settings(agents=(one("alone"),)))
    assert await store.read(roster.all_names) == ["alone"]
    assert await store.read(roster.lead) == ("operator", "operator")


@rule("A2")
@pytest.mark.slow
async def test_ten_thousand_agents_are_a_fleet(store: Store) -> None:
    many = tuple(
        AgentSettings(id=f"a{n}", port=8001 + n, buddy=f"a{(n + 1) % 10_000}", capabilities=("general", f"c{n % 7}")) for n in range(10_000)
    )
    changes = await store.write(configuring.configure, Settings(agents=many, lead="a0", deputy="a1"))
    assert len(changes.added) == 10_000
    assert await store.read(roster.all_names) == [agent.id for agent in many]
    assert await store.read(roster.capabilities) == [*(f"c{n}" for n in range(7)), "general"]
    assert len(await store.read(roster.with_capability, "c0")) == 1429
    assert (await store.read(roster.find, "a9999")).buddy == "a0"
    assert await store.write(configuring.configure, Settings(agents=many, lead="a0", deputy="a1")) == Changes((), (), ())


@rule("A1b")
async def test_projects_are_those_of_the_settings(fleet: Store) -> None:
    await fleet.write(configuring.check_project, "anything", "projectId")
    site, book = ProjectSettings(name="site", path="/srv/site", agents=("coder", "ops")), ProjectSettings(name="book")
    await fleet.write(configuring.configure, Settings(agents=AGENTS, projects=(site, book), lead="chief", deputy="ops"))
    found = await fleet.read(configuring.projects)
    assert found == [("book", "", ()), ("site", "/srv/site", ("coder", "ops"))]
    await fleet.read(configuring.check_project, "site", "projectId")
    await fleet.read(configuring.check_project, None, "projectId")
    with pytest.raises(Invalid, match="no project of this fleet; it has: book, site") as refused:
        await fleet.read(configuring.check_project, "sight", "projectId")
    assert refused.value.field == "projectId"
    await fleet.write(configuring.configure, Settings(agents=AGENTS, projects=(book,), lead="chief", deputy="ops"))
    assert [project.name for project in await fleet.read(configuring.projects)] == ["book"]


@rule("A2")
async def test_odd_words_are_kept_as_they_are(store: Store) -> None:
    role = "says “hello” ✓ and 'quotes', \"too\";\n-- and {braces}, %s, :names, $1 \\ ünïcode"
    await store.write(configuring.configure, Settings(agents=(one("poet", role=role, env={"KEY": role}),)))
    poet = await store.read(roster.find, "poet")
    assert poet.role == role
    assert poet.settings["env"] == {"KEY": role}
