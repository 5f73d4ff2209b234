"""The stream of hints: one reader for all, gaps and restarts made good by a resync, and an end with the sign-in."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from covey.agents import living, tokens
from covey.agents.model import THE_OPERATOR
from covey.base.errors import StoreUnavailable
from covey.console import hints as hints_module
from covey.console import live
from covey.console.hints import NAMED, Hints, told
from covey.console.sharing import KEPT, KEPT_S, Shared
from covey.doors import news
from covey.doors.door import FleetDoor
from covey.store import Store, Transaction
from covey.store.events import Bookmark, Event
from tests.api.world import until
from tests.conftest import EIGHT, ManualClock
from tests.console.person import HTMX, URL, Person

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def happen(tx: Transaction, kind: str = "test.one", agent: str = "coder") -> None:
    tx.happened(kind, agent=agent, subject="thing_1", secret="words")


class Listener:
    """Reads a stream as a browser does."""

    def __init__(self, hints: Hints, since: str = "") -> None:
        self.hints = hints
        self.ear = hints.join(since)

    async def next(self) -> tuple[str, str, Any]:
        """The next part that is told: what it is, its id, what it says."""
        return (await self.parts())[0]

    async def parts(self) -> list[tuple[str, str, Any]]:
        while not (text := self.ear.take()):
            assert await self.ear.hears(10), "nothing was told"
        found = []
        for part in text.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in part.split("\n"))
            found.append((fields.get("event", "hint"), fields["id"], msgspec.json.decode(fields["data"])))
        return found

    def leave(self) -> None:
        self.hints.leave(self.ear)


def hints_of(store: Store, clock: ManualClock, before: Any = lambda _: None) -> Hints:
    return Hints(FleetDoor(store=store, settings=EIGHT, clock=clock), "edition", before)


async def test_what_happens_is_told_in_kinds_agents_and_ids_and_never_in_content(fleet: Store, clock: ManualClock) -> None:
    listener = Listener(hints_of(fleet, clock))
    kind, _, hello = await listener.next()
    assert (kind, hello["resync"], hello["edition"]) == ("hello", False, "edition")
    await fleet.write(happen)
    _, ident, hint = await listener.next()
    assert hint == {"number": hello["number"] + 1, "kinds": ["test.one"], "agents": ["coder"], "subjects": ["thing_1"]}
    assert ident == f"{hello['epoch']}.{hint['number']}"
    listener.leave()


async def test_one_reader_tells_all_who_listen(fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    hints = hints_of(fleet, clock)
    listeners = [Listener(hints) for _ in range(50)]
    for listener in listeners:
        await listener.next()
    reads = 0
    read = fleet.read

    async def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(*args, **kwargs)

    monkeypatch.setattr(fleet, "read", counted)
    await fleet.write(happen)
    assert {(await listener.next())[2]["number"] for listener in listeners} == {hints.last}
    assert reads <= 4
    for listener in listeners:
        listener.leave()


async def test_a_browser_that_comes_back_in_time_is_told_what_it_missed(fleet: Store, clock: ManualClock) -> None:
    hints = hints_of(fleet, clock)
    stays, leaves = Listener(hints), Listener(hints)
    await stays.next()
    _, last, _ = await leaves.next()
    leaves.leave()
    await fleet.write(happen, "test.missed")
    await stays.next()
    parts = await Listener(hints, last).parts()
    assert [(kind, body.get("resync"), body.get("kinds")) for kind, _, body in parts] == [
        ("hello", False, None),
        ("hint", None, ["test.missed"]),
    ]


@pytest.mark.parametrize(
    "since", ["0123456789ab.1", "x", ".", "….3", "{epoch}.", "{epoch}.-1", "{epoch}.999", "{epoch}.1e3", "{epoch}." + "9" * 5000]
)
@ONLY_SQLITE
async def test_a_browser_from_before_a_restart_or_with_nonsense_looks_at_everything(fleet: Store, clock: ManualClock, since: str) -> None:
    hints = hints_of(fleet, clock)
    kind, _, hello = await Listener(hints, since.replace("{epoch}", hints.epoch)).next()
    assert (kind, hello["resync"]) == ("hello", True)


@ONLY_SQLITE
async def test_who_comes_back_after_nobody_listened_looks_at_everything(fleet: Store, clock: ManualClock) -> None:
    hints = hints_of(fleet, clock)
    first = Listener(hints)
    _, last, _ = await first.next()
    first.leave()
    await fleet.write(happen)
    await until(lambda: not hints.follows, "nobody listens, and nobody follows")
    _, _, hello = await Listener(hints, last).next()
    assert hello["resync"]


@ONLY_SQLITE
async def test_who_falls_behind_all_that_is_kept_looks_at_everything(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints_module, "GATHER_S", 0.0)
    hints = hints_of(fleet, clock)
    hints._kept = type(hints._kept)(maxlen=2)
    slow, quick = Listener(hints), Listener(hints)
    await slow.next()
    await quick.next()
    for _ in range(4):
        await fleet.write(happen)
        await quick.next()
    (part,) = await slow.parts()
    assert (part[0], part[2]["resync"], part[2]["number"]) == ("hello", True, hints.last)


@ONLY_SQLITE
async def test_a_store_that_can_not_be_read_is_looked_at_again(fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints_module, "TROUBLE_S", 0.01)
    listener = Listener(hints_of(fleet, clock))
    await listener.next()
    read, failing = fleet.read, 2

    async def broken(*args: Any, **kwargs: Any) -> Any:
        nonlocal failing
        if failing:
            failing -= 1
            raise StoreUnavailable("for a moment")
        return await read(*args, **kwargs)

    await fleet.write(happen)
    monkeypatch.setattr(fleet, "read", broken)
    assert (await listener.next())[2]["kinds"] == ["test.one"]


def test_a_hint_that_would_name_too_many_names_none() -> None:
    many = [Event(Bookmark(0, n), 0.0, "a", f"agent-{n}", f"id-{n % 3}", {}) for n in range(NAMED + 1)]
    assert told(many) == {"kinds": ["a"], "agents": None, "subjects": ["id-0", "id-1", "id-2"]}


async def stream_of(person: Person, headers: dict[str, str] | None = None) -> tuple[list[str], asyncio.Event]:
    """The parts of a stream that was served whole, and what ends it from the browser's side."""
    scope = {
        "type": "http", "method": "GET", "path": "/live", "raw_path": b"/live", "query_string": b"", "root_path": "", "scheme": "http",
        "http_version": "1.1", "asgi": {"version": "3.0"}, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
        "headers": [(b"host", b"127.0.0.1:8000"), (b"cookie", person.cookies[b"cookie"]), *((k.encode(), v.encode()) for k, v in (headers or {}).items())],
    }  # fmt: skip
    parts: list[str] = []
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            parts.append(message["body"].decode())
        if "event: hello" in "".join(parts):
            gone.set()

    async with asyncio.timeout(20):
        await person.front(scope, receive, send)
    return parts, gone


