"""Votes over HTTP with an agent's own token, on the command line, and from a Python program that waits for the end (Q4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from covey import Fleet
from covey.agents.model import as_agent
from covey.store import Store
from covey.teams.votes import casting, opening, reading
from covey.teams.votes.model import VoteDraft
from tests.api.world import World, bearer, problem_of, world_of
from tests.cli.conftest import Covey, covey, folder
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule
from tests.teams.ballot_box import COLOURS, THREE

__all__ = ["covey", "folder"]

DRAFT: dict[str, Any] = {"topic": "Which colour?", "voters": ["coder", "sales"], "options": COLOURS}


@pytest.fixture
async def world(fleet: Store, clock: ManualClock) -> AsyncIterator[World]:
    """The default eight with tokens and ports."""
    async with world_of(fleet, clock) as found:
        yield found


async def post(world: World, path: str, body: dict[str, Any], who: str, **headers: str) -> httpx.Response:
    return await world.fleet.post(f"/api/v1/votes{path}", json=body, headers=bearer(who) | headers)


async def get(world: World, path: str, who: str) -> httpx.Response:
    return await world.fleet.get(f"/api/v1/votes{path}", headers=bearer(who))


# HTTP


@rule("Q4")
async def test_a_vote_goes_from_its_opening_to_its_result_over_http(world: World) -> None:
    opened = await post(world, "", DRAFT | {"expertise": {"coder": 2}}, "chief")
    assert opened.status_code == 201
    ident = opened.json()["voteId"]
    assert opened.json()["opener"] == "chief"
    first = await post(world, f"/{ident}/cast", {"selection": "red", "confidence": 0.5, "argument": "loud"}, "coder")
    assert first.json()["mine"]["selection"] == "red"
    seen = (await get(world, f"/{ident}", "sales")).json()
    assert (seen["ballots"], seen["mine"], seen["result"]) == (None, None, None)
    assert [each["voted"] for each in seen["voters"]] == [True, False]
    waiting = asyncio.create_task(get(world, f"/{ident}/wait?wait=20", "chief"))
    last = await post(world, f"/{ident}/cast", {"selection": "blue", "confidence": 0.5}, "sales")
    assert last.json()["result"]["winner"] == "red"
    assert (await asyncio.wait_for(waiting, 20)).json()["result"]["strength"] == pytest.approx(1 / 3)
    listed = (await get(world, "?state=closed", "devops")).json()
    assert [each["voteId"] for each in listed["items"]] == [ident]


@rule("Q4")
async def test_over_http_a_voter_votes_for_itself_alone_and_a_ballot_of_the_wrong_form_changes_nothing(world: World) -> None:
    ident = (await post(world, "", DRAFT, "operator")).json()["voteId"]
    for who, body, status, code in (
        ("operator", {"selection": "red"}, 403, "forbidden"),
        ("devops", {"selection": "red"}, 403, "forbidden"),
        ("coder", {"selection": "pink"}, 400, "invalid"),
        ("coder", {"selection": "red", "confidence": 2}, 400, "invalid"),
        ("coder", {"confidence": 1}, 400, "invalid"),
        ("coder", {"selection": "red", "voter": "sales"}, 400, "invalid"),
        ("coder", {"selection": "red", "argument": "x" * 2001}, 400, "invalid"),
    ):
        refused = await post(world, f"/{ident}/cast", body, who)
        assert (refused.status_code, problem_of(refused)["code"]) == (status, code), body
    assert problem_of(await post(world, f"/{ident}/cast", {"selection": "red"}, "devops"))["nearest"] == ["coder", "sales"]
    raw = await world.fleet.post(f"/api/v1/votes/{ident}/cast", content=b'{"selection": "red", "confidence": NaN}', headers=bearer("coder") | {"content-type": "application/json"})  # fmt: skip
    assert raw.status_code == 400
    assert not any(each["voted"] for each in (await get(world, f"/{ident}", "coder")).json()["voters"])
    assert (await post(world, f"/{ident}/close", {}, "coder")).status_code == 403
    assert (await post(world, f"/{ident}/close", {}, "operator")).json()["result"]["status"] == "no_votes"
    assert (await post(world, f"/{ident}/cast", {"selection": "red"}, "coder")).status_code == 409
    assert (await get(world, "/nothing", "coder")).status_code == 404


@rule("Q4")
async def test_arguments_and_rounds_over_http(world: World) -> None:
    ident = (await post(world, "", DRAFT, "chief")).json()["voteId"]
    assert (await post(world, f"/{ident}/argue", {"argument": "it is loud"}, "coder")).status_code == 200
    assert (await get(world, f"/{ident}", "sales")).json()["arguments"] == []
    assert (await post(world, f"/{ident}/next-round", {}, "sales")).status_code == 403
    assert (await post(world, f"/{ident}/next-round", {}, "chief")).json()["round"] == 2
    assert (await get(world, f"/{ident}", "sales")).json()["arguments"][0]["argument"] == "it is loud"


@rule("Q4")
async def test_a_vote_opened_twice_under_one_id_or_key_is_one(world: World) -> None:
    assert (await post(world, "", DRAFT | {"voteId": "mine"}, "chief")).status_code == 201
    again = await post(world, "", DRAFT | {"voteId": "mine"}, "chief")
    assert (again.status_code, again.json()["known"]) == (200, True)
    assert problem_of(await post(world, "", DRAFT | {"voteId": "mine"}, "coder"))["code"] == "id_taken"
    keyed = [(await post(world, "", DRAFT, "chief", **{"Idempotency-Key": "k1"})).json()["voteId"] for _ in range(2)]
    assert keyed[0] == keyed[1]
    assert len((await get(world, "", "chief")).json()["items"]) == 2


# the command line


@rule("Q4")
def test_a_vote_from_the_command_line(covey: Covey) -> None:
    opened = covey(
        "vote", "open", "Which one?", "--voters", "coder,sales", "--option", "a, b", "--option", "c", "--id", "v", "--debate", "1"
    )
    assert opened.code == 0, opened.err
    assert "is awaited: coder, sales" in opened.out
    cast = covey("vote", "cast", "v", "a, b", "--from", "coder", "--confidence", "0.9", "--argument", "since")
    assert "has voted: coder" in cast.out
    assert covey("vote", "cast", "v", "--abstain", "--from", "sales").code == 0
    assert "coder argued in round 1: since" in covey("vote", "show", "v").out
    assert covey("vote", "argue", "v", "but", "--from", "sales").code == 0
    assert covey("vote", "next", "v").code == 0
    assert "v" in covey("vote", "list", "--state", "open").out
    assert covey("vote", "cast", "v", "c", "--from", "coder", "--confidence", "0.9").code == 0
    closed = covey("vote", "close", "v")
    assert "result: c, strength 0.90" in closed.out
    assert covey("vote", "show", "v", "--json").json["result"]["winner"] == "c"
    assert covey("vote", "wait", "v").code == 0
    listed = covey("vote", "list").out
    assert "closed" in listed
    assert "Which one?" in listed


@rule("Q4")
def test_wrong_words_about_votes_end_with_the_code_of_what_is_wrong(covey: Covey) -> None:
    assert covey("vote", "show", "nothing").code == 4
    assert covey("vote", "cast", "v", "--from", "coder").code == 2
    assert covey("vote", "open", "x", "--voters", "coder,coder", "--option", "a").code == 2
    unknown = covey("vote", "open", "x", "--voters", "codr", "--option", "a", "--json")
    assert (unknown.code, unknown.json["nearest"][0]) == (4, "coder")
    covey("vote", "open", "x", "--voters", "coder", "--option", "a", "--id", "v")
    assert covey("vote", "cast", "v", "a").code == 3
    assert covey("vote", "close", "v").code == 0
    assert covey("vote", "wait", "v").code == 1, "nothing was decided"


# a program


@rule("Q4")
async def test_a_program_waits_for_the_result_and_hears_each_event(fleet: Store, clock: ManualClock) -> None:
    held = Fleet(fleet, EIGHT, clock)
    told: list[dict[str, Any]] = []
    opened = asyncio.Event()

    async def hear(event: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        told.append(event)
        opened.set()

    vote = asyncio.create_task(held.vote("Which colour?", THREE, COLOURS, vote_id="v", deadline_s=30 * 86400, by="chief", on_progress=hear))
    await asyncio.wait_for(opened.wait(), 20)
    other = VoteDraft(topic="Another", voters=THREE, options=COLOURS, vote_id="w")
    await fleet.write(opening.open_vote, other, as_agent("chief"))
    for name in THREE:
        await fleet.write(casting.cast, "w", as_agent(name), "blue")
        await fleet.write(casting.cast, "v", as_agent(name), "red", 0.9)
    result = await asyncio.wait_for(vote, 20)
    assert (result.status, result.winner) == ("complete", "red")
    assert result.strength == pytest.approx(0.9)
    assert [each["kind"] for each in told] == ["vote.opened", "vote.cast", "vote.cast", "vote.cast", "vote.closed"]
    assert "selection" not in str(told)


@rule("Q4")
async def test_a_vote_that_a_program_holds_ends_though_nobody_sweeps(fleet: Store, clock: ManualClock) -> None:
    result = await asyncio.wait_for(Fleet(fleet, EIGHT, clock).vote("Which colour?", THREE, COLOURS, deadline_s=1.0), 20)
    assert (result.status, result.silent) == ("no_votes", THREE)


@rule("Q4")
async def test_a_program_that_was_killed_takes_its_vote_up_again(fleet: Store, clock: ManualClock) -> None:
    held = Fleet(fleet, EIGHT, clock)
    first = asyncio.create_task(held.vote("Which colour?", ["coder"], COLOURS, vote_id="v", deadline_s=30 * 86400))

    async def is_open() -> bool:
        return bool((await fleet.read(reading.listed, as_agent("chief"))).items)

    async with asyncio.timeout(20):
        while not await is_open():  # noqa: ASYNC110 - the store is what is waited for
            await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await fleet.write(casting.cast, "v", as_agent("coder"), "blue")
    again = await asyncio.wait_for(held.vote("Which colour?", ["coder"], COLOURS, vote_id="v", deadline_s=30 * 86400), 20)
    assert again.winner == "blue"
    assert len((await fleet.read(reading.listed, as_agent("chief"))).items) == 1
