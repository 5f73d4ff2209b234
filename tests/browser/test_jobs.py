"""What a person does at the console, from one end to the other, in a real browser against real processes."""

from __future__ import annotations

import os
import signal

from tests.browser.conftest import Person, wait_until
from tests.rules import rule


@rule("L1", "L2", "L6", "L9")
def test_agents_are_linked_given_a_quota_and_a_message_beyond_it_waits_and_is_cancelled(person: Person) -> None:
    page, fleet = person.page, person.fleet
    person.go("/contacts/coder")
    row = page.locator("#others li", has=page.get_by_role("link", name="intel", exact=True))
    assert "intel" in person.do(row.get_by_role("button", name="Link"))
    linked = page.locator("#links tr", has=page.get_by_role("link", name="intel", exact=True))
    linked.locator(".state[data-state=linked]").wait_for()
    person.do(linked.get_by_role("button", name="Limits"), messagesPerWindow="2", debounceS="0")
    page.get_by_text("0 of 2").first.wait_for()

    for number in range(3):
        fleet.covey("send", "intel", f"message {number}", "--from", "coder", "--subject", f"number {number}")
    page.get_by_text("2 of 2").first.wait_for()

    person.go("/deferred")
    waiting = page.locator("table.rows tbody tr", has_text="number 2")
    waiting.wait_for()
    said = person.do(waiting.get_by_role("button", name="Cancel", exact=True))
    assert "cancelled" in said.lower() or "taken back" in said.lower(), said
    page.get_by_text("No mail waits for credit").wait_for()
    assert fleet.json("deferred", "list")["items"] == []


@rule("A7", "A3")
def test_an_agent_is_stopped_and_resumed(person: Person) -> None:
    page, fleet = person.page, person.fleet
    person.go("/agents/devops")
    assert "stopped" in person.do(page.locator("#now").get_by_role("button", name="Stop"), reason="look at this first")
    page.locator("#now .state[data-state=stopped]").wait_for()
    assert fleet.json("status", "devops")["flags"]["stopped"]
    person.do(page.locator("#now").get_by_role("button", name="Resume"))
    page.locator("#now .state[data-state=stopped]").wait_for(state="detached")
    assert not fleet.json("status", "devops")["flags"]["stopped"]


@rule("H4")
def test_a_killed_agent_is_seen_to_come_back_without_a_reload(person: Person) -> None:
    page, fleet = person.page, person.fleet
    person.go("/agents/intel")
    person.is_live()
    page.evaluate("window.loadedOnce = true")
    before = fleet.kill("intel")
    fleet.serving_again("intel", before)
    page.locator("#story").locator(".state", has_text="agent.started").nth(1).wait_for()
    now = fleet.marker("intel")
    assert now is not None
    page.locator("#now").get_by_text(str(now.pid)).wait_for()
    assert page.evaluate("window.loadedOnce"), "the page was loaded again"
    assert any(each["agent"] == "intel" for each in fleet.json("incident", "list")["items"])


@rule("Q4")
def test_a_vote_is_followed_and_closed(person: Person) -> None:
    page, fleet = person.page, person.fleet
    for name in ("coder", "intel", "devops"):
        fleet.covey("pause", name)
    ident = fleet.json("vote", "open", "Which store?", "--voters", "coder,intel,devops", "--option", "SQLite", "--option", "files")[
        "voteId"
    ]
    person.go("/votes")
    page.get_by_role("link", name="Which store?").click()
    page.get_by_text("0 of 3").first.wait_for()
    for name, choice in (("coder", "SQLite"), ("intel", "SQLite"), ("devops", "files")):
        fleet.covey("vote", "cast", ident, choice, "--from", name)
    page.get_by_text("3 of 3").first.wait_for()
    if fleet.json("vote", "show", ident)["state"] != "closed":
        person.do(page.locator("#now").get_by_role("button", name="Close and count"))
    page.locator("#result").get_by_text("SQLite").first.wait_for()
    assert fleet.json("vote", "show", ident)["result"]["winner"] == "SQLite"
    for name in ("coder", "intel", "devops"):
        fleet.covey("resume", name)


@rule("Q2", "Q6")
def test_a_team_run_is_followed_to_its_end(person: Person) -> None:
    page, fleet = person.page, person.fleet
    person.go("/teams")
    run = fleet.begin("team", "run", "Look into it slowly", "--type", "research", "--workers", "coder,intel,comms")
    page.get_by_role("link", name="Look into it slowly").click()
    page.locator("#tree .state[data-state=done]").first.wait_for()
    page.locator("#outcome").get_by_text("did it").first.wait_for(timeout=60_000)
    run.communicate(timeout=60)
    assert run.returncode == 0
    assert fleet.json("team", "list")["items"][0]["state"] == "done"


@rule("M1")
def test_the_operator_speaks_and_is_answered(person: Person) -> None:
    page = person.page
    person.go("/threads")
    said = person.do(page.get_by_role("button", name="Write a message"), to="chief", body="how are you?", answer="yes")
    assert "on disk" in said
    page.get_by_role("link", name="dm:chief:operator").click()
    page.get_by_text("chief did it").first.wait_for()
    page.get_by_text("how are you?").first.wait_for()


def test_the_console_goes_on_by_itself_when_its_server_was_killed(person: Person) -> None:
    page, fleet = person.page, person.fleet
    person.go("/")
    person.is_live()
    page.evaluate("window.loadedOnce = true")
    before = fleet.marker("console")
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    page.locator("#live:not([data-state=live])").wait_for()
    wait_until(lambda: (now := fleet.marker("console")) is not None and now.pid != before.pid, 20, "the console was not started again")
    person.is_live()
    assert page.evaluate("window.loadedOnce"), "the page was loaded again"
    fleet.covey("pause", "chief")
    page.locator("#agents .state[data-state=paused]").wait_for()
    fleet.covey("resume", "chief")
    page.locator("#agents .state[data-state=paused]").wait_for(state="detached")
    person.said.clear()  # what a browser says of a server that is gone


def test_ten_tabs_are_live_by_one_stream(person: Person) -> None:
    person.go("/")
    tabs = [person.page] + [person.page.context.new_page() for _ in range(9)]
    for tab in tabs[1:]:
        tab.goto(person.page.url)
    for tab in tabs:
        person.is_live(tab)
    person.fleet.covey("pause", "devops")
    for tab in tabs:
        tab.bring_to_front()
        tab.locator("#agents .state[data-state=paused]").wait_for()
    person.fleet.covey("resume", "devops")


def test_a_page_left_open_while_the_token_is_changed_asks_for_a_sign_in(person: Person) -> None:
    page = person.page
    person.go("/tasks")
    person.is_live()
    person.fleet.covey("token", "rotate", "operator")
    page.wait_for_url("**/sign-in**")
    person.said.clear()  # the refusals that led there
