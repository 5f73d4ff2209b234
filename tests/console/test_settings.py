"""Settings: what is in force and where it comes from, secrets never; budgets, paused threads, flags, projects."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR
from covey.app import outer
from covey.app.node_spec import NODE
from covey.app.opening import run_dir
from covey.base.config.load import load_text
from covey.base.config.origins import NOTHING_KNOWN, Origins, is_usual
from covey.base.markers import NameLock
from covey.base.settings import Settings
from covey.console.pages.settings import GROUPS, groups_of
from covey.links.model import LinkChange
from covey.messages import pausing, relinking
from covey.planning import budgets
from covey.reports import spending
from tests.api.world import token_of
from tests.conftest import EIGHT
from tests.console.person import Person, notice_of
from tests.rules import rule

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
FILE = """
[fleet]
lease_s = 90
notify = ["mailto://me:hunter2@example.org"]
store = "postgresql://covey:hunter2@db/covey"
[planning]
turns = 50
[agents.coder]
brain = { kind = "a2a", target = "https://example.org/card", options = { api_key = "hunter2" } }
env = { KEY = "hunter2" }
"""


def origins_of(settings: Settings, origins: Origins) -> dict[str, str]:
    return {line.key: line.origin for group in groups_of(settings, origins) for line in group.lines}


# pure


def test_each_setting_says_where_it_comes_from(tmp_path: Path) -> None:
    settings = load_text(FILE, root=tmp_path, environ={"COVEY_STALE_S": "70"}, flags={"wait_s": 100})
    found = origins_of(
        settings, Origins("covey.toml", {"fleet.lease_s": 90, "planning.turns": 50}, {"stale_s": "environment", "wait_s": "flag"})
    )
    assert {key: found[key] for key in ("lease_s", "turns", "stale_s", "wait_s", "cycle_s", "usd", "data_dir", "lead")} == {
        "lease_s": "covey.toml",
        "turns": "covey.toml",
        "stale_s": "environment",
        "wait_s": "flag",
        "cycle_s": "default",
        "usd": "default",
        "data_dir": "default",
        "lead": "default",
    }


def test_what_was_taken_out_of_the_file_since_the_start_is_not_called_a_default(tmp_path: Path) -> None:
    settings = load_text(FILE, root=tmp_path)
    found = origins_of(settings, NOTHING_KNOWN)
    assert (found["lease_s"], found["turns"], found["cycle_s"]) == ("an earlier covey.toml", "an earlier covey.toml", "default")


def test_what_the_file_says_by_now_is_not_called_in_force(tmp_path: Path) -> None:
    settings = load_text(FILE, root=tmp_path, flags={"wait_s": 100})
    file = {"fleet.lease_s": 80, "fleet.stall_s": 1700, "fleet.store": "postgresql://other", "fleet.wait_s": 5, "planning.turns": 50}
    groups = groups_of(settings, Origins("covey.toml", file, {"wait_s": "flag"}))
    lines = {line.key: line for group in groups for line in group.lines}
    assert (lines["lease_s"].origin, lines["stall_s"].origin) == ("an earlier covey.toml", "default")
    assert {key for key, line in lines.items() if line.pending} == {"lease_s", "stall_s"}


def test_every_key_of_the_fleet_is_shown_once_and_no_group_names_one_that_is_none() -> None:
    shown = [line.key for group in groups_of(EIGHT, NOTHING_KNOWN)[: len(GROUPS)] for line in group.lines]
    assert len(shown) == len(set(shown))
    assert set(shown) == set().union(*(keys for _, keys in GROUPS))
    assert all(is_usual(key, Settings(agents=())) for key in shown)


def test_what_was_given_at_the_start_is_kept_with_where_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[fleet]\nlease_s = 90\n[planning]\nusd = 1\n")
    environ = {"COVEY_STALE_S": "70", "COVEY_WAIT_S": "80"}
    settings = load_text(file.read_text(), root=tmp_path, environ=environ, flags={"wait_s": 100})
    (tmp_path / ".covey" / "run").mkdir(parents=True)
    outer.remember(settings, {"wait_s": 100, "dir": None}, environ, file)
    node = NameLock(run_dir(settings) / f"{NODE}.lock")
    assert node.take(NODE, settings.console_port)
    assert outer.given(settings) == {"stale_s": 70.0, "wait_s": 100.0}
    node.release()
    assert outer.origins(settings) == Origins(
        str(file), {"fleet.lease_s": 90, "planning.usd": 1}, {"stale_s": "environment", "wait_s": "flag"}
    )
    file.write_text("[fleet\n")
    assert outer.origins(settings).written == {}
    file.unlink()
    assert outer.origins(settings) == Origins("", {}, {"stale_s": "environment", "wait_s": "flag"})


def test_a_fleet_that_was_started_before_this_was_kept_has_the_file_beside_its_root(tmp_path: Path) -> None:
    (tmp_path / "covey.toml").write_text("[fleet]\nlease_s = 90\n")
    settings = load_text("", root=tmp_path)
    assert outer.origins(settings) == Origins(str(tmp_path / "covey.toml"), {"fleet.lease_s": 90}, {})


# the page


@ONLY_SQLITE
async def test_no_secret_and_no_token_is_on_the_page(person: Person, tmp_path: Path) -> None:
    person.door.settings = load_text(FILE, root=tmp_path)
    page = await person.look("/settings")
    assert "mailto://***" in page.text
    assert "covey:***@db" in page.text
    assert "hunter2" not in page.source
    assert all(token_of(name) not in page.source for name in ("operator", "coder"))
    assert "covey config apply" in page.text
    assert "1 min 30 s" in page.text
    assert "differs" not in page.text
    person.console.origins = lambda _: Origins("covey.toml", {"fleet.lease_s": 80}, {})
    assert "The file says something else by now" in (await person.part("/settings/force")).text


@rule("P3")
async def test_a_budget_is_set_and_let_be_as_configured_again(person: Person) -> None:
    said = await person.answer("/settings/budgets/usd", amount="12.5")
    assert said == "US dollars: 12.5 in any 24 hours, by operator."
    assert "$0.00 of $12.50" in (await person.part("/settings/budgets")).text
    assert await person.answer("/settings/budgets/usd", amount="") == "US dollars: 5 in any 24 hours, by default."
    assert await person.answer("/settings/budgets/tasks", amount="3", agent="coder") == (
        "Generated tasks an agent, coder: 3 in any 24 hours, by operator."
    )
    found = await person.store.read(spending.overview)
    assert (found["usd"]["source"], found["tasks"]["limit"]) == ("default", 24)
    page = await person.part("/settings/budgets")
    assert "0 of 3" in page.text
    assert "/agents/coder" in page.hrefs()


@ONLY_SQLITE
@pytest.mark.parametrize(
    ("name", "form", "status", "said"),
    [
        ("usd", {"amount": "-1"}, 400, "usd"),
        ("turns", {"amount": "1.5"}, 400, "whole number"),
        ("turns", {"amount": "nan"}, 400, "turns"),
        ("turns", {"amount": "many"}, 400, "amount"),
        ("usd", {"amount": "1", "agent": "coder"}, 400, "whole fleet"),
        ("tasks", {"amount": "1", "agent": "nobody"}, 404, "there is no agent"),
        ("luck", {"amount": "1"}, 404, "no budget"),
    ],
    ids=str,
)
async def test_a_bad_budget_is_refused_and_changes_nothing(person: Person, name: str, form: dict[str, str], status: int, said: str) -> None:
    before = await person.store.read(spending.overview)
    answer = await person.send(f"/settings/budgets/{name}", None, **form)
    assert (answer.status_code, said in notice_of(answer)) == (status, True), notice_of(answer)
    assert await person.store.read(spending.overview) == before


async def test_a_budget_that_is_spent_says_when_there_is_something_again_or_that_none_may_be_used(person: Person) -> None:
    await person.store.write(budgets.change, THE_OPERATOR, {"turns": 0.0})
    assert "none may be used" in (await person.part("/settings/budgets")).text


@rule("L10")
async def test_paused_threads_are_listed_and_go_on_from_here(person: Person) -> None:
    assert "No thread is paused" in (await person.part("/settings/paused")).text
    await person.store.write(pausing.pause, "dm:chief:coder", ("chief", "coder"))
    page = await person.part("/settings/paused")
    assert "chief and coder took" in page.text
    (question,) = [found["hx-get"] for found in page.all("button") if "hx-get" in found]
    await person.answer(question)
    assert "No thread is paused" in (await person.part("/settings/paused")).text


@rule("L14")
async def test_flags_and_the_links_behind_them_are_shown(person: Person) -> None:
    await person.store.write(configuring.configure, msgspec.structs.replace(EIGHT, features={"<b>acme</b>": {"beta": False, "rich": True}}))
    await person.store.write(relinking.change, "chief", "coder", LinkChange(feature_flag="beta"), THE_OPERATOR)
    page = await person.part("/settings/flags")
    assert all(words in page.text for words in ("<b>acme</b>", "beta", "off", "rich", "on"))
    assert "<b>" not in page.source
    assert "/contacts/chief/coder" in page.hrefs()


@ONLY_SQLITE
async def test_projects_are_shown_and_how_to_change_them(person: Person) -> None:
    page = await person.part("/settings/projects")
    assert "covey project add" in page.text
