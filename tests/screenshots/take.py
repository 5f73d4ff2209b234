"""Take the pictures: `python -m tests.screenshots.take FOLDER`. Needs Playwright, Pillow and a Chromium (CHROMIUM names it)."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.async_api import Browser, async_playwright

from covey.agents import tokens
from covey.app.front import make_app
from covey.doors.door import FleetDoor
from covey.doors.serving import serve
from covey.figures.recording import Recorder
from covey.store import DatagramBell, Store
from covey.store.sqlite import SqliteEngine
from tests.screenshots.demo import DAY_S, Past, seed

TOKEN = "a-token-of-the-pictures-alone"
SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"),
    "--disable-component-update",
)
WIDE, NARROW = 1280, 390


class Shot(NamedTuple):
    """One picture: its name, the page, and the link of the page that is followed first."""

    name: str
    path: str
    follow: str = ""
    tall: int = 900
    """So much of it is shown at most, in pixels."""


SHOTS = (
    Shot("overview", "/", tall=1400),
    Shot("agent", "/agents/coder", tall=1150),
    Shot("tasks", "/tasks"),
    Shot("task", "/tasks", "main a[data-open]"),
    Shot("threads", "/threads"),
    Shot("thread", "/threads/dm:comms:sales"),
    Shot("contacts", "/contacts/sales"),
    Shot("deferred", "/deferred"),
    Shot("votes", "/votes"),
    Shot("vote", "/votes/release-day"),
    Shot("handoff", "/handoffs", "main a[data-open]"),
    Shot("team", "/teams/release-2-4", tall=1250),
    Shot("incidents", "/incidents"),
    Shot("incident", "/incidents?state=ended", "main a[data-open]"),
    Shot("metrics", "/figures?window=24h", tall=1150),
    Shot("inspect", "/inspect/runs"),
    Shot("settings", "/settings"),
)
ALSO = ("overview", "agent", "metrics")
"""These in dark and on a narrow screen too."""


async def main(folder: Path) -> None:
    """Seed the fleet, serve it, take all pictures."""
    place = Path(tempfile.mkdtemp(prefix="covey-pictures-"))
    clock = Past(DAY_S)
    engine = SqliteEngine(place / "store.db", clock, full=False)
    engine.migrate(clock.wall)
    bell = DatagramBell(place / "bells")
    store = Store(engine, bell)
    try:
        settings = await seed(store, clock)
        await store.write(tokens.put, "operator", tokens.hash_of(TOKEN))
        serving = await serve(make_app(FleetDoor(store=store, settings=settings)), "127.0.0.1", 0)
        counting = asyncio.create_task(count(store))
        try:
            await pictures(f"http://127.0.0.1:{serving.port}", folder)
        finally:
            counting.cancel()
            await serving.stop()
    finally:
        await store.close()
        bell.close()
        shutil.rmtree(place, ignore_errors=True)


async def count(store: Store) -> None:
    """Keep the figures true, as a leader does."""
    recorder = Recorder(store)
    while True:
        await recorder.one_round()
        await asyncio.sleep(0.2)


async def pictures(url: str, folder: Path) -> None:
    """Each page in light; some in dark and narrow too."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=SWITCHES)
        try:
            await look(browser, url, folder, SHOTS, "", WIDE)
            also = tuple(shot for shot in SHOTS if shot.name in ALSO)
            await look(browser, url, folder, also, "-dark", WIDE, dark=True)
            await look(browser, url, folder, also, "-narrow", NARROW)
        finally:
            await browser.close()


async def look(browser: Browser, url: str, folder: Path, shots: tuple[Shot, ...], ending: str, width: int, *, dark: bool = False) -> None:
    """These pages as a browser of that width shows them."""
    context = await browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        timezone_id="Etc/UTC",
        locale="en-GB",
    )
    page = await context.new_page()
    await page.goto(f"{url}/sign-in")
    await page.fill("#token", TOKEN)
    await page.click("form[action='/sign-in'] button")
    await page.wait_for_selector("#live[data-state=live]")
    for shot in shots:
        await page.goto(url + shot.path)
        if shot.follow:
            await page.click(shot.follow)
        await page.wait_for_selector("#live[data-state=live]")
        if await page.locator("[data-chart]").count():
            await page.wait_for_selector(".uplot canvas")
        height = min(shot.tall, int(await page.evaluate("document.documentElement.scrollHeight")))
        taken = await page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
        (folder / f"{shot.name}{ending}.png").write_bytes(small(taken))
    await context.close()


def small(taken: bytes) -> bytes:
    """The picture in few colours."""
    out = io.BytesIO()
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, kmeans=3, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def chromium() -> str | None:
    """The browser of the system; Playwright's own if there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(where))
