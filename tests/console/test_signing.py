"""Signing in and out, and what a page of elsewhere can do with a browser that is signed in: nothing."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest

from covey.agents import roster, sign_ins, tokens
from covey.console.console import is_own_path
from covey.console.visits import REMEMBERED_S
from covey.store import Store
from tests.api.world import token_of
from tests.conftest import EIGHT, ManualClock
from tests.console.person import BROWSER, HTMX, URL, Page, Person, notice_of, person_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
PAGES = ["/", "/~rows", "/~rows.csv", "/~rows.json", "/needs", "/live", "/agents/coder", "/agents/coder/stop"]


async def test_the_operators_token_opens_the_console_and_leads_on(stranger: Person) -> None:
    answer = await stranger.sign_in(next="/agents/coder")
    assert (answer.status_code, answer.headers["location"]) == (303, "/agents/coder")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("covey_console_8000=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "coder" in (await stranger.look("/")).text


@pytest.mark.parametrize("token", ["", "wrong", token_of("coder"), token_of("owner:ann"), "x" * 100_000, "ü", "a\r\nb"])
async def test_no_other_token_opens_it(stranger: Person, token: str) -> None:
    answer = await stranger.sign_in(token)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "operator's token" in answer.text or "longer than any token" in answer.text


@ONLY_SQLITE
@pytest.mark.parametrize("path", PAGES)
async def test_nothing_is_shown_to_who_is_not_signed_in(stranger: Person, path: str) -> None:
    page = await stranger.http.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["location"].partition("?")[0]) == (303, "/sign-in")
    part = await stranger.http.get(path, headers=HTMX | {"HX-Current-URL": f"{URL}/agents/coder?x=1"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/sign-in?next=%2Fagents%2Fcoder%3Fx%3D1")
    assert part.text == ""
    plain = await stranger.http.get(path, headers={"Accept": "text/event-stream"})
    assert (plain.status_code, plain.json()["code"]) == (401, "unauthorized")


@ONLY_SQLITE
async def test_a_bearer_token_opens_no_page_and_a_cookie_no_api(person: Person) -> None:
    bearer = {"Authorization": f"Bearer {token_of('operator')}"}
    assert (await person.http.get("/api/v1/agents", headers=BROWSER)).status_code == 401
    person.http.cookies.clear()
    assert (await person.http.get("/", headers=BROWSER | bearer)).status_code == 303
    assert (await person.http.get("/api/v1/agents", headers=bearer)).status_code == 200


async def test_signing_out_ends_the_sign_in_at_once_and_for_good(person: Person, clock: ManualClock) -> None:
    kept = dict(person.http.cookies)
    answer = await person.send("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    person.http.cookies.update(kept)
    assert (await person.http.get("/", headers=BROWSER)).status_code == 303
    clock.at += REMEMBERED_S
    assert (await person.http.get("/", headers=BROWSER)).status_code == 303


async def test_a_rotated_token_ends_all_sign_ins(person: Person, clock: ManualClock) -> None:
    await person.store.write(tokens.put, "operator", tokens.hash_of("the-operators-next-token"))
    clock.at += REMEMBERED_S
    assert (await person.http.get("/", headers=BROWSER)).status_code == 303


async def test_a_sign_in_that_is_used_lasts_a_week_at_most(person: Person, clock: ManualClock) -> None:
    hours = 0
    while (await person.http.get("/", headers=BROWSER)).status_code == 200:
        clock.at += 6 * 3600
        hours += 6
        assert hours < 1000
    assert sign_ins.LONGEST_S <= hours * 3600 <= sign_ins.LONGEST_S + 6 * 3600


async def test_a_sign_in_that_is_not_used_ends_after_half_a_day(person: Person, clock: ManualClock) -> None:
    clock.at += sign_ins.UNUSED_S
    assert (await person.http.get("/", headers=BROWSER)).status_code == 303


async def test_a_sign_in_outlives_the_process(person: Person, clock: ManualClock) -> None:
    async with person_of(person.store, clock) as again:
        again.http.cookies = person.http.cookies
        assert (await again.http.get("/", headers=BROWSER)).status_code == 200


async def test_the_store_has_no_secret(person: Person) -> None:
    (secret,) = person.http.cookies.values()
    assert await person.store.read(sign_ins.find, secret) is None


@ONLY_SQLITE
async def test_two_fleets_on_one_host_do_not_sign_each_other_out(fleet: Store, clock: ManualClock) -> None:
    async with person_of(fleet, clock, msgspec.structs.replace(EIGHT, console_port=9000)) as other:
        assert (await other.sign_in()).headers["set-cookie"].startswith("covey_console_9000=")


@ONLY_SQLITE
async def test_cookies_of_other_servers_do_no_harm(person: Person) -> None:
    (secret,) = person.http.cookies.values()
    person.http.cookies.clear()
    for cookie in (f'bad="unclosed; \x7f; covey_console_8000={secret}; x', f"a=b,c=d; covey_console_8000={secret}; =; ;;"):
        assert (await person.http.get("/", headers=BROWSER | {"Cookie": cookie})).status_code == 200


# what another page can do


@ONLY_SQLITE
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:5000"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "rebound.example:8000", "Origin": "http://rebound.example:8000"},
    ],
    ids=str,
)
async def test_a_form_of_another_origin_does_nothing_even_with_the_word(person: Person, headers: dict[str, str]) -> None:
    answer = await person.send("/agents/coder/stop", headers)
    assert answer.status_code == 403
    assert (await person.store.read(roster.find, "coder")).takes_work


@ONLY_SQLITE
@pytest.mark.parametrize("word", ["", "x", "ü", "0" * 43])
async def test_a_form_without_the_word_does_nothing(person: Person, word: str) -> None:
    answer = await person.send("/agents/coder/stop", csrf=word)
    assert answer.status_code == 403
    assert "Load the page again" in notice_of(answer)
    assert (await person.store.read(roster.find, "coder")).takes_work


@ONLY_SQLITE
async def test_the_word_of_another_sign_in_does_nothing(person: Person) -> None:
    before = person.console.visits.word(person.cookies)
    await person.sign_in()
    assert (await person.send("/agents/coder/stop", csrf=before)).status_code == 403
    assert (await person.store.read(roster.find, "coder")).takes_work


def some_of(kind: Any) -> str:
    """A word that a field of this type takes."""
    words = [each for each in get_args(kind) if isinstance(each, str)]
    return words[0] if words else "1"


@ONLY_SQLITE
async def test_every_action_takes_the_word_and_nothing_else_changes_anything(person: Person) -> None:
    acts = [each for each in person.console.operations if each.method == "POST" and each.path != "/sign-in"]
    assert acts
    for each in acts:
        path = re.sub(r"\{\w+\}", "coder", each.path)
        assert "csrf" in {field.name for field in msgspec.structs.fields(each.body)}
        fields: dict[str, Any] = {field.encode_name: some_of(field.type) for field in msgspec.structs.fields(each.body)}
        answer = await person.http.post(path, data=fields | {"csrf": "wrong"}, headers=HTMX | {"Origin": URL})
        assert answer.status_code == 403, path


@ONLY_SQLITE
@pytest.mark.parametrize("path", ["/", "/live", "/static/page.js", "/sign-in", "/api/v1/events"])
async def test_pages_stream_files_and_api_refuse_a_rebound_name_alike(person: Person, path: str) -> None:
    answer = await person.http.get(path, headers={"Host": "rebound.example:8000", "Accept": "text/event-stream"})
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


def test_the_way_on_after_signing_in_never_leaves_the_console() -> None:
    assert all(is_own_path(path) for path in ("/", "/agents/coder", "/?state=idle&q=a%20b"))
    assert not any(
        is_own_path(path) for path in ("//evil", "/\\evil", "https://evil", "evil", "", "/a\r\nb", "/a b", "/ü", "javascript:alert(1)")
    )


@ONLY_SQLITE
async def test_a_foreign_way_on_leads_to_the_overview(stranger: Person) -> None:
    assert "evil" not in (await stranger.look("/sign-in?next=//evil.example")).source
    assert (await stranger.sign_in(next="//evil.example")).headers["location"] == "/"


async def test_a_password_manager_is_told_whose_token_it_is_and_that_is_not_sent(stranger: Person) -> None:
    answer = await stranger.http.get("/sign-in", headers=BROWSER)
    page = Page(answer.text)
    assert page.one("input", autocomplete="username")["value"] == "operator"
    assert set(page.fields) == {"next", "token"}
