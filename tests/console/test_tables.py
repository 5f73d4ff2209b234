"""Tables: filter, sort, pages; the same rows as files; all rows of a filter at once, checked again before it is done."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple

import msgspec
import pytest

from covey.agents import living, roster
from covey.agents.model import THE_OPERATOR
from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import downloads
from covey.console.bulk import filter_in_words
from covey.console.downloads import whole
from covey.console.looking import LOOKED_AT, picked
from covey.console.pages.agents import AGENTS, AgentsQuery
from covey.console.tables import Column, Filter, Query, Slice, Table, rows_of, sliced, text_of
from covey.store import Transaction
from tests.conftest import EIGHT
from tests.console.person import BROWSER, HTMX, Page, Person, notice_of

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
NAMES = [agent.id for agent in EIGHT.agents]
Row = dict[str, Any]
COLUMNS = (
    Column[Row](name="n", title="N", value=lambda row: row["n"], sorts=True, number=True),
    Column[Row](name="text", title="Text", value=lambda row: row["text"], sorts=True, words=True),
    Column[Row](name="more", title="More", value=lambda row: row.get("more")),
)


def read(_tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[Row]:
    return sliced([{"n": n, "text": f"row {n}"} for n in range(25)], query, COLUMNS, limit)


TABLE: Table[Query, Row] = Table(
    name="things", path="/things", caption="Things", query=Query, read=read, columns=COLUMNS, filters=(Filter("q", "Words"),)
)


def names_in(page: Page) -> list[str]:
    return [
        found["href"].removeprefix("/agents/") for found in page.all("a") if "data-open" in found and found["href"].startswith("/agents/")
    ]


# pure


def test_a_whole_list_is_sorted_cut_and_goes_on_at_its_cursor() -> None:
    rows = [{"n": n, "text": text} for n, text in [(3, "b"), (None, "A"), (1, "c"), (2, "")]]
    assert [row["n"] for row in sliced(rows, Query(sort="n"), COLUMNS, 9).items] == [None, 1, 2, 3]
    assert [row["n"] for row in sliced(rows, Query(sort="-n"), COLUMNS, 9).items] == [3, 2, 1, None]
    assert [row["text"] for row in sliced(rows, Query(sort="text"), COLUMNS, 9).items] == ["", "A", "b", "c"]
    first = sliced(rows, Query(), COLUMNS, 3)
    assert (len(first.items), first.cursor, first.total) == (3, "3", 4)
    assert sliced(rows, Query(cursor="3"), COLUMNS, 3) == Slice([rows[3]], None, 4)
    assert sliced(rows, Query(cursor="99"), COLUMNS, 3).items == []


@pytest.mark.parametrize(
    "query", [Query(sort="evil"), Query(sort="more"), Query(sort="--n"), Query(cursor="-1"), Query(cursor="x"), Query(cursor="9" * 30)]
)
def test_a_column_or_cursor_that_is_not_there_is_refused_by_name(query: Query) -> None:
    with pytest.raises(Invalid) as refused:
        sliced([], query, COLUMNS, 9)
    assert refused.value.field in ("sort", "cursor")


def test_a_query_stands_in_an_address_without_what_is_as_by_default() -> None:
    assert text_of(AgentsQuery(q="a b&c", state="idle", sort="-n", cursor="7"), cursor="") == "state=idle&q=a+b%26c&sort=-n"
    assert text_of(Query()) == ""


def test_a_filter_in_words() -> None:
    assert filter_in_words(AGENTS, AgentsQuery(q="co", state="idle", sort="port")) == "name, role or capability “co”, state “idle”"
    assert filter_in_words(AGENTS, AgentsQuery()) == "none, so all rows"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"), ("a=1", "a=1"), (-1, "-1"), (None, ""), (True, "True"),
        (["=a", "b"], "'=a b"), ({"a": 1}, '{"a":1}'), (1.5, "1.5"),
    ],
)  # fmt: skip
def test_no_cell_of_a_file_is_a_formula(value: Any, cell: str) -> None:
    assert downloads._cell(value) == cell


def test_an_empty_table_says_what_to_do_next() -> None:
    nothing: Slice[Row] = Slice([])
    assert "Nothing here." in Page(rows_of(TABLE, Query(), nothing)).text
    assert "/things" in Page(rows_of(TABLE, Query(q="x"), nothing)).hrefs()


async def test_a_file_goes_through_all_pages_up_to_its_bound(person: Person) -> None:
    found = await person.store.read(whole, TABLE, Query(sort="-n", cursor="20"), EIGHT)
    assert [row["n"] for row in found.items] == list(range(24, -1, -1))
    cut = await person.store.read(whole, TABLE, Query(), EIGHT, 10)
    assert (len(cut.items), cut.cursor) == (10, "10")


class Part(NamedTuple):
    """A part of a list of numbers."""

    items: list[int]
    cursor: int | None


def test_rows_that_fit_are_picked_until_there_are_enough_and_the_cursor_stands_where_the_looking_ended() -> None:
    def part(start: int | None) -> Part:
        first = start or 0
        return Part(list(range(first, min(first + 10, 3_000))), first + 10 if first + 10 < 3_000 else None)

    assert picked(part, lambda n: n % 4 == 0, None, 10) == Slice([*range(0, 40, 4)], "40")
    assert picked(part, lambda n: n == 2_999, 2_985, 10) == Slice([2_999], None)
    assert picked(part, lambda n: n == 2_999, None, 10) == Slice([], str(LOOKED_AT))


# the agents


async def test_agents_are_filtered_by_words_and_state(person: Person) -> None:
    assert names_in(await person.part("/~rows")) == NAMES
    assert names_in(await person.part("/~rows?q=DEVELOPMENT")) == ["coder"]
    assert names_in(await person.part("/~rows?q=monitor%20dev")) == ["devops"]
    await person.store.write(living.pause, "sales", THE_OPERATOR)
    assert names_in(await person.part("/~rows?state=paused")) == ["sales"]
    assert "No row matches" in (await person.part("/~rows?q=nobody")).text


async def test_agents_are_sorted_by_a_column_both_ways(person: Person) -> None:
    assert names_in(await person.part("/~rows?sort=agent")) == sorted(NAMES)
    page = await person.part("/~rows?sort=-agent")
    assert names_in(page) == sorted(NAMES, reverse=True)
    assert [found["aria-sort"] for found in page.all("th") if found.get("aria-sort") not in (None, "none")] == ["descending"]


@ONLY_SQLITE
async def test_a_page_is_loaded_with_the_filter_of_its_address(person: Person) -> None:
    page = await person.look("/?q=co&sort=-agent&state=stalled")
    assert names_in(page) == ["intel", "finance", "comms", "coder", "chief"]
    assert page.one("input", id="agents-q")["value"] == "co"


@ONLY_SQLITE
async def test_a_change_of_the_filter_goes_into_the_address_and_a_refresh_does_not(person: Person) -> None:
    changed = await person.http.get("/~rows?q=co&state=&sort=", headers=HTMX | {"HX-Source": "form#agents-filter"})
    assert changed.headers["hx-replace-url"] == "/?q=co"
    refreshed = await person.http.get("/~rows?q=co", headers=HTMX | {"HX-Source": "div#agents-body"})
    assert "hx-replace-url" not in refreshed.headers


@ONLY_SQLITE
@pytest.mark.parametrize("query", ["sort=evil", "cursor=x", "limit=5", "q=a&q=b", "state=%00", "q=%ff"])
async def test_a_bad_query_is_refused_as_a_page_and_as_a_part(person: Person, query: str) -> None:
    assert (await person.http.get(f"/?{query}", headers=BROWSER)).status_code == 400
    part = await person.http.get(f"/~rows?{query}", headers=HTMX)
    assert (part.status_code, part.text) == (400, "")
    assert notice_of(part)


async def test_the_files_have_the_rows_of_the_page(person: Person) -> None:
    page = names_in(await person.part("/~rows?q=co&sort=-agent"))
    answer = await person.http.get("/~rows.csv?q=co&sort=-agent")
    assert answer.headers["content-disposition"] == 'attachment; filename="covey-agents.csv"'
    assert [row["agent"] for row in csv.DictReader(io.StringIO(answer.text))] == page
    found = (await person.http.get("/~rows.json?q=co&sort=-agent")).json()
    assert ([row["agent"] for row in found["items"]], found["more"]) == (page, False)
    assert found["items"][0]["port"] == 8005


# all rows of a filter


async def test_a_bulk_action_asks_with_the_count_and_the_filter_and_does_it_to_those_alone(person: Person) -> None:
    dialog = await person.part("/~rows/stop?q=co&sort=port")
    assert "Stop 5 agents?" in dialog.text
    assert "Filter: name, role or capability “co”." in dialog.text
    assert (dialog.fields["count"], dialog.fields["filter"]) == ("5", "q=co")
    assert await person.answer("/~rows/stop?q=co") == "5 agents stopped."
    stopped = [agent.id for agent in await person.store.read(roster.everyone) if agent.stopped_at is not None]
    assert sorted(stopped) == ["chief", "coder", "comms", "finance", "intel"]


@pytest.mark.parametrize("form", [{"count": "4"}, {"count": "6"}, {"filter": "q=dev"}, {"filter": ""}], ids=str)
async def test_a_bulk_action_on_other_rows_than_were_shown_does_nothing(person: Person, form: dict[str, str]) -> None:
    answer = await person.send("/~rows/stop", None, **{"count": "5", "filter": "q=co"} | form)
    assert answer.status_code == 412
    assert "nothing was done" in notice_of(answer)
    assert all(agent.takes_work for agent in await person.store.read(roster.everyone))


@ONLY_SQLITE
@pytest.mark.parametrize(
    "form",
    [
        {"count": "0"},
        {"count": "-1"},
        {"count": "501"},
        {"count": "x"},
        {"filter": "evil=1"},
        {"filter": "sort=evil"},
        {"filter": "&".join("q=a" for _ in range(50))},
    ],
    ids=lambda form: str(form)[:30],
)
async def test_a_bulk_action_with_a_bad_form_is_refused(person: Person, form: dict[str, str]) -> None:
    answer = await person.send("/~rows/stop", None, **{"count": "8", "filter": ""} | form)
    assert answer.status_code == 400, answer.text
    assert all(agent.takes_work for agent in await person.store.read(roster.everyone))


async def test_a_bulk_action_says_what_was_refused_and_does_the_rest(person: Person) -> None:
    await person.store.write(living.stop, "coder", THE_OPERATOR)
    said = await person.answer("/~rows/stop")
    assert said == "7 agents stopped. 1 refused: coder is stopped already; nothing was done."
    assert not any(agent.takes_work for agent in await person.store.read(roster.everyone))


@ONLY_SQLITE
async def test_a_bulk_action_on_nothing_asks_nothing(person: Person) -> None:
    assert "No row matches" in (await person.part("/~rows/stop?q=nobody")).text


@ONLY_SQLITE
async def test_rows_come_page_by_page(person: Person) -> None:
    query = msgspec.structs.replace(AgentsQuery(), cursor="6")
    page = await person.part(f"/~rows?{text_of(query)}")
    assert names_in(page) == NAMES[6:]
    assert "From the first on" in page.text
