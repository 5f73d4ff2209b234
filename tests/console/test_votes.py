"""Votes: the list, one vote with what is secret and what is not, and what a person does about votes."""

from __future__ import annotations

from typing import Any

import pytest

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Invalid
from covey.console.pages.vote import bars_of
from covey.console.pages.vote_acts import lines_in, names_in, weights_in
from covey.store import Store
from covey.teams.votes import casting, closing, opening, reading
from covey.teams.votes.model import VoteDraft
from tests.console.person import HTMX, Page, Person, notice_of
from tests.rules import rule

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
HOSTILE = "<script>alert(1)</script>\u202e"


async def opened(store: Store, ident: str, **words: Any) -> None:
    words = {"topic": f"About {ident}?", "voters": ["coder", "sales", "intel"], "options": ["red", "green"]} | words
    await store.write(opening.open_vote, VoteDraft(vote_id=ident, **words), THE_OPERATOR)


async def cast(store: Store, ident: str, voter: str, selection: str | None, confidence: float = 1.0, argument: str = "") -> None:
    await store.write(casting.cast, ident, as_agent(voter), selection, confidence, argument)


async def close(store: Store, ident: str) -> None:
    await store.write(closing.close, ident, THE_OPERATOR)


def ids_in(page: Page) -> list[str]:
    return [found["href"].removeprefix("/votes/") for found in page.all("a") if "data-open" in found]


async def test_votes_are_listed_newest_first_and_by_state(person: Person) -> None:
    for ident in ("one", "two"):
        await opened(person.store, ident)
    await cast(person.store, "one", "coder", "green")
    await close(person.store, "one")
    page = await person.look("/votes")
    assert ids_in(page) == ["two", "one"]
    assert "0 of 3" in page.text
    assert ids_in(await person.part("/votes/~rows?state=open")) == ["two"]
    closed = await person.part("/votes/~rows?state=closed")
    assert ids_in(closed) == ["one"]
    assert "green" in closed.text


async def test_without_votes_the_page_says_how_one_is_opened(person: Person) -> None:
    assert "No vote yet. Open a vote" in (await person.look("/votes")).text


@rule("Q4")
async def test_until_it_is_closed_the_page_shows_who_has_voted_and_not_what(person: Person) -> None:
    await opened(person.store, "one", options=["crimson", "olive"], deadline_s=600.0, quorum=2)
    await cast(person.store, "one", "coder", "olive", 0.4, "because of the leaves")
    page = await person.look("/votes/one")
    assert ("because of the leaves" in page.text, "40 %" in page.text) == (False, False)
    assert page.text.count("olive") == 1  # as an option
    assert "secret until it is closed" in page.text
    voters = await person.part("/votes/one/voters")
    assert [found["data-state"] for found in voters.all("span") if "data-state" in found] == ["voted", "awaited", "awaited"]
    for part in ("now", "result", "voters", "rounds", "story"):
        assert "leaves" not in (await person.part(f"/votes/one/{part}")).source


@rule("Q4")
async def test_a_closed_vote_shows_its_ballots_its_weights_and_its_strength_as_bars(person: Person) -> None:
    await opened(person.store, "one", options=["red", "green", "blue"], expertise={"coder": 3.0})
    await cast(person.store, "one", "coder", "green", 0.5)
    await cast(person.store, "one", "sales", "red", 1.0)
    await cast(person.store, "one", "intel", None)
    result = await person.part("/votes/one/result")
    widths = [found["width"] for found in result.all("rect", class_="part")]
    assert widths == ["37.5", "25.0", "0.0", "37.5"]  # 1.5, 1 and 0 of 4, then the strength
    assert "green 1.50 won" in result.text
    assert "Abstainedintel" in result.text
    ballots = (await person.part("/votes/one/rounds")).text
    assert "coder chose green 50 % sure" in ballots
    assert "intel abstained" in ballots


