"""A real fleet, and a real Chromium that looks at its console: signed in, with nothing said on its own console and nobody else asked."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.scenarios.conftest import RunningFleet, fleet_in, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE_MS = 15_000
BRAIN = """
import time

def think(turn):
    if turn.task is not None and "slowly" in turn.task.description:
        time.sleep(0.5)
    return f"{turn.agent} did it"
"""
AGENTS = ("chief", "coder", "intel", "devops", "comms")
CONFIG = '[fleet]\nlinks = "none"\ngateway = "off"\n' + "".join(f'[agents.{name}]\nbrain = "brain:think"\n' for name in AGENTS)


def missing() -> str:
    """What these tests lack on this machine; empty if they have all."""
    if importlib.util.find_spec("playwright") is None or importlib.util.find_spec("axe_playwright_python") is None:
        return "playwright and axe-playwright-python are not installed: pip install 'covey[test]'"
    return "" if CHROMIUM is not None else "there is no Chromium on this machine: apt-get install chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip all of them with one reason where they can't run, and give each the time of a scenario."""
    why = missing()
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.scenario)
            item.add_marker(pytest.mark.timeout(180))
            item.add_marker(pytest.mark.xdist_group("browser"))
            if why:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFleet]:
    """Five agents with quick brains that are not linked yet; they run."""
    folder = tmp_path_factory.mktemp("console")
    (folder / "brain.py").write_text(BRAIN)
    (folder / "covey.toml").write_text(CONFIG)
    with fleet_in(folder) as found:
        found.up()
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a module's tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield found
        found.close()


class Person(NamedTuple):
    """Somebody at a browser who has signed in to the console of a fleet."""

    page: Page
    fleet: RunningFleet
    said: list[str]
    """What the browser's own console said, and who else was asked."""

    def go(self, path: str) -> Page:
        """Open a page of the console."""
        self.page.goto(f"http://127.0.0.1:{self.fleet.base_port}{path}")
        return self.page

    def is_live(self, page: Page | None = None) -> None:
        """Wait until the badge says so."""
        (page or self.page).locator("#live[data-state=live]").wait_for(timeout=PATIENCE_MS)

    def do(self, button: Locator, **fields: str) -> str:
        """Press it, answer the question that it asks with these fields, and read what came of it."""
        button.click()
        dialog = self.page.locator("#dialog")
        dialog.locator("button.go").wait_for(timeout=PATIENCE_MS)
        for name, value in fields.items():
            field = dialog.locator(f"[name='{name}']")
            field.select_option(value) if field.evaluate("each => each.tagName") == "SELECT" else field.fill(value)
        before = self.page.locator("#notices > *").count()
        dialog.locator("button.go").click()
        notice = self.page.locator("#notices > *").nth(before)
        notice.wait_for(timeout=PATIENCE_MS)
        return notice.inner_text()


def signed_in(context: BrowserContext, fleet: RunningFleet) -> Person:
    """A person in a browser's context: one sign-in, by the operator's token."""
    context.set_default_timeout(PATIENCE_MS)
    page, said = context.new_page(), list[str]()
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if urlsplit(asked.url).hostname not in ("127.0.0.1", None, "") else None)
    person = Person(page, fleet, said)
    person.go("/sign-in")
    page.locator("input[type=password]").fill(fleet.covey("token", "show", "operator").stdout.strip())
    page.locator("main button").click()
    person.is_live()
    return person


@pytest.fixture
def person(browser: Browser, fleet: RunningFleet) -> Iterator[Person]:
    """Somebody signed in, at whose browser nothing went wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = signed_in(context, fleet)
    yield found
    context.close()
    assert found.said == []


__all__ = ["Person", "RunningFleet", "signed_in", "wait_until"]
