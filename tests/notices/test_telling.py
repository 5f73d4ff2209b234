"""The operator told elsewhere: what of its inbox, at least once, in bounds, by a real server where Apprise is there; on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from covey.agents.model import OPERATOR, as_agent
from covey.base.config import load_text
from covey.base.config.show import describe
from covey.base.errors import Misconfigured
from covey.cli import examining_ways
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import draft
from covey.notices import marking, telling
from covey.notices.model import DIGEST_LINES, TRIES, Notice, Words, channel_of, pause_s, worded
from covey.notices.telling import Telling
from covey.store import Store, events
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule

URL = "json://user:hunter2@127.0.0.1:1/path?token=hunter2"


class Channel:
    """Stands in for Apprise: takes what it is given, or does not."""

    def __init__(self) -> None:
        self.taken: list[Words] = []
        self.works = True
        self.raises: Exception | None = None
        self.calls = 0

    def send(self, url: str, words: Sequence[Words]) -> bool:
        self.calls += 1
        if self.raises is not None:
            raise self.raises
        if self.works:
            self.taken += words
        return self.works


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "is_installed", lambda: True)


async def alert(store: Store, text: str = "look") -> None:
    await store.write(sending.notify, OPERATOR, text, f"{text}, please", type="alert")


def of(store: Store, channel: Channel) -> Telling:
    return Telling(store, lambda: (URL,), channel.send)


async def told(store: Store) -> list[events.Event]:
    return (await store.read(events.after, events.START, kinds=("notice.",), limit=10_000)).events


async def test_alerts_are_told_once_each_and_nothing_else_is(fleet: Store) -> None:
    channel = Channel()
    rounds = of(fleet, channel)
    await alert(fleet, "an old one")
    await rounds.one_round()
    await alert(fleet)
    await fleet.write(sending.notify, OPERATOR, "quiet", "no alert")
    await fleet.write(sending.notify, "chief", "not for the operator", "an alert", type="alert")
    await fleet.write(sending.send, draft(OPERATOR, "it burns", priority="urgent"), as_agent("devops"))
    for _ in range(3):
        await rounds.one_round()
    assert [each.title for each in channel.taken] == ["Covey: look", "Covey: it burns"]
    assert "it burns" in channel.taken[1].body
    assert "from devops" in channel.taken[1].body
    inbox = await fleet.read(mail.inbox, OPERATOR)
    assert len(inbox.items) == 4, "its own inbox has all"


async def test_another_leader_goes_on_where_the_first_one_stopped(fleet: Store) -> None:
    channel = Channel()
    await of(fleet, channel).one_round()
    await alert(fleet, "first")
    await of(fleet, channel).one_round()
    await alert(fleet, "second")
    await of(fleet, channel).one_round()
    assert [each.title for each in channel.taken] == ["Covey: first", "Covey: second"]


async def test_what_could_not_be_told_is_tried_again_later_and_given_up_in_the_end(fleet: Store, clock: ManualClock) -> None:
    channel = Channel()
    rounds = of(fleet, channel)
    await rounds.one_round()
    await alert(fleet)
    channel.works = False
    await rounds.one_round()
    await rounds.one_round()
    assert channel.calls == 1, "not before its time"
    clock.at += 5
    await rounds.one_round()
    assert channel.calls == 2
    channel.works = True
    clock.at += 10
    await rounds.one_round()
    assert [each.title for each in channel.taken] == ["Covey: look"]
    channel.works = False
    await alert(fleet, "lost")
    for _ in range(3 * TRIES):
        await rounds.one_round()
        clock.at += 700
    assert channel.calls == 3 + TRIES
    assert [event.kind for event in await told(fleet)] == ["notice.failed", "notice.told", "notice.failed", "notice.given_up"]
    channel.works = True
    await alert(fleet, "after it")
    await rounds.one_round()
    assert channel.taken[-1].title == "Covey: after it"


async def test_no_address_is_logged_or_stored(fleet: Store, caplog: pytest.LogCaptureFixture) -> None:
    channel = Channel()
    channel.raises = RuntimeError(f"can't reach {URL}")
    rounds = of(fleet, channel)
    await rounds.one_round()
    await alert(fleet)
    await rounds.one_round()
    assert channel.calls == 1
    said = caplog.text + msgspec.json.encode([event.shown() for event in await told(fleet)]).decode()
    assert "1:json" in said
    assert "hunter2" not in said
    assert "127.0.0.1:1" not in said


async def test_a_channel_that_fails_holds_up_no_other(fleet: Store) -> None:
    broken, sound = Channel(), Channel()
    broken.raises = ValueError("no")

    def sender(url: str, words: Sequence[Words]) -> bool:
        return (broken if "one" in url else sound).send(url, words)

    rounds = Telling(fleet, lambda: ("json://one", "json://two"), sender)
    await rounds.one_round()
    await alert(fleet)
    await rounds.one_round()
    assert len(sound.taken) == 1


async def test_an_idle_fleet_writes_nothing_for_it(fleet: Store) -> None:
    rounds = of(fleet, Channel())
    await rounds.one_round()
    mark = await fleet.read(events.bookmark, "notices 1:json")
    await fleet.write(sending.notify, "chief", "s", "b")
    await rounds.one_round()
    await rounds.one_round()
    assert await fleet.read(events.bookmark, "notices 1:json") == mark
    assert await fleet.read(marking.is_begun, "1:json")


def test_many_alerts_make_one_digest_and_each_text_has_its_bound() -> None:
    some = [Notice(f"m{n}", "system", "high", f"alert {n}", "x" * 100_000, float(n)) for n in range(60)]
    assert [each.title for each in worded(some[:2])] == ["Covey: alert 0", "Covey: alert 1"]
    digest = worded(some)
    assert [each.title for each in digest] == ["Covey: 60 alerts"]
    assert digest[0].body.count("alert ") == DIGEST_LINES
    assert "and 40 earlier ones" in digest[0].body
    assert max(len(each.body) for each in [*worded(some[:3]), *digest]) < 6_000


def test_pauses_grow_to_ten_minutes_and_a_channel_is_called_by_its_kind_alone() -> None:
    assert [pause_s(n) for n in (1, 2, 3, 8, 1000)] == [5, 10, 20, 600, 600]
    assert channel_of(0, URL) == "1:json"


@asynccontextmanager
async def server(status: int = 200) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A real HTTP server that takes what is posted."""
    bodies: list[bytes] = []

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        bodies.append(await reader.readexactly(length))
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], bodies
    finally:
        listening.close()
        await listening.wait_closed()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_apprise_tells_a_real_server(fleet: Store) -> None:
    pytest.importorskip("apprise", exc_type=ImportError)
    async with server() as (port, bodies):
        rounds = Telling(fleet, lambda: (f"json://127.0.0.1:{port}/alerts",))
        await rounds.one_round()
        await alert(fleet, "coder: crash loop")
        await rounds.one_round()
        assert len(bodies) == 1
        said = msgspec.json.decode(bodies[0])
        assert said["title"] == "Covey: coder: crash loop"
        assert "please" in said["message"]
    async with server(500) as (port, bodies):
        assert not await asyncio.to_thread(telling.send, f"json://127.0.0.1:{port}", [Words("t", "b")])
    assert not await asyncio.to_thread(telling.send, "nosuchthing://x", [Words("t", "b")])
    assert [telling.is_known(url) for url in ("json://host/path", "nosuchthing://x")] == [True, False]