@rule("Q4")
async def test_rounds_show_their_arguments_and_who_changed_without_a_new_one(person: Person) -> None:
    await opened(person.store, "one", debate=1)
    for voter in ("coder", "sales", "intel"):
        await cast(person.store, "one", voter, "red" if voter == "coder" else "green", 1.0, "it is warm" if voter == "coder" else "")
    shown = await person.part("/votes/one/rounds")
    assert "it is warm" in shown.text
    await cast(person.store, "one", "coder", "green")
    await person.store.write(closing.next_round, "one", THE_OPERATOR)
    await cast(person.store, "one", "sales", "red")
    await close(person.store, "one")
    page = await person.look("/votes/one")
    assert "In round 3 sales changed without a new argument." in page.text
    assert page.source.index("Round 3") < page.source.index("Round 2") < page.source.index("Round 1")
    rounds = await person.part("/votes/one/rounds")
    assert rounds.text.count("changed without a new argument") == 1


async def test_a_vote_without_a_winner_says_why(person: Person) -> None:
    await opened(person.store, "tie")
    await cast(person.store, "tie", "coder", "red")
    await cast(person.store, "tie", "sales", "green")
    assert await person.answer("/votes/tie/close") == "Closed without a winner: it is a tie."
    await opened(person.store, "few", quorum=2)
    await cast(person.store, "few", "coder", "red")
    assert await person.answer("/votes/few/close") == "Closed without a winner: too few have chosen."
    await opened(person.store, "none")
    assert await person.answer("/votes/none/close") == "Closed without a winner: nobody has chosen."
    assert "Did not vote" not in (await person.part("/votes/none/result")).text
    assert "silent: coder sales intel" in (await person.part("/votes/none/result")).text


async def test_a_vote_is_opened_as_the_operators(person: Person) -> None:
    said = await person.answer(
        "/votes/~new", topic="Which?", options="red\n green \n\n", voters="coder, sales", minutes="5", quorum="1", expertise="coder=2"
    )
    (vote,) = (await person.store.read(reading.listed, THE_OPERATOR)).items
    assert said == f"The vote is open, and 2 agents asked. Its id is {vote.vote_id}."
    assert (vote.opener, vote.options, vote.quorum, vote.tie) == ("operator", ["red", "green"], 1, "none")
    assert [(each.agent, each.expertise) for each in vote.voters] == [("coder", 2.0), ("sales", 1.0)]
    assert vote.deadline - vote.opened_at == pytest.approx(300.0)


@ONLY_SQLITE
async def test_a_question_that_needs_words_begins_at_its_first_field_any_other_at_leaving_it(person: Person) -> None:
    await opened(person.store, "one")
    form, question = await person.part("/votes/~new"), await person.part("/votes/one/close")
    assert [found["name"] for _, found in form.tags if "autofocus" in found] == ["topic"]
    assert ["data-close" in found for _, found in question.tags if "autofocus" in found] == [True]


@ONLY_SQLITE
@pytest.mark.parametrize(
    "form",
    [
        {"topic": " "},
        {"voters": "nobody"},
        {"voters": ""},
        {"options": ""},
        {"options": "red\nred"},
        {"minutes": "nan"},
        {"minutes": "-1"},
        {"minutes": "soon"},
        {"quorum": "9"},
        {"debate": "6"},
        {"tie": "mine"},
        {"expertise": "coder"},
        {"expertise": "coder=inf"},
        {"topic": "\x00"},
        {"more": "x"},
    ],
    ids=str,
)
async def test_a_vote_that_can_not_be_is_refused_and_not_stored(person: Person, form: dict[str, str]) -> None:
    good = {"topic": "Which?", "options": "red\ngreen", "voters": "coder,sales"}
    answer = await person.send("/votes", None, **good | form)
    assert answer.status_code in (400, 404, 413, 422)
    assert notice_of(answer)
    assert (await person.store.read(reading.listed, THE_OPERATOR)).items == []


