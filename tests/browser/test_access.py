"""Every page of the console can be used by everybody: axe-core finds nothing, light and dark, wide and narrow; the keys do what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from covey.console.app import PAGES
from tests.browser.conftest import Person, signed_in
from tests.scenarios.conftest import RunningFleet

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLACES = [page.PLACE.path for page in PAGES if hasattr(page, "PLACE")]
LOOKS = [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]


@pytest.fixture(scope="module")
def details(fleet: RunningFleet) -> list[str]:
    """The pages of single things, of which there is one each."""
    fleet.covey("send", "coder", "hello")
    task = fleet.json("task", "add", "coder", "Look at it")["taskId"]
    fleet.covey("task", "wait", task)
    vote = fleet.json("vote", "open", "Which?", "--voters", "coder,intel", "--option", "a", "--option", "b")["voteId"]
    return ["/agents/coder", f"/tasks/{task}", "/threads/dm:coder:operator", "/contacts/coder", f"/votes/{vote}"]


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def looker(browser: Browser, fleet: RunningFleet, request: pytest.FixtureRequest) -> Iterator[Person]:
    """Somebody signed in with this colour scheme and width, who does not care for motion."""
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
    found = signed_in(context, fleet)
    yield found
    context.close()
    assert found.said == []


def test_axe_finds_nothing_on_any_page_and_no_page_is_wider_than_the_screen(looker: Person, details: list[str]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe, wrong = Axe(), list[str]()
    for path in (*PLACES, *details):
        page = looker.go(path)
        looker.is_live()
        wrong += [f"{path}: {_told(each)}" for each in axe.run(page).response["violations"]]
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        wrong += [f"{path}: {wide} px wider than the screen"] if wide > 0 else []
    assert wrong == []


def test_the_places_are_one_line_at_a_narrow_screen_and_the_one_that_is_looked_at_is_in_sight(
    browser: Browser, fleet: RunningFleet
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    person = signed_in(context, fleet)
    for path in PLACES:
        here = person.go(path).locator(".top nav [aria-current]").bounding_box()
        line = person.page.locator(".top nav ul").bounding_box()
        assert here is not None
        assert line is not None
        assert line["height"] < 40
        assert 0 <= here["x"] <= here["x"] + here["width"] <= 390, path
    context.close()


def _told(found: dict[str, Any]) -> str:
    return f"{found['id']} ({found['impact']}): {found['nodes'][0]['html'][:200]}"


def test_the_keys_lead_to_the_filter_along_the_rows_and_into_one(person: Person) -> None:
    page = person.go("/")
    person.is_live()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") != first
    page.keyboard.press("Enter")
    page.wait_for_url("**/agents/**")
    page.keyboard.press("p")
    page.locator("#live[data-state=paused]").wait_for()
    page.keyboard.press("p")
    person.is_live()
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("next row").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
