"""Links over HTTP and on the command line: tags, cursors, owners' tokens, every outcome with its status (L13, L15)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from covey.agents import tokens
from covey.api.link_shapes import NewLink
from covey.app import opening
from covey.base import token_file
from covey.base.settings import Settings
from covey.cli import main
from covey.links.model import LinkChange
from covey.store import Store
from tests.api.world import World, bearer, problem_of, token_of, world_of
from tests.conftest import Database, ManualClock, opened
from tests.links.conftest import LIMITED
from tests.rules import rule

OWNERS = {"chief": "ann", "coder": "ann", "sales": "bob", "ops": "bob"}
SETTINGS: Settings = msgspec.structs.replace(
    LIMITED,
    agents=tuple(msgspec.structs.replace(agent, owner=OWNERS.get(agent.id, "ann"), organisation="acme") for agent in LIMITED.agents),
)


@pytest.fixture
async def store(database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(database, tmp_path, clock) as found:
        await found.write(opening.apply, SETTINGS)
        yield found


@pytest.fixture
async def world(store: Store, clock: ManualClock) -> AsyncIterator[World]:
    async with world_of(store, clock, SETTINGS) as found:
        await store.write(tokens.put_all, {name: tokens.hash_of(token_of(name)) for name in ("owner:ann", "owner:bob", "ops")})
        yield found


async def post(world: World, path: str, body: Any = None, who: str = "operator", **headers: str) -> tuple[int, dict[str, Any]]:
    answer = await world.fleet.post(f"/api/v1/{path}", json=body or {}, headers=bearer(who) | headers)
    return answer.status_code, problem_of(answer) if answer.status_code >= 400 else answer.json()


def message(to: str, body: str, **content: Any) -> dict[str, Any]:
    return {"to": to, "content": {"body": body, **content}}


@rule("L2", "L15")
async def test_an_edit_with_an_old_tag_is_refused(world: World) -> None:
    path = "/api/v1/links/link:chief:coder"
    found = await world.fleet.get(path, headers=bearer("owner:ann"))
    assert (found.status_code, found.headers["etag"], found.json()["implied"]) == (200, '"0"', True)
    status, changed = await post(world, "links/link:chief:coder", {"messagesPerWindow": 3}, "owner:ann", **{"If-Match": '"0"'})
    assert (status, changed["messagesPerWindow"], changed["version"]) == (200, 3, 1)
    for tag, code in (('"0"', "changed_meanwhile"), ('W/"1"', "changed_meanwhile"), ("1", "invalid")):
        status, told = await post(world, "links/link:chief:coder", {"messagesPerWindow": 4}, "owner:ann", **{"If-Match": tag})
        assert (status, told["code"]) == (412 if code == "changed_meanwhile" else 400, code)
    status, changed = await post(world, "links/link:chief:coder/disable", None, "operator", **{"If-Match": '"1"'})
    assert (status, changed["status"], changed["version"]) == (200, "disabled", 2)


@rule("L15")
async def test_an_owner_s_token_opens_its_own_links_and_nothing_else(world: World) -> None:
    assert (await post(world, "links", {"agents": ["coder", "chief"]}, "owner:ann"))[0] == 201
    assert (await post(world, "links", {"agents": ["ops", "sales"]}, "owner:bob"))[0] == 201
    assert (await post(world, "links", {"agents": ["ops", "coder"]}, "owner:bob"))[0] == 403
    listed = (await world.fleet.get("/api/v1/links", headers=bearer("owner:ann"))).json()
    assert [item["id"] for item in listed["items"]] == ["link:chief:coder"]
    for path in ("agents", "links/link:ops:sales", "threads", "events", "config", "peer-states"):
        assert (await world.fleet.get(f"/api/v1/{path}", headers=bearer("owner:ann"))).status_code == 403, path
    assert (await post(world, "messages", message("coder", "x"), "owner:ann"))[0] == 403
    assert (await post(world, "links/link:chief:coder", {"messagesPerWindow": 500}, "chief"))[0] == 403


@rule("L13")
async def test_every_outcome_has_its_status_and_code(world: World, clock: ManualClock) -> None:
    async def told(who: str, body: dict[str, Any]) -> tuple[int, str]:
        status, answer = await post(world, "messages", body, who)
        assert answer.get("detail") or answer["sentence"]
        return status, answer.get("code") or answer["status"]

    await post(world, "links", {"agents": ["chief", "coder"], "messagesPerWindow": 1})
    assert await told("chief", message("coder", "one")) == (201, "delivered")
    assert await told("chief", message("coder", "one")) == (409, "duplicate")
    status, refused = await post(world, "messages", message("coder", "two"), "chief")
    assert (status, refused["code"], refused["retryAt"] - clock.wall()) == (429, "debounced", pytest.approx(5.0, abs=1e-3))
    assert await told("coder", message("chief", "noted")) == (200, "suppressed")
    clock.at += 5
    assert await told("chief", message("coder", "two")) == (202, "deferred")
    clock.at += 5
    status, refused = await post(world, "messages", message("coder", "three"), "chief")
    outcome = refused["receipt"]["outcomes"]["coder"]
    assert (status, refused["code"], outcome["retryable"], outcome["remainingCredits"]) == (429, "exhausted", True, 0)
    assert outcome["retryAt"] == refused["retryAt"]
    await post(world, "agents/devops/pause")
    assert await told("chief", message("devops", "one")) == (202, "held")
    await post(world, "links/link:chief:finance/disable")
    assert await told("chief", message("finance", "one")) == (403, "disabled")
    await post(world, "links/link:chief:comms/remove")
    assert await told("chief", message("comms", "one")) == (403, "unlinked")
    assert await told("chief", message("nobody", "one")) == (404, "unknown")
    assert await told("chief", message("chief", "one")) == (400, "invalid")
    assert await told("chief", message("coder", "one", data={"x": "y" * 65_536})) == (413, "too-large")
    assert await told("chief", message("coder", "one") | {"visited": ["ops"]}) == (400, "invalid")
    await post(world, "messages", message("chief", "well?", requiresResponse=True), "coder")
    assert await told("chief", message("coder", "well?", requiresResponse=True)) == (409, "cycle")


@rule("L6", "L15")
async def test_deferred_mail_is_listed_for_who_may_see_it_and_taken_back(world: World, clock: ManualClock) -> None:
    await post(world, "links", {"agents": ["chief", "coder"], "messagesPerWindow": 1, "debounceS": 0})
    idents = [(await post(world, "messages", message("coder", text), "chief"))[1]["messageId"] for text in ("a", "b")]

    async def seen(who: str) -> list[str]:
        return [item["messageId"] for item in (await world.fleet.get("/api/v1/deferred", headers=bearer(who))).json()["items"]]

    assert [await seen(who) for who in ("operator", "chief", "owner:ann", "coder", "owner:bob")] == [idents[1:]] * 3 + [[], []]
    assert (await post(world, f"deferred/{idents[1]}/cancel", None, "owner:bob"))[0] == 403
    assert (await post(world, f"deferred/{idents[1]}/release", None, "chief"))[0] == 403
    assert await post(world, f"deferred/{idents[1]}/cancel", None, "owner:ann") == (200, {"id": idents[1], "copies": 1})
    assert (await post(world, f"deferred/{idents[1]}/cancel", None, "chief"))[0] == 404


@rule("L10")
async def test_a_paused_thread_is_listed_and_resumed_by_the_operator(world: World, clock: ManualClock) -> None:
    statuses = []
    for number in range(11):
        sender, receiver = ("chief", "coder") if number % 2 == 0 else ("coder", "chief")
        statuses.append((await post(world, "messages", message(receiver, f"point {number}"), sender))[0])
        clock.at += 5
    assert statuses == [201] * 10 + [409]
    (paused,) = (await world.fleet.get("/api/v1/paused-threads", headers=bearer("operator"))).json()["items"]
    assert (paused["threadId"], "took 10 turns" in paused["reason"]) == ("dm:chief:coder", True)
    assert (await post(world, "threads/dm:chief:coder/resume", None, "coder"))[0] == 403
    assert (await post(world, "threads/dm:chief:coder/resume"))[0] == 200
    assert (await post(world, "messages", message("coder", "on with it"), "chief"))[0] == 201


@rule("M10")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"agents": ["chief", "coder"], "messagesPerWindow": "3"}, "messagesPerWindow"),
        ({"agents": ["chief", "coder"], "messagesPerWindow": 501}, "messagesPerWindow"),
        ({"agents": ["chief", "coder"], "windowHours": 169}, "windowHours"),
        ({"agents": ["chief"]}, "agents"),
        ({"agents": ["chief", "chief"]}, "agents"),
        ({"agents": ["chief", "coder"], "speed": 3}, "speed"),
        ({}, "agents"),
    ],
)
async def test_a_wrong_field_is_named(world: World, body: dict[str, Any], field: str) -> None:
    status, told = await post(world, "links", body)
    assert (status, told["field"]) == (400, field)


def test_a_new_link_s_limits_are_all_those_of_a_change() -> None:
    made = NewLink(agents=["a", "b"], messages_per_window=3)
    assert made.limits_of_it == LinkChange(messages_per_window=3)


@rule("L15")
def test_owners_tokens_stand_in_the_file_under_any_name(tmp_path: Path) -> None:
    names = ["owner:ann", 'owner:"A. B." & sons', "owner:a\tb\x7f", "owner:名", "coder"]
    made = token_file.ensure(tmp_path, names)
    assert token_file.read(tmp_path) == made
    assert list(made) == names


class Shell:
    """`covey` in a folder of its own, on a fleet that is down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, code: int = 0) -> str:
        found = CliRunner().invoke(main_command(), ["--dir", str(self.folder), *words])
        assert found.exit_code == code, found.output
        return found.output

    def json(self, *words: str) -> Any:
        return msgspec.json.decode(self(*words, "--json"))


