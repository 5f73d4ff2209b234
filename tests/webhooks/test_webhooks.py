"""Webhooks: what is sent, signed so that a receiver can check it; at least once, in order, over failures, kills and hostile receivers."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from covey.agents import living
from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.app.groups import groups_of
from covey.base.config import load_text
from covey.base.config.changes import diff
from covey.base.config.show import describe, to_toml
from covey.base.errors import Misconfigured
from covey.base.settings import Settings, WebhookSettings
from covey.messages import reading as mail
from covey.store import Store, events
from covey.store.events import Event
from covey.webhooks import marking
from covey.webhooks.model import DOWN_S, TRIES, Verdict, key_of, pause_s, verdict_of
from covey.webhooks.sending import Sending, send
from tests.api.world import bearer, world_of
from tests.conftest import EIGHT, ManualClock

SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes, as is").decode()
TAKEN = Verdict(True)
DOWN = Verdict(False, "it answered with HTTP status 503")
REFUSED = Verdict(False, "it answered with HTTP status 422", refused=True)


class Receiver:
    """Stands in for what sends: takes what it is given, or does as it is told."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.calls = 0
        self.says: Verdict = TAKEN
        self.refuses: set[str] = set()

    def send(self, hook: WebhookSettings, event: Event, now: float) -> Verdict:
        self.calls += 1
        if event.agent in self.refuses:
            return REFUSED
        if self.says.taken:
            self.taken.append(str(event.agent))
        return self.says


def hook(url: str = "https://hooks.example/x", name: str = "crm", **fields: Any) -> WebhookSettings:
    return WebhookSettings(**{"name": name, "url": url, "kinds": ("agent.paused",), "secret": SECRET} | fields)


def of(store: Store, clock: ManualClock, receiver: Receiver, *hooks: WebhookSettings) -> Sending:
    return Sending(store, clock, lambda: hooks or (hook(),), receiver.send)


async def pause(store: Store, *names: str) -> None:
    for name in names:
        await store.write(living.pause, name, THE_OPERATOR)


async def told_of_webhooks(store: Store) -> list[str]:
    return [event.kind for event in (await store.read(events.after, events.START, kinds=("webhook.",), limit=10_000)).events]


async def alerts(store: Store) -> list[str]:
    return [each.content["subject"] for each in (await store.read(mail.inbox, OPERATOR)).items][::-1]


