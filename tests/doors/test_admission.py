"""Who calls: tokens known by their hashes alone, and for a moment only (DESIGN, Security)."""

from __future__ import annotations

import logging

import msgspec
import pytest

from covey.agents import configuring, tokens
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Unauthorized
from covey.doors.admission import REMEMBERED, REMEMBERED_S, Admission
from covey.store import Store, events
from tests.api.world import World, bearer, give_tokens, token_of
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule


def raw(token: str) -> bytes:
    return f"Bearer {token}".encode()


@rule("M11")
async def test_a_token_says_who_its_holder_is(fleet: Store, clock: ManualClock) -> None:
    await give_tokens(fleet)
    admission = Admission(fleet, clock)
    assert await admission.caller(raw(token_of("operator"))) == THE_OPERATOR
    assert await admission.caller(raw(token_of("coder"))) == as_agent("coder")
    assert await admission.caller(b"bearer " + token_of("coder").encode()) == as_agent("coder")
    assert await admission.caller(None) is None


@pytest.mark.parametrize(
    "header",
    [b"", b"Bearer", b"Bearer ", b"Basic b3BlcmF0b3I6", b"token-of-operator-0123456789", b"Bearer nobodys-token", b"Bearer \xff\xfe"],
)
async def test_anything_else_is_nobody(fleet: Store, clock: ManualClock, header: bytes) -> None:
    await give_tokens(fleet)
    with pytest.raises(Unauthorized):
        await Admission(fleet, clock).caller(header)


async def test_a_rotated_token_opens_nothing_within_two_seconds(fleet: Store, clock: ManualClock) -> None:
    await give_tokens(fleet)
    admission = Admission(fleet, clock)
    await admission.caller(raw(token_of("coder")))
    with pytest.raises(Unauthorized):
        await admission.caller(raw("coders-next-token-0123"))
    await fleet.write(tokens.put, "coder", tokens.hash_of("coders-next-token-0123"))
    assert await admission.caller(raw(token_of("coder"))) == as_agent("coder")
    clock.at += REMEMBERED_S
    with pytest.raises(Unauthorized):
        await admission.caller(raw(token_of("coder")))
    assert await admission.caller(raw("coders-next-token-0123")) == as_agent("coder")


async def test_the_token_of_an_agent_that_is_gone_opens_nothing(fleet: Store, clock: ManualClock) -> None:
    await give_tokens(fleet)
    admission = Admission(fleet, clock)
    await fleet.write(
        configuring.configure, msgspec.structs.replace(EIGHT, agents=tuple(each for each in EIGHT.agents if each.id != "coder"))
    )
    with pytest.raises(Unauthorized):
        await admission.caller(raw(token_of("coder")))
    assert await admission.caller(raw(token_of("sales"))) == as_agent("sales")


async def test_wrong_tokens_fill_no_memory(fleet: Store, clock: ManualClock) -> None:
    admission = Admission(fleet, clock)
    for n in range(REMEMBERED + 10):
        admission._known[f"{n}"] = (0.0, None)
    with pytest.raises(Unauthorized):
        await admission.caller(raw("wrong-token-0123456789"))
    assert len(admission._known) == 1


async def test_the_store_holds_hashes_and_tells_of_changes_without_them(fleet: Store) -> None:
    await give_tokens(fleet)
    await give_tokens(fleet)
    found = [event for event in await fleet.read(events.of_agent, "coder") if event.kind == "token.changed"]
    assert len(found) == 1
    assert token_of("coder") not in str(found)
    assert tokens.hash_of(token_of("coder")) not in str(found)
    assert await fleet.read(tokens.any_there)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_no_token_is_ever_logged(world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.DEBUG)

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something of ours")

    await world.fleet.get("/api/v1/agents", headers=bearer("coder"))
    await world.fleet.get("/api/v1/agents", headers=bearer("wrong"))
    monkeypatch.setattr(world.store, "read", broken)
    answer = await world.fleet.get("/api/v1/agents", headers=bearer("sales"))
    assert (answer.status_code, answer.json()["code"]) == (500, "failed")
    assert "something of ours" not in answer.text
    assert answer.json()["reference"] in caplog.text
    assert "something of ours" in caplog.text
    for name in ("coder", "wrong", "sales"):
        assert bearer(name)["Authorization"].removeprefix("Bearer ") not in caplog.text
