"""Inspect: what the store holds as tables to be read, with filter and files, and no secret in any."""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec
import pytest

from covey.agents import breaking, configuring, sign_ins
from covey.agents.model import THE_OPERATOR, as_agent
from covey.console.pages import inspect
from covey.console.pages.inspect_events import EventsQuery, read_events
from covey.console.pages.inspect_work import RunsQuery, read_runs
from covey.links import verbs
from covey.links.model import LinkChange
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.nodes import records
from covey.store import Store
from covey.tasks import adding, runs, working
from covey.tasks.model import TaskDraft
from tests.api.world import token_of
from tests.conftest import EIGHT, ManualClock
from tests.console.person import BROWSER, Page, Person

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
HOSTILE = "<script>alert(1)</script>\u202e"


async def fill(store: Store) -> list[str]:
    """Something in each table; the tokens of the leases."""
    await store.write(configuring.configure, msgspec.structs.replace(EIGHT, limits="on"))
    await store.write(verbs.add, "coder", "sales", LinkChange(), THE_OPERATOR)
    await store.write(sending.send, draft("sales", "Is the list ready?"), as_agent("coder"), wait_s=60)
    await store.write(runs.open_run, "run_mail", item="msg_1", kind="message", agent="sales", node="node-1", attempt=1)
    mail = await store.write(handling.claim, "sales", "run_mail", lease_s=60.0, digest_s=0.0)
    await store.write(adding.add, TaskDraft(description="Sum it up", agent="coder"), THE_OPERATOR)
    task = await store.write(working.claim, "coder", "run_task", lease_s=60.0)
    assert mail is not None
    assert task is not None
    await store.write(runs.open_run, "run_task", item=task[0].task_id, kind="task", agent="coder", node="node-1", attempt=1)
    await store.write(runs.close, "run_task", "done", cost_usd=0.25, tokens=1200)
    for n in range(5):
        await store.write(breaking.failed, "intel", f"task_{n}", HOSTILE)
    await store.write(records.register, "node-1", host="box", pid=77, start_ticks=1, boot_id="boot", version="0.1")
    return [mail.token, task[1]]


def paths() -> list[str]:
    return [each.table.path for each in inspect.INSPECTED]


@ONLY_SQLITE
async def test_the_page_leads_to_every_table_and_each_says_what_stands_in_it(person: Person) -> None:
    page = await person.look("/inspect")
    assert page.hrefs() >= set(paths())
    for each in inspect.INSPECTED:
        assert each.says in page.text
        found = await person.look(each.table.path)
        assert each.says in found.text
        assert "/inspect" in found.hrefs()


@ONLY_SQLITE
@pytest.mark.parametrize("path", sorted(set(paths()) - {"/inspect/sign-ins", "/inspect/events"}))
async def test_an_empty_table_says_why_it_is_empty(person: Person, path: str) -> None:
    table = next(each.table for each in inspect.INSPECTED if each.table.path == path)
    assert table.empty.replace("`", "") in (await person.look(path)).text.replace("&quot;", '"')


@pytest.mark.parametrize("path", paths())
async def test_each_table_has_its_rows_on_the_page_and_in_both_files(person: Person, path: str) -> None:
    tokens = await fill(person.store)
    page = await person.look(path)
    rows = list(csv.DictReader(io.StringIO((await person.http.get(f"{path}/~rows.csv")).text)))
    answer = await person.http.get(f"{path}/~rows.json")
    assert rows
    assert len(rows) == len(answer.json()["items"]) == len(page.all("tr")) - 1
    assert "<script>alert" not in page.source
    for secret in (*tokens, token_of("operator"), person.cookies[b"cookie"].decode().partition("=")[2]):
        assert secret not in page.source + answer.text


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("links/~rows?q=coder", 1),
        ("links/~rows?q=nobody", 0),
        ("peer-states/~rows?q=sales", 1),
        ("leases/~rows?kind=task", 1),
        ("leases/~rows?q=sales", 1),
        ("leases/~rows?q=coder", 1),
        ("runs/~rows?state=open", 1),
        ("runs/~rows?kind=task&q=coder", 1),
        ("nodes/~rows?q=box%20live", 1),
        ("breakers/~rows?q=intel", 1),
        ("breakers/~rows?q=coder", 0),
        ("events/~rows?kind=breaker.", 1),
        ("events/~rows?agent=intel&q=failures", 1),
    ],
)
async def test_a_table_is_filtered(person: Person, query: str, rows: int) -> None:
    await fill(person.store)
    page = await person.part(f"/inspect/{query}")
    assert max(0, len(page.all("tr")) - 1) == rows


async def test_pages_of_events_and_runs_go_on_without_a_gap(person: Person) -> None:
    for n in range(7):
        await person.store.write(runs.open_run, f"run_{n}", item=f"task_{n}", kind="task", agent="coder", node="node-1", attempt=1)
        await person.store.write(adding.add, TaskDraft(description=f"Do {n}", agent="coder"), THE_OPERATOR)
    tables: list[tuple[Any, Any, str]] = [(read_events, EventsQuery, "cursor"), (read_runs, RunsQuery, "id")]
    for read, query, key in tables:
        all_of = [getattr(row, key) for row in (await person.store.read(read, query(), person.door.settings, 500)).items]
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            part = await person.store.read(read, query(cursor=cursor), person.door.settings, 3)
            seen += [getattr(row, key) for row in part.items]
            cursor = part.cursor
        assert len(all_of) >= 7
        assert seen == all_of


@ONLY_SQLITE
@pytest.mark.parametrize("query", ["events?cursor=x", "leases?sort=evil", "nodes?cursor=-1"])
async def test_a_bad_cursor_or_column_is_refused(person: Person, query: str) -> None:
    assert (await person.http.get(f"/inspect/{query}", headers=BROWSER)).status_code == 400


@ONLY_SQLITE
async def test_nothing_is_shown_to_who_is_not_signed_in(stranger: Person) -> None:
    for path in ("/inspect", *paths(), "/figures", "/inspect/sign-ins/~rows.json"):
        assert (await stranger.http.get(path, headers=BROWSER)).status_code == 303


def rows_in(page: Page) -> int:
    return len(page.all("tr")) - 1


async def test_a_sign_in_that_has_ended_stands_there_no_more(person: Person, stranger: Person, clock: ManualClock) -> None:
    await stranger.sign_in()
    assert rows_in(await person.part("/inspect/sign-ins/~rows")) == 2
    await stranger.send("/sign-out")
    assert rows_in(await person.part("/inspect/sign-ins/~rows")) == 1
    clock.at += sign_ins.UNUSED_S + 1.0
    assert await person.store.read(sign_ins.held) == []