def main_command() -> Any:
    from covey.cli import cli

    assert main is not None
    return cli


@rule("L2", "L6", "L10")
def test_links_on_the_command_line(tmp_path: Path) -> None:
    covey = Shell(tmp_path)
    assert "no link has been used" in covey("link", "list")
    assert len(covey.json("link", "list", "--agent", "coder")["items"]) == 7
    covey("link", "set", "chief", "coder", "--messages", "1", "--hours", "2", "--debounce", "0", "--endpoint", "coder", "mcp")
    assert "1 messages / 2 hours, 0 s apart" in covey("link", "show", "coder", "chief")
    assert "chief may send 1 more; woken by http\n  coder may send 1 more; woken by mcp" in covey("link", "show", "chief", "coder")
    shown = covey("link", "set", "chief", "ops", "--limits", "off", "--flag", "beta", "--endpoint", "ops", "a2a")
    assert "ops may send as much as it likes; woken by a2a\n  behind the feature flag beta" in shown
    covey("send", "coder", "one", "--from", "chief")
    assert "deferred" in covey("send", "coder", "two", "--from", "chief", "--id", "m2")
    assert "m2" in covey("deferred", "list")
    assert "taken back" in covey("deferred", "cancel", "m2", "--from", "chief")
    covey("send", "coder", "three", "--from", "chief", "--id", "m3")
    assert "delivered" in covey("deferred", "release", "m3")
    assert "disabled" in covey("link", "disable", "chief", "coder")
    covey("send", "coder", "four", "--from", "chief", code=3)
    covey("link", "enable", "chief", "coder")
    covey("link", "remove", "chief", "coder")
    assert "30 messages / 6 hours" not in covey("link", "add", "chief", "coder")
    covey("link", "set", "chief", "coder", "--messages", "0", code=2)
    covey("link", "add", "chief", "chief", code=2)
    covey("link", "add", "chief", "nobody", code=4)
    assert "no thread is paused" in covey("threads", "paused")
    covey("threads", "resume", "t", code=4)
