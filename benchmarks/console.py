"""What the console costs its process: fifty browsers that watch a busy fleet, one that watches an idle one; and how long a page takes.

A browser here does what `live.js` does: one stream of hints, and each part of the page that a hint concerns fetched again, at most
each 1.5 s; what no hint touched each 15 s.
"""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing as mp
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import psutil

from benchmarks.measuring import Figure, folder, ms, percentile, store_in
from covey.agents import configuring, tokens
from covey.agents.model import as_agent
from covey.app.front import make_app
from covey.base.clock import SystemClock
from covey.base.settings import AgentSettings, Settings
from covey.console.assets import assets
from covey.doors.door import FleetDoor
from covey.doors.serving import serve
from covey.messages import sending
from covey.messages.model import draft
from covey.store import DatagramBell, Store
from covey.store.sqlite import SqliteEngine

TOKEN = "a-token-of-the-benchmark-alone"
BROWSERS = 50
EVENTS_S = 20
WATCHED_S = 20.0
AGAIN_S, AT_LEAST_S = 1.5, 15.0
PARTS = {
    "/needs": ("agent.", "task.", "message.", "incident.", "breaker.", "thread.", "vote."),
    "/~rows?q=&state=&sort=&cursor=": ("agent.", "task.", "message.", "incident.", "breaker."),
    "/ring": ("agent.", "message.", "link.", "buddy."),
    "/response-times": ("message.handled",),
}
"""The parts of the overview, and the kinds of events that they show."""
PAINTED = """new Promise((tell) => new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") tell(entry.startTime);
}).observe({ type: "paint", buffered: true }))"""
"""When the page showed something first, in milliseconds from its beginning. The console's policy lets no text be run as a script."""


def fleet_of(size: int) -> Settings:
    """A fleet of so many agents, without quotas."""
    agents = tuple(AgentSettings(id=f"a{n}", port=10_000 + n, buddy=f"a{n ^ 1}", role=f"What agent {n} does all day") for n in range(size))
    return Settings(agents=agents, limits="off", console_port=8000)


