"""What links cost: sends with and without their checks, 10,000 agents over 50,000 links, 10,000 deferred messages that fall due at once."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.measuring import EIGHT, Figure, folder, ms, percentile, store_in
from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import AgentSettings, Settings
from covey.links.model import LinkChange
from covey.messages import addressing, admitting, releasing, relinking
from covey.messages.checking import check
from covey.messages.letters import Letter
from covey.messages.model import draft
from covey.messages.sending import send
from covey.store import Statement, Store, Transaction

NAMES = [agent.id for agent in EIGHT.agents]
BODY = "a message of an ordinary length, as agents write them to each other. " * 3
ROUNDS = 9
SENDS = 800
IN_FLIGHT = 64
AGENTS, LINKS = 10_000, 50_000
DUE = 10_000
LAPSE = Statement("bench:lapse", "UPDATE peer_states SET reset_at = :at")
MAKE_DUE = Statement("bench:make_due", "UPDATE copies SET deliver_at = :at WHERE state = 'deferred'")
CLEAR = Statement("bench:clear", "DELETE FROM peer_states")
MAKE_LINKS = Statement(
    "bench:make_links",
    """INSERT INTO links (id, one, other, messages, hours, debounce_s, limited, enabled, implied, version, created_at, created_by)
       SELECT 'link:' || a.id || ':' || b.id, a.id, b.id, 30, 6, 5, 1, 1, 0, 1, :now, 'operator'
         FROM json_each(:pairs) p JOIN agents a ON a.id = p.value ->> 0 JOIN agents b ON b.id = p.value ->> 1""",
)
MAKE_STATES = Statement(
    "bench:make_states",
    """INSERT INTO peer_states (link_id, channel, sender, credits, reset_at, last_at, recent)
       SELECT id, 'dm', one, 17, :now + 3600, :now - 60, '[["0123456789abcdef",1],["fedcba9876543210",2]]' FROM links""",
)


def _batch(tx: Transaction, start: int, count: int) -> float:
    """Processor seconds for so many sends of eight agents to each other in one transaction, each in a thread of its own."""
    began = time.thread_time()
    for number in range(start, start + count):
        sender, receiver = NAMES[number % 8], NAMES[(number + 1 + number // 8 % 7) % 8]
        send(tx, draft(receiver, f"{number} {BODY}", thread_id=f"t{number}"), as_agent(sender))
    return time.thread_time() - began


async def _set(store: Store, limits: str, messages: int = 500) -> None:
    await store.write(configuring.configure, msgspec.structs.replace(EIGHT, limits=limits))
    if limits == "on":
        change = LinkChange(messages_per_window=messages, debounce_s=0.0)
        for place, one in enumerate(NAMES):
            for other in NAMES[place + 1 :]:
                await store.write(relinking.change, one, other, change, THE_OPERATOR)


async def _verbs(path: Path) -> tuple[float, float, float]:
    """Processor seconds of a send's verb: without any link, with links and no limits, with all checks; the best of several
    runs in turns, since all that others do on the machine only adds to it."""
    found: dict[str, list[float]] = {"bare": [], "off": [], "on": []}
    async with store_in(path, full=False) as store:
        start = 0
        for turn in range(ROUNDS):
            for kind in ("bare", "off", "on") if turn % 2 else ("on", "off", "bare"):
                await _set(store, "off" if kind == "bare" else kind)
                whole = admitting.admit
                admitting.admit = _no_links if kind == "bare" else whole  # type: ignore[assignment]
                try:
                    found[kind].append(await store.write(_batch, start, SENDS) / SENDS)
                finally:
                    admitting.admit = whole
                start += SENDS
                await store.write(_clear)
    return tuple(min(found[kind]) for kind in ("bare", "off", "on"))  # type: ignore[return-value]


def _clear(tx: Transaction) -> None:
    tx.run(CLEAR)


def _no_links(tx: Transaction, _: Letter, receivers: list[str], __: str) -> dict[str, admitting.Admission]:
    """As it was before there were links: whether there is such a mailbox, and no more."""
    return {name: admitting.Admission(addressing.admit(tx, name)) for name in receivers}


async def _flight(path: Path, kind: str) -> float:
    """Sends a second, 64 in flight, each on disk: without any link, with links and no limits, with all checks."""
    whole = admitting.admit
    async with store_in(path) as store:
        await _set(store, "on" if kind == "on" else "off")
        admitting.admit = _no_links if kind == "bare" else whole  # type: ignore[assignment]

        async def lane(place: int) -> None:
            sender, receiver = NAMES[place % 8], NAMES[(place + 1 + place // 8 % 7) % 8]
            for number in range(40):
                await store.write(send, draft(receiver, f"{place} {number} {BODY}", thread_id=f"t{place}.{number}"), as_agent(sender))

        try:
            began = time.perf_counter()
            await asyncio.gather(*(lane(place) for place in range(IN_FLIGHT)))
            return IN_FLIGHT * 40 / (time.perf_counter() - began)
        finally:
            admitting.admit = whole


async def _alone(path: Path, kind: str) -> float:
    """The median of one durable send at a time."""
    whole = admitting.admit
    async with store_in(path) as store:
        await _set(store, "on" if kind == "on" else "off")
        admitting.admit = _no_links if kind == "bare" else whole  # type: ignore[assignment]
        took = []
        try:
            for number in range(200):
                words = draft("coder", f"{number} {BODY}", thread_id=f"t{number}")
                began = time.perf_counter()
                await store.write(send, words, as_agent("chief"))
                took.append(time.perf_counter() - began)
            return percentile(took, 0.5)
        finally:
            admitting.admit = whole


def _turns(path: Path, measured: Callable[[Path, str], Coroutine[Any, Any, float]]) -> dict[str, float]:
    """The medians of several runs of each kind, in turns."""
    found: dict[str, list[float]] = {"bare": [], "off": [], "on": []}
    for turn in range(5):
        for kind in ("bare", "off", "on") if turn % 2 else ("on", "off", "bare"):
            found[kind].append(asyncio.run(measured(path / f"{measured.__name__}{kind}{turn}", kind)))
    return {kind: statistics.median(runs) for kind, runs in found.items()}


def _name(number: int) -> str:
    return f"agent-{number:05d}"


async def _large(path: Path) -> float:
    """The p95 of what the rules of one send take among 10,000 agents and 50,000 links."""
    agents = tuple(AgentSettings(id=_name(number), port=10_000 + number) for number in range(AGENTS))
    async with store_in(path, full=False) as store:
        await store.write(configuring.configure, Settings(agents=agents, links="none"))
        pairs = [sorted((_name(number % AGENTS), _name((number * 7 + number // AGENTS * 13 + 1) % AGENTS))) for number in range(LINKS)]
        unique = [list(each) for each in dict.fromkeys(map(tuple, pairs)) if each[0] != each[1]]
        await store.write(_make, unique)
        return percentile(await store.write(_time_rules, unique), 0.95)


def _make(tx: Transaction, pairs: list[list[str]]) -> None:
    tx.run(MAKE_LINKS, pairs=msgspec.json.encode(pairs).decode(), now=tx.now)
    tx.run(MAKE_STATES, now=tx.now)


def _time_rules(tx: Transaction, pairs: list[list[str]]) -> list[float]:
    took = []
    for number in range(0, len(pairs), 25):
        sender, receiver = pairs[number]
        words = draft(receiver, f"{number} {BODY}", thread_id=f"t{number}")
        letter = Letter(f"m{number}", words, check(words), sender, None, [sender])
        began = time.perf_counter()
        admitting.admit(tx, letter, [receiver], f"t{number}")
        took.append(time.perf_counter() - began)
    return took


async def _due(path: Path) -> tuple[float, float]:
    """Seconds until 10,000 messages that fall due at once are delivered, and the longest that another send waited meanwhile."""
    async with store_in(path, full=False) as store:
        await _set(store, "on", messages=250)
        for start in range(0, 2 * DUE + 4000, 500):
            await store.write(_batch, start, 500)
        waits = await store.write(_make_all_due)
        assert waits >= DUE, waits
        done = asyncio.Event()
        slowest = asyncio.ensure_future(_others(store, done))
        began = time.perf_counter()
        delivered = 0
        while delivered < DUE and (step := await store.write(releasing.deliver_due)) > 0:
            delivered += step
        took = time.perf_counter() - began
        done.set()
        return took, await slowest


def _make_all_due(tx: Transaction) -> int:
    tx.run(LAPSE, at=tx.now - 1)
    return tx.run(MAKE_DUE, at=tx.now - 1)


async def _others(store: Store, done: asyncio.Event) -> float:
    """The longest that a send of the operator took meanwhile."""
    slowest, number = 0.0, 0
    while not done.is_set():
        began = time.perf_counter()
        await store.write(send, draft("coder", f"meanwhile {number}"), THE_OPERATOR)
        slowest, number = max(slowest, time.perf_counter() - began), number + 1
        await asyncio.sleep(0.01)
    return slowest


def measure() -> list[Figure]:
    """All figures of links."""
    with folder() as path:
        bare, off, on = asyncio.run(_verbs(path / "verbs"))
        flights, alone = _turns(path, _flight), _turns(path, _alone)
        large = asyncio.run(_large(path / "large"))
        due, wait = asyncio.run(_due(path / "due"))
    # judged: what the checks cost beside a whole durable send without any link; told: the verb alone
    checks, flight, one = on / bare - 1, flights["bare"] / flights["on"] - 1, alone["on"] / alone["bare"] - 1
    return [
        Figure(
            "a send's verb with all checks",
            f"{on * 1e6:.0f} µs (+{checks:.0%})",
            f"{off * 1e6:.0f} µs with limits = off, {bare * 1e6:.0f} µs without links",
            "",
            True,
        ),
        Figure(
            "64 sends in flight, full",
            f"{flights['on']:,.0f}/s (+{flight:.0%} a send)",
            f"{flights['off']:,.0f}/s with limits = off, {flights['bare']:,.0f}/s without links",
            "≤ 30 % more",
            flight <= 0.3,
        ),
        Figure(
            "one send alone, full, p50",
            f"{ms(alone['on'])} (+{one:.0%})",
            f"{ms(alone['off'])} with limits = off, {ms(alone['bare'])} without links",
            "≤ 30 % more",
            one <= 0.3,
        ),
        Figure("rules of a send, 10,000 agents, 50,000 links, p95", ms(large), "", "< 1 ms", large < 0.001),
        Figure("10,000 deferred messages fall due", f"{due:.1f} s", "", "< 5 s", due < 5),
        Figure("another send meanwhile, longest", ms(wait), "", "≤ 50 ms", wait <= 0.05),
    ]