async def test_a_stream_ends_with_its_browser(person: Person) -> None:
    parts, _ = await stream_of(person)
    assert parts[0] == "retry: 1000\n\n"
    assert parts[1].startswith("event: hello")
    assert person.console.hints.ears == 0


@ONLY_SQLITE
async def test_a_stream_ends_with_its_sign_in(person: Person, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.01)
    call = type("Call", (), {})()
    call.left, call.door, call.port = False, person.door, person.console

    async def recognise() -> Any:
        return await person.console.visits.caller(person.cookies)

    async def gone() -> None:
        await asyncio.Event().wait()

    call.recognise, call.gone = recognise, gone
    told_parts = []
    async for part in live._told(call, ""):
        told_parts.append(part)
        if part == b": still here\n\n":
            await person.store.write(tokens.put, "operator", tokens.hash_of("the-operators-next-token"))
            clock.at += 5
        assert len(told_parts) < 1000
    assert told_parts[-1] == b"event: signed-out\ndata: {}\n\n"


@ONLY_SQLITE
async def test_a_stream_ends_when_the_port_closes(person: Person) -> None:
    listener = Listener(person.console.hints)
    await listener.next()
    person.door.closing.set()
    assert await listener.ear.hears(10)


@ONLY_SQLITE
async def test_while_nothing_happens_the_store_is_asked_in_one_rhythm_however_many_watch(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "LOOK_S", 0.1)
    hints = hints_of(fleet, clock)
    listeners = [Listener(hints) for _ in range(50)]
    for listener in listeners:
        await listener.next()
    reads, read = 0, fleet.read

    async def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(*args, **kwargs)

    monkeypatch.setattr(fleet, "read", counted)
    assert not await listeners[0].ear.hears(1.0)
    assert reads <= 12
    assert all(not listener.ear.take() for listener in listeners)


# what is made once for all


@ONLY_SQLITE
async def test_a_part_is_made_once_for_all_who_ask_at_once(person: Person) -> None:
    await person.look("/")
    person.console.shared.forget()
    before = person.console.shared.made
    await asyncio.gather(*(person.http.get("/needs", headers=HTMX) for _ in range(20)))
    assert person.console.shared.made - before == 2, "the part, and the overview that it is made of"


@ONLY_SQLITE
async def test_a_part_is_made_anew_once_something_was_done_here(person: Person) -> None:
    rows = "/~rows?state=paused"
    assert "/agents/coder" not in (await person.http.get(rows, headers=HTMX)).text
    assert (await person.send("/agents/coder/pause")).status_code == 200
    assert "/agents/coder" in (await person.http.get(rows, headers=HTMX)).text


async def test_a_part_is_made_anew_before_a_hint_is_told(person: Person) -> None:
    listener = Listener(person.console.hints)
    await listener.next()
    await person.http.get("/~rows?state=paused", headers=HTMX)
    await person.store.write(living.pause, "sales", THE_OPERATOR)
    await listener.next()
    assert "/agents/sales" in (await person.http.get("/~rows?state=paused", headers=HTMX)).text
    listener.leave()


@ONLY_SQLITE
async def test_no_shared_part_holds_anything_of_one_sign_in(person: Person) -> None:
    await person.look("/")
    await person.look("/agents/coder")
    word = person.console.visits.word(person.cookies)
    paths = [each.path.replace("{name}", "coder") for each in person.console.operations if each.method == "GET"]
    for path in paths:
        if path in ("/live", "/sign-in") or "{" in path:
            continue
        answer = await person.http.get(path, headers=HTMX | {"HX-Current-URL": URL})
        if word in answer.text:
            assert not any(key.startswith(path) for key in person.console.shared._made), path


async def test_what_is_shared_lasts_a_second_and_an_error_not_at_all(clock: ManualClock) -> None:
    shared, made = Shared(clock), 0

    async def make() -> int:
        nonlocal made
        made += 1
        return made

    async def broken() -> int:
        raise StoreUnavailable("for a moment")

    assert [await shared.get("a", make), await shared.get("a", make)] == [1, 1]
    clock.at += KEPT_S
    assert await shared.get("a", make) == 2
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await shared.get("b", broken)
    assert await shared.get("b", make) == 3
    for n in range(KEPT * 2):
        await shared.get(str(n), make)
    assert len(shared._made) <= KEPT