async def test_what_happens_from_now_on_is_told_once_in_order_and_only_what_was_asked_for(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    rounds = of(fleet, clock, receiver)
    await pause(fleet, "chief")
    await rounds.one_round()
    await pause(fleet, "coder", "sales")
    await fleet.write(living.resume, "sales", THE_OPERATOR)
    await pause(fleet, "sales")
    for _ in range(3):
        await rounds.one_round()
    assert receiver.taken == ["coder", "sales", "sales"]
    assert await told_of_webhooks(fleet) == []


async def test_another_leader_goes_on_where_the_first_one_stopped(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    await of(fleet, clock, receiver).one_round()
    await pause(fleet, "coder")
    await of(fleet, clock, receiver).one_round()
    await pause(fleet, "sales")
    await of(fleet, clock, receiver).one_round()
    assert receiver.taken == ["coder", "sales"]


async def test_a_failure_in_the_midst_repeats_nothing_that_was_taken(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    rounds = of(fleet, clock, receiver)
    await rounds.one_round()
    await pause(fleet, "coder", "sales", "ops")
    receiver.refuses = {"sales"}
    await rounds.one_round()
    receiver.refuses = set()
    clock.at += 5
    await rounds.one_round()
    assert receiver.taken == ["coder", "sales", "ops"]


async def test_a_receiver_that_is_down_is_tried_less_and_less_told_once_and_loses_nothing(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    rounds = of(fleet, clock, receiver)
    await rounds.one_round()
    await pause(fleet, "coder")
    receiver.says = DOWN
    await rounds.one_round()
    await rounds.one_round()
    assert receiver.calls == 1, "not before its time"
    for tries in range(1, TRIES + 3):
        clock.at += pause_s(tries)
        await rounds.one_round()
        assert receiver.calls == tries + 1
    assert await told_of_webhooks(fleet) == ["webhook.failed", "webhook.down"]
    assert await alerts(fleet) == ["Webhook crm: down"]
    await pause(fleet, "sales")
    receiver.says = TAKEN
    clock.at += DOWN_S
    await rounds.one_round()
    await rounds.one_round()
    assert receiver.taken == ["coder", "sales"]
    assert (await told_of_webhooks(fleet))[-1] == "webhook.back"
    now = await fleet.read(marking.health, "crm")
    assert (now.tries, now.down_since, now.retry_at, now.sent) == (0, None, None, 2)


async def test_an_event_that_is_refused_for_good_holds_up_no_other(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    receiver.refuses = {"sales"}
    rounds = of(fleet, clock, receiver)
    await rounds.one_round()
    await pause(fleet, "coder", "sales", "ops")
    for tries in range(TRIES + 1):
        await rounds.one_round()
        clock.at += pause_s(tries + 1)
    assert receiver.taken == ["coder", "ops"]
    assert receiver.calls == TRIES + 2
    assert (await fleet.read(marking.health, "crm")).given_up == 1
    assert await alerts(fleet) == ["Webhook crm: won't take an event"]


async def test_one_that_hangs_holds_up_no_other(fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.webhooks.sending.ROUND_S", 0.05)
    free, taken = threading.Event(), []

    def sender(one: WebhookSettings, event: Event, now: float) -> Verdict:
        if one.name == "slow":
            free.wait(20)
        taken.append(one.name)
        return TAKEN

    rounds = Sending(fleet, clock, lambda: (hook(name="slow"), hook(name="quick")), sender)
    await rounds.one_round()
    await pause(fleet, "coder", "sales")
    await rounds.one_round()
    await rounds.one_round()
    assert taken == ["quick", "quick"]
    free.set()
    for _ in range(100):
        if len(taken) == 4:
            break
        await rounds.one_round()
    assert sorted(taken) == ["quick", "quick", "slow", "slow"]


async def test_a_webhook_behind_what_is_kept_says_so_and_goes_on(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    await of(fleet, clock, receiver).one_round()
    await pause(fleet, "coder")
    clock.at += 1000
    await pause(fleet, "chief")
    while await fleet.write(events.prune, older_s=500.0, most_bytes=1_000_000_000):
        pass
    await of(fleet, clock, receiver).one_round()
    await pause(fleet, "sales")
    await of(fleet, clock, receiver).one_round()
    assert receiver.taken == ["sales"]
    assert await alerts(fleet) == ["Webhook crm: missed events"]


async def test_no_webhook_tells_of_webhooks_and_an_idle_one_writes_nothing(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    receiver.says = DOWN
    rounds = of(fleet, clock, receiver, hook(kinds=("webhook.", "agent.paused")))
    await rounds.one_round()
    await pause(fleet, "coder")
    await rounds.one_round()
    receiver.says = TAKEN
    clock.at += 5
    for _ in range(3):
        await rounds.one_round()
    assert receiver.taken == ["coder"]
    before = await fleet.read(events.last)
    place = await fleet.read(events.bookmark, "webhook crm")
    await fleet.write(living.resume, "coder", THE_OPERATOR)
    await rounds.one_round()
    assert await fleet.read(events.bookmark, "webhook crm") == place
    assert await fleet.read(events.last) > before


# over HTTP


class Request(NamedTuple):
    """What a receiver got."""

    line: str
    headers: dict[str, str]
    body: bytes


class Http:
    """A receiver on a real socket."""

    def __init__(self) -> None:
        self.got: list[Request] = []
        self.answer = b"HTTP/1.1 204 No Content\r\n\r\n"
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        self.got.append(Request(head[0], headers, await reader.readexactly(int(headers["content-length"]))))
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    found = Http()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    yield found
    server.close()
    await server.wait_closed()


async def test_a_receiver_can_check_what_it_gets(fleet: Store, clock: ManualClock, http: Http) -> None:
    one = hook(f"http://127.0.0.1:{http.port}/in?x=1", allow_private=("127.0.0.1",))
    rounds = Sending(fleet, clock, lambda: (one,))
    await rounds.one_round()
    await pause(fleet, "coder")
    await rounds.one_round()
    (got,) = http.got
    assert got.line == "POST /in?x=1 HTTP/1.1"
    assert got.headers["content-type"].startswith("application/cloudevents+json")
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = base64.b64encode(hmac.new(b"a key of thirty-two bytes, as is", signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(got.headers["webhook-timestamp"]) - clock.wall()) < 2
    event = json.loads(got.body)
    assert {name: event[name] for name in ("specversion", "type", "source", "datacontenttype")} == {
        "specversion": "1.0",
        "type": "covey.agent.paused",
        "source": "/covey/agents/coder",
        "datacontenttype": "application/json",
    }
    assert got.headers["webhook-id"] == f"evt_{event['id']}"
    assert event["data"]["agent"] == "coder"
    assert event["time"].endswith("Z")


@pytest.mark.parametrize(
    ("answer", "said", "refused"),
    [
        (b"HTTP/1.1 503 No\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n", "HTTP status 503", False),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", "HTTP status 302", False),
        (b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "HTTP status 401", False),
        (b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", "HTTP status 400", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000, "more than 65,536 bytes", False),
        (b"hello", "no whole HTTP answer", False),
        (b"", "no whole HTTP answer", False),
    ],
)
async def test_whatever_a_receiver_answers_is_judged_and_nothing_raised(http: Http, answer: bytes, said: str, refused: bool) -> None:
    http.answer = answer
    event = Event(events.Bookmark(0, 7), 1_800_000_000.0, "task.done", "coder", "task_1", {"state": "done"})
    found = await asyncio.to_thread(send, hook(f"http://127.0.0.1:{http.port}/", allow_private=("127.0.0.0/8",)), event, 1_800_000_000.0)
    assert (found.taken, found.refused) == (False, refused)
    assert said in found.said
    assert found.after_s == (120.0 if b"Retry-After" in answer else 0.0)


async def test_a_private_address_is_not_called_unless_it_is_allowed(http: Http) -> None:
    event = Event(events.Bookmark(0, 7), 1.0, "task.done", None, None, {})
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
        found = await asyncio.to_thread(send, hook(f"http://{host}:{http.port}/"), event, 1.0)
        assert "private address" in found.said, host
    assert http.got == []


async def test_neither_the_address_nor_the_secret_is_logged_or_stored(
    fleet: Store, clock: ManualClock, http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    http.answer = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
    one = hook(f"http://127.0.0.1:{http.port}/hunter2", allow_private=("127.0.0.1",), secret="hunter2-hunter2-hunter2")
    rounds = Sending(fleet, clock, lambda: (one,))
    await rounds.one_round()
    await pause(fleet, "coder")
    await rounds.one_round()
    assert len(http.got) == 1
    story = await fleet.read(events.after, events.START, limit=10_000)
    now = await fleet.read(marking.health, "crm")
    assert "hunter2" not in caplog.text + str(story) + str(now)
    assert "HTTP status 500" in now.said


async def test_the_secret_comes_from_the_environment_if_it_is_to(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    event = Event(events.Bookmark(0, 7), 1.0, "task.done", None, None, {})
    one = hook(f"http://127.0.0.1:{http.port}/", allow_private=("127.0.0.1",), secret="env:HOOK_SECRET")
    found = await asyncio.to_thread(send, one, event, 1.0)
    assert "HOOK_SECRET" in found.said
    monkeypatch.setenv("HOOK_SECRET", "short")
    assert "shorter than" in (await asyncio.to_thread(send, one, event, 1.0)).said
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    assert (await asyncio.to_thread(send, one, event, 1.0)).taken


def test_keys_and_answers_by_their_form() -> None:
    assert key_of(SECRET) == b"a key of thirty-two bytes, as is"
    assert key_of("a plain secret of some length") == b"a plain secret of some length"
    for wrong in ("whsec_!!", "whsec_YWJj", "short"):
        with pytest.raises(ValueError, match=r"base64|shorter"):
            key_of(wrong)
    assert [verdict_of(status).taken for status in (200, 204, 301, 404, 500)] == [True, True, False, False, False]
    assert [pause_s(tries) for tries in (1, 2, 3, 8, TRIES - 1, TRIES, TRIES + 5)] == [5, 10, 20, 600, 600, DOWN_S, DOWN_S]
    assert verdict_of(429, "9" * 5).after_s == DOWN_S
    assert verdict_of(429, "Wed, 21 Oct 2026 07:28:00 GMT").after_s == 0.0


# settings

GOOD = """
[webhooks.crm]
url = "https://hooks.example/x?key=hunter2"
kinds = ["task.done", "vote."]
secret = "hunter2-hunter2-hunter2"
allow_private = ["10.0.0.0/8", "hooks.internal"]
"""


def load(text: str) -> Settings:
    return load_text(text, root=Path("/"))


def test_a_webhook_is_read_shown_without_secrets_and_applies_live() -> None:
    settings = load(GOOD)
    (one,) = settings.webhooks
    assert (one.name, one.kinds, one.allow_private) == ("crm", ("task.done", "vote."), ("10.0.0.0/8", "hooks.internal"))
    told = describe(settings)["webhooks"]["crm"]
    assert (told["url"], told["secret"]) == ("https://hooks.example/***", "***")
    assert "hunter2" not in to_toml(settings)
    assert load(to_toml(settings, secrets=True)) == settings
    (change,) = diff(load(""), settings)
    assert (change.section, change.name, change.how, change.restart) == ("webhooks", "crm", "added", "nothing")
    assert groups_of(settings) == groups_of(load("")), "no process starts anew for it"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ('url = "https://hooks.example/x?key=hunter2"', 'url = "ftp://hunter2"'),
        ('url = "https://hooks.example/x?key=hunter2"', 'url = "http://user:hunter2"'),
        ('url = "https://hooks.example/x?key=hunter2"', "url = 7"),
        ('url = "https://hooks.example/x?key=hunter2"', ""),
        ('kinds = ["task.done", "vote."]', "kinds = []"),
        ('kinds = ["task.done", "vote."]', 'kinds = ["*"]'),
        ('secret = "hunter2-hunter2-hunter2"', 'secret = "hunter2"'),
        ('secret = "hunter2-hunter2-hunter2"', 'secret = "whsec_hunter2"'),
        ('secret = "hunter2-hunter2-hunter2"', 'secret = "env:hunter2 x"'),
        ('secret = "hunter2-hunter2-hunter2"', ""),
        ('allow_private = ["10.0.0.0/8", "hooks.internal"]', 'allow_private = ["10.0.0.1/8"]'),
        ("[webhooks.crm]", "[webhooks.crm]\nretries = 3"),
    ],
)
def test_a_webhook_that_can_t_be_used_is_refused_with_its_line_and_without_its_secret(written: str, fault: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        load(GOOD.replace(written, fault))
    assert len(caught.value.faults) == 1, caught.value.message
    assert "webhooks" in caught.value.message
    assert "hunter2" not in caught.value.message
    assert caught.value.faults[0]["line"] > 1


def test_without_webhooks_nothing_of_them_is_kept() -> None:
    assert EIGHT.webhooks == ()
    assert msgspec.json.decode(msgspec.json.encode(load(GOOD)), type=Settings) == load(GOOD)


# doors


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_how_a_webhook_fares_is_shown_and_a_try_had_at_once(fleet: Store, clock: ManualClock) -> None:
    receiver = Receiver()
    settings = msgspec.structs.replace(EIGHT, webhooks=(hook("https://hooks.example/hunter2?key=hunter2"),))
    rounds = Sending(fleet, clock, lambda: settings.webhooks, receiver.send)
    async with world_of(fleet, clock, settings) as world:

        async def look() -> dict[str, Any]:
            answer = await world.fleet.get("/api/v1/webhooks", headers=bearer("operator"))
            assert "hunter2" not in answer.text
            (found,) = answer.json()["items"]
            return dict(found)

        assert (await look())["state"] == "new"
        await rounds.one_round()
        await pause(fleet, "coder")
        receiver.says = DOWN
        await rounds.one_round()
        found = await look()
        assert (found["at"], found["state"], found["tries"], found["said"]) == ("hooks.example", "retries", 1, DOWN.said)
        receiver.says = TAKEN
        await world.fleet.post("/api/v1/webhooks/crm/retry", headers=bearer("operator"))
        await rounds.one_round()
        found = await look()
        assert (found["state"], found["sent"], found["tries"]) == ("works", 1, 0)
        missing = await world.fleet.post("/api/v1/webhooks/crn/retry", headers=bearer("operator"))
        assert missing.status_code == 404