@rule("Q4")
async def test_the_operator_decides_a_tie_only_where_it_is_asked_to(person: Person) -> None:
    await opened(person.store, "one", tie="decider", voters=["coder", "sales"])
    await cast(person.store, "one", "coder", "red")
    await cast(person.store, "one", "sales", "green")
    assert (await person.store.read(reading.show, "one", THE_OPERATOR)).decider == "chief"
    assert "Not yours to decide" in (await person.part("/votes/one/decide")).text
    assert "/votes/one/decide" not in (await person.part("/votes/one/now")).source
    answer = await person.send("/votes/one/decide", choice="1. red")
    assert (answer.status_code, "chief decides" in notice_of(answer)) == (403, True)


@rule("Q4")
async def test_a_tie_that_waits_for_the_operator_is_decided_by_its_choice(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.agents.roster.lead", lambda _tx: ("gone", None))  # nobody plays the lead
    for ident in ("one", "two"):
        await opened(person.store, ident, tie="decider", voters=["coder", "sales"], options=["red", HOSTILE[:-1]])
        await cast(person.store, ident, "coder", "red")
        await cast(person.store, ident, "sales", HOSTILE[:-1])
    page = await person.look("/votes/one")
    assert "you decide it" in page.text
    assert [found["hx-get"] for found in page.all("button") if "hx-get" in found] == ["/votes/one/decide", "/votes/one/close"]
    dialog = await person.part("/votes/one/decide")
    assert [found["value"] for found in dialog.all("option")] == [f"1. {HOSTILE[:-1]}", "2. red", "0. None of them: it stays a tie"]
    assert await person.answer("/votes/one/decide", choice=f"1. {HOSTILE[:-1]}") == (
        f"Closed: “{HOSTILE[:-1]}” won, with a strength of 0.50."
    )
    assert "decided by operator" in (await person.part("/votes/one/result")).text
    assert await person.answer("/votes/two/decide", choice="0.") == "Closed without a winner: it is a tie."
    for choice in ("", "3. blue", "-1", "x"):
        assert (await person.send("/votes/one/decide", choice=choice)).status_code == 400


async def test_a_round_is_ended_and_what_can_not_be_is_said(person: Person) -> None:
    await opened(person.store, "one")
    assert await person.answer("/votes/one/next") == "Round 2 of 2 has begun."
    await close(person.store, "one")
    assert "There is no next round" in (await person.part("/votes/one/next")).text
    assert (await person.send("/votes/one/next")).status_code == 409
    assert "It is closed" in (await person.part("/votes/one/close")).text
    assert "nothing was changed" in notice_of(await person.send("/votes/one/close"))
    assert (await person.part("/votes/one/now")).all("button") == []


async def test_hostile_words_are_inert_on_a_votes_pages(person: Person) -> None:
    words = f'{HOSTILE}"><img src=x onerror=alert(1)>'
    await opened(person.store, "one", topic=words * 50, options=[words, "green"], voters=["coder"], debate=1)
    await cast(person.store, "one", "coder", words, 1.0, words)
    await close(person.store, "one")
    for page in (await person.look("/votes/one"), await person.look("/votes")):
        assert page.all("img") == []
        assert "\u202e" not in page.source
        assert all("src" in found for found in page.all("script"))


@ONLY_SQLITE
@pytest.mark.parametrize(
    "path", ["/votes/none", "/votes/none/now", "/votes/none/close", "/votes/%00", "/votes/~rows?state=odd", "/votes/~rows?cursor=x"]
)
async def test_no_vote_has_no_page(person: Person, path: str) -> None:
    assert (await person.http.get(path, headers=HTMX)).status_code in (400, 404)


def test_texts_of_the_form_are_read_with_commas_spaces_and_lines() -> None:
    assert names_in(" coder,sales  intel,") == ["coder", "sales", "intel"]
    assert lines_in(" a \n\n b") == ["a", "b"]
    assert weights_in("coder=2, sales=0.5") == {"coder": 2.0, "sales": 0.5}
    with pytest.raises(Invalid, match="agent=number"):
        weights_in("coder:2")


async def test_without_a_result_there_are_no_bars(person: Person) -> None:
    await opened(person.store, "one")
    assert bars_of(await person.store.read(reading.show, "one", THE_OPERATOR)) == []
