"""Metrics: figures over time of the fleet or an agent, as charts and as the table that says the same."""

from __future__ import annotations

import csv
import io
import json

import pytest

from covey.console import charts
from covey.figures.model import WINDOWS
from covey.figures.recording import Recorder
from covey.healing import incidents
from covey.messages import handling
from covey.reports.over_time import over_time
from covey.store import Store
from covey.tasks import working
from tests.conftest import ManualClock
from tests.console.person import BROWSER, HTMX, Person, notice_of
from tests.reports.acting import add, claim_mail, send, take

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def work(store: Store, clock: ManualClock, agent: str, seconds: float) -> None:
    """A message and a task that took the agent so long, and a stall that was healed."""
    await send(store, "operator", agent, f"how is it at {clock.at}?")
    clock.at += seconds
    mail = await claim_mail(store, agent, digest_s=0.0)
    await store.write(handling.close, agent, mail.token)
    await add(store, "Count the words", agent)
    _, token = await take(store, agent)
    await store.write(working.finish, agent, token, "Done.")
    ident = await store.write(incidents.open_incident, agent, "hung", "it fell silent")
    await store.write(incidents.end_incident, ident, "restarted", "it is well.")


async def test_the_page_tells_the_window_as_tiles_charts_and_table(person: Person, clock: ManualClock) -> None:
    await work(person.store, clock, "coder", 2.0)
    await Recorder(person.store).one_round()
    page = await person.look("/figures")
    assert "The last 1h of the whole fleet" in page.text
    assert "Completion rate 100 % 1 done, 0 failed" in page.text
    assert "Stalls healed 1 of 1" in page.text
    drawn = [found["data-chart"] for found in page.all("div") if "data-chart" in found]
    assert drawn == ["times-chart", "completion-chart", "stalls-chart"]
    assert page.text.count("None in this window.") == len(charts.FIGURES) - len(drawn)
    assert len(page.all("tr")) == 61


async def test_the_charts_have_the_numbers_of_the_table(person: Person, clock: ManualClock) -> None:
    await work(person.store, clock, "coder", 2.0)
    await Recorder(person.store).one_round()
    drawn = {
        found["data-chart"]: json.loads(found["data-points"])
        for found in (await person.part("/figures/~charts")).all("div")
        if "data-chart" in found
    }
    rows = (await person.http.get("/figures/~rows.json?sort=at")).json()["items"]
    at, p50, p95 = drawn["times-chart"]
    assert (at, p50, p95) == tuple([row[name] for row in rows] for name in ("at", "p50", "p95"))
    assert [value for value in drawn["completion-chart"][1] if value is not None] == [100.0]
    assert drawn["stalls-chart"][1:] == [[row["stallsFound"] for row in rows], [row["stallsHealed"] for row in rows]]


@pytest.mark.parametrize("window", WINDOWS)
async def test_each_window_of_an_agent_can_be_asked_for(person: Person, clock: ManualClock, window: str) -> None:
    await work(person.store, clock, "coder", 2.0)
    await work(person.store, clock, "sales", 3.0)
    await Recorder(person.store).one_round()
    page = await person.look(f"/figures?window={window}&agent=sales")
    assert f"The last {window} of sales" in page.text
    assert "of 1 message" in page.text
    assert len([found for found in page.all("option") if "selected" in found]) == (1 if window == "1h" else 2)
    steps = await person.store.read(over_time, window, "sales")
    file = await person.http.get(f"/figures/~rows.csv?window={window}&agent=sales")
    assert len(list(csv.DictReader(io.StringIO(file.text)))) == len(steps["steps"])


@ONLY_SQLITE
async def test_what_is_not_counted_yet_is_said(person: Person, clock: ManualClock) -> None:
    await work(person.store, clock, "coder", 2.0)
    assert "what happened just now is not counted yet" in (await person.look("/figures")).text
    await Recorder(person.store).one_round()
    assert "not counted yet" not in (await person.look("/figures")).text


@ONLY_SQLITE
async def test_without_any_figure_each_chart_says_so(person: Person) -> None:
    assert (await person.look("/figures")).text.count("None in this window.") == len(charts.FIGURES)


@ONLY_SQLITE
@pytest.mark.parametrize(("query", "status"), [("window=2d", 400), ("agent=nobody", 404), ("agent=%3Cb%3E", 404), ("sort=evil", 400)])
async def test_a_window_or_agent_that_is_not_there_is_refused(person: Person, query: str, status: int) -> None:
    assert (await person.http.get(f"/figures?{query}", headers=BROWSER)).status_code == status
    part = await person.http.get(f"/figures/~rows?{query}", headers=HTMX)
    assert part.status_code == status
    assert notice_of(part)