def test_doctor_says_what_is_missing_and_repeats_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = msgspec.structs.replace(EIGHT, notify=(URL,))
    monkeypatch.setattr(telling, "is_known", lambda url: url == URL)
    assert [each.level for each in examining_ways.channels(EIGHT)] == ["ok"]
    assert [each.level for each in examining_ways.channels(settings)] == ["ok"]
    monkeypatch.setattr(telling, "is_known", lambda _: False)
    assert [each.level for each in examining_ways.channels(settings)] == ["fail"]
    monkeypatch.setattr(telling, "is_installed", lambda: False)
    missing = list(examining_ways.channels(settings))
    assert [each.level for each in missing] == ["warn"]
    assert "covey[notify]" in missing[0].todo
    assert "hunter2" not in missing[0].text


@rule("A2")
def test_a_wrong_address_is_refused_and_none_is_shown(tmp_path: Path) -> None:
    assert load_text(f'[fleet]\nnotify = ["{URL}"]', root=tmp_path).notify == (URL,)
    with pytest.raises(Misconfigured) as refused:
        load_text('[fleet]\nnotify = ["hunter2 at example"]', root=tmp_path)
    assert "hunter2" not in str(refused.value.problem())
    shown = describe(msgspec.structs.replace(EIGHT, notify=(URL,)))
    assert shown["fleet"]["notify"] == ["json://***"]
