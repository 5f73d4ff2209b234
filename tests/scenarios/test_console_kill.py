"""A person before the console of a real fleet: signed in over a kill of its process, and told that something was missed."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator

import httpx
import pytest

from tests.scenarios.conftest import RunningFleet, wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.slow]


@pytest.fixture
def running(fleet_folder: RunningFleet) -> RunningFleet:
    """The eight, started."""
    fleet_folder.up()
    return fleet_folder


def events_of(lines: Iterator[str]) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The parts of a stream as they come: what each is, its id, what it says."""
    found: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif "data" in found:
            yield found.get("event", "hint"), found.get("id", ""), json.loads(found["data"])
            found = {}
        else:
            found = {}


def test_a_sign_in_outlives_the_consoles_process_and_a_stream_goes_on_with_a_resync(running: RunningFleet) -> None:
    url = f"http://127.0.0.1:{running.base_port}"
    token = running.covey("token", "show", "operator").stdout.split()[-1]
    with httpx.Client(base_url=url, timeout=20) as browser:
        answer = browser.post("/sign-in", data={"token": token}, headers={"Origin": url})
        assert answer.status_code == 303, answer.text
        assert "coder" in browser.get("/", headers={"Accept": "text/html"}).text
        with browser.stream("GET", "/live") as stream:
            events = events_of(stream.iter_lines())
            kind, last, hello = next(events)
            assert (kind, hello["resync"]) == ("hello", False)
            running.covey("send", "coder", "hello")
            while kind != "hint" or "message.sent" not in hello["kinds"]:  # type: ignore[operator]
                kind, last, hello = next(events)
            before = running.kill("console")
        running.serving_again("console", before)
        page = browser.get("/", headers={"Accept": "text/html"})
        assert (page.status_code, "coder" in page.text) == (200, True)
        with browser.stream("GET", "/live", headers={"Last-Event-ID": last}) as stream:
            kind, _, hello = next(events_of(stream.iter_lines()))
            assert (kind, hello["resync"]) == ("hello", True)


def test_a_stop_in_the_console_ends_a_running_agents_work(running: RunningFleet) -> None:
    url = f"http://127.0.0.1:{running.base_port}"
    token = running.covey("token", "show", "operator").stdout.split()[-1]
    with httpx.Client(base_url=url, timeout=20) as browser:
        browser.post("/sign-in", data={"token": token}, headers={"Origin": url})
        asked = browser.get("/agents/coder/stop", headers={"HX-Request": "true"}).text
        word = asked.partition('name="csrf" value="')[2].partition('"')[0]
        done = browser.post("/agents/coder/stop", data={"csrf": word, "reason": "smoke"}, headers={"Origin": url, "HX-Request": "true"})
        assert "coder is stopped" in urllib.parse.unquote(done.headers["hx-trigger"])
        running.covey("send", "coder", "anybody there?")
        wait_until(lambda: running.json("status", "coder")["flags"]["stopped"], 20, "coder is not stopped")
        assert running.json("status", "coder")["unread"] == 1
        asked = browser.get("/agents/coder/resume", headers={"HX-Request": "true"}).text
        word = asked.partition('name="csrf" value="')[2].partition('"')[0]
        browser.post("/agents/coder/resume", data={"csrf": word}, headers={"Origin": url, "HX-Request": "true"})
        wait_until(lambda: running.json("status", "coder")["unread"] == 0, 30, "coder does not take mail again")