def _serve(path: str, size: int, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def run() -> None:
        settings = fleet_of(size)
        async with store_in(Path(path), full=False) as store:
            await store.write(configuring.configure, settings)
            await store.write(tokens.put, "operator", tokens.hash_of(TOKEN))
            serving = await serve(make_app(FleetDoor(store=store, settings=settings)), "127.0.0.1", 0)
            ready.put(serving.port)
            await asyncio.to_thread(stop.get)
            await serving.stop()

    asyncio.run(run())


class Browser:
    """One connection for pages and parts, one for the stream."""

    def __init__(self, port: int, cookie: str = "") -> None:
        self.port = port
        self.cookie = cookie
        self.fetched = 0
        self.hints = 0
        self._stale: set[str] = set()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """One request over the connection for pages."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        host = f"127.0.0.1:{self.port}"
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {self.cookie}\r\nHX-Request: true\r\nOrigin: http://{host}\r\n"
        form = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{head}{form}\r\n".encode() + body)
        status, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        return status, headers, await reader.readexactly(int(headers["content-length"]))

    async def sign_in(self) -> str:
        """The cookie of a new sign-in."""
        _, headers, _ = await self.ask("POST", "/sign-in", f"token={TOKEN}".encode())
        self.cookie = headers["set-cookie"].partition(";")[0]
        return self.cookie

    async def watch(self) -> None:
        """Keep the overview true until cancelled."""
        await asyncio.gather(self._hear(), self._keep_true())

    async def _hear(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n"
        writer.write(f"{head}Accept: text/event-stream\r\n\r\n".encode())
        while line := await reader.readline():
            if not line.startswith(b"data: "):
                continue
            kinds = msgspec.json.decode(line[6:]).get("kinds", ["agent.", "message.handled"])
            self.hints += 1
            self._stale |= {part for part, wanted in PARTS.items() if any(kind.startswith(wanted) for kind in kinds)}

    async def _keep_true(self) -> None:
        fetched_at = time.monotonic()
        while True:
            await asyncio.sleep(AGAIN_S)
            if time.monotonic() - fetched_at > AT_LEAST_S:
                self._stale |= set(PARTS)
            parts, self._stale = self._stale, set()
            for part in parts:
                status, _, _ = await self.ask("GET", part)
                assert status == 200, status
                self.fetched += 1
                fetched_at = time.monotonic()


def _head(raw: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = raw.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


async def _busy(store: Store) -> None:
    """Mail between the agents, so many messages a second."""
    n, began = 0, time.monotonic()
    while True:
        n += 1
        await store.write(sending.send, draft(f"a{n % 8}", f"message {n}"), as_agent(f"a{(n + 1) % 8}"), wait_s=60)
        await asyncio.sleep(max(0.0, began + n / EVENTS_S - time.monotonic()))


@asynccontextmanager
async def _also(work: Callable[[], Awaitable[None]], times: int = 1) -> Any:
    tasks = [asyncio.ensure_future(work()) for _ in range(times)]
    try:
        yield
        for task in tasks:
            assert not task.done(), task.exception()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _second_store(path: Path) -> AsyncIterator[Store]:
    """The server's store, as another process has it."""
    bell = DatagramBell(path / "bells")
    store = Store(SqliteEngine(path / "store.db", SystemClock(), full=False), bell)
    try:
        yield store
    finally:
        await store.close()
        bell.close()


async def _share_of_a_core(pid: int, seconds: float) -> float:
    process = psutil.Process(pid)
    before, began = sum(process.cpu_times()[:2]), time.monotonic()
    await asyncio.sleep(seconds)
    return float(sum(process.cpu_times()[:2]) - before) / (time.monotonic() - began)


async def _watched(port: int, pid: int, path: Path) -> tuple[float, int, int]:
    cookie = await Browser(port).sign_in()
    browsers = [Browser(port, cookie) for _ in range(BROWSERS)]
    async with _second_store(path) as store, _also(lambda: _busy(store)), asyncio.TaskGroup() as group:
        watching = [group.create_task(each.watch()) for each in browsers]
        await asyncio.sleep(3.0)
        share = await _share_of_a_core(pid, WATCHED_S)
        for task in watching:
            task.cancel()
    return share, sum(each.hints for each in browsers), sum(each.fetched for each in browsers)


async def _idle(port: int, pid: int) -> float:
    browser = Browser(port)
    await browser.sign_in()
    async with _also(browser.watch):
        await asyncio.sleep(3.0)
        return await _share_of_a_core(pid, WATCHED_S)


async def _page(port: int) -> float:
    """The median time of an overview that nobody else has asked for, as its reader waits for it."""
    browser = Browser(port)
    await browser.sign_in()
    times = []
    for _ in range(12):
        await asyncio.sleep(1.05)  # what was made is shared for a second
        began = time.perf_counter()
        status, _, _ = await browser.ask("GET", "/")
        times.append(time.perf_counter() - began)
        assert status == 200, status
    return percentile(times, 0.5)


async def _size(port: int) -> int:
    """What a browser that has nothing yet is sent at most: the overview, and every asset that any page takes, packed."""
    browser = Browser(port)
    await browser.sign_in()
    _, _, body = await browser.ask("GET", "/")
    return len(gzip.compress(body)) + sum(len(each.packed) for each in assets().values())


async def _first_paint(port: int) -> float | None:
    """The median time to the overview's first paint in Chromium, which has nothing of it yet; None where there is none."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or find_spec("playwright") is None:
        return None
    from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        times = [await _painted(browser, port) for _ in range(7)]
        await browser.close()
    return percentile(times, 0.5)


async def _painted(browser: Any, port: int) -> float:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"http://127.0.0.1:{port}/sign-in")
    await page.fill("#token", TOKEN)
    session = await context.new_cdp_session(page)
    await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    await page.click("form[action='/sign-in'] button")
    await page.wait_for_selector("#live[data-state=live]")
    await page.goto(f"http://127.0.0.1:{port}/")
    painted = await page.evaluate(PAINTED)
    await context.close()
    return float(painted) / 1000


def _with_server(size: int, work: Callable[[int, int, Path], Awaitable[Any]]) -> Any:
    context = mp.get_context("spawn")
    with folder() as path:
        ready: mp.Queue[int] = context.Queue()
        stop: mp.Queue[int] = context.Queue()
        process = context.Process(target=_serve, args=(str(path), size, ready, stop))
        process.start()
        try:
            assert process.pid is not None
            return asyncio.run(work(ready.get(timeout=60), process.pid, path))  # type: ignore[arg-type]
        finally:
            stop.put(1)
            process.join(30)


def measure() -> list[Figure]:
    """One run each: what is measured goes on for a while by itself."""
    share, hints, fetched = _with_server(8, _watched)
    idle = _with_server(8, lambda port, pid, _: _idle(port, pid))
    eight = _with_server(8, lambda port, _, __: _page(port))
    thousand = _with_server(1000, lambda port, _, __: _page(port))
    size = _with_server(8, lambda port, _, __: _size(port))
    painted = _with_server(8, lambda port, _, __: _first_paint(port))
    beside = f"{hints:,} hints and {fetched:,} parts fetched"
    return [
        Figure(f"console, {BROWSERS} browsers, {EVENTS_S} messages/s", f"{share:.1%} of a core", beside, "< 20 %", share < 0.2),
        Figure("console, one browser, nothing happens", f"{idle:.2%} of a core", "–", "< 1 %", idle < 0.01),
        Figure("overview of 8 agents", ms(eight), "–", "< 50 ms", eight < 0.05),
        Figure("overview of 1,000 agents", ms(thousand), "–", "< 300 ms", thousand < 0.3),
        Figure("overview with all assets of the console, packed", f"{size / 1000:.0f} kB", "–", "≤ 100 kB", size <= 100_000),
        Figure(
            "overview's first paint, nothing cached",
            ms(painted) if painted is not None else "–",
            "–" if painted is not None else "no Chromium or Playwright",
            "< 300 ms",
            painted is None or painted < 0.3,
        ),
    ]
