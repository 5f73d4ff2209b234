"""A web page must not reach a local fleet: Host, Origin and Sec-Fetch-Site on every port (DESIGN, Security)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.errors import ForeignOrigin
from covey.base.settings import Settings
from covey.doors.hosts import Asked, Hosts, name_of
from covey.messages import reading
from covey.store import Store
from tests.api.world import World, bearer, problem_of, world_of
from tests.conftest import EIGHT, ManualClock


def request(
    host: str | None = "localhost:8002",
    origin: str | None = None,
    *,
    method: str = "POST",
    site: str | None = None,
    bound_to: str = "127.0.0.1",
) -> Asked:
    def raw(text: str | None) -> bytes | None:
        return text.encode("latin-1") if text is not None else None

    return Asked(method, raw(host), raw(origin), raw(site), bound_to)


def bound(host: str = "127.0.0.1", *allowed: str) -> Hosts:
    return Hosts(msgspec.structs.replace(EIGHT, host=host, allowed_hosts=allowed))


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8002", "LOCALHOST:1", "localhost.", "127.0.0.1", "127.0.0.1:8002", "[::1]", "[::1]:8002"]
)
def test_a_loopback_name_is_ours_on_any_port(host: str) -> None:
    assert bound().check(request(host))


@pytest.mark.parametrize(
    "host",
    [
        None, "", "evil.example", "evil.example:8002", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "0.0.0.0", "localhost:8002:1",
        "localhost@evil.example", "evil.example#localhost", "[::1", "::1", "[localhost]", "localhost:port", " localhost", "locаlhost".encode().decode("latin-1"),
    ],
)  # fmt: skip
def test_any_other_host_is_foreign_for_reads_and_writes(host: str | None) -> None:
    for method in ("GET", "POST", "HEAD"):
        with pytest.raises(ForeignOrigin) as refused:
            bound().check(request(host, method=method))
        assert refused.value.field == "Host"


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8000", "https://[::1]", "http://LOCALHOST"])
def test_a_page_of_this_machine_may_call(origin: str) -> None:
    assert bound().check(request(origin=origin, site="same-site"))


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://evil.example:8002", "http://localhost.evil.example", "file://", "http://localhost@evil.example",
     "chrome-extension://abcdef", "http://localhost/path", "localhost"],
)  # fmt: skip
def test_a_page_of_another_site_may_not_whatever_it_does(origin: str) -> None:
    for method in ("GET", "POST"):
        with pytest.raises(ForeignOrigin) as refused:
            bound().check(request(origin=origin, method=method))
        assert refused.value.field == "Origin"


def test_a_cross_site_write_is_refused_even_without_an_origin() -> None:
    with pytest.raises(ForeignOrigin):
        bound().check(request(site="cross-site"))
    assert bound().check(request(site="cross-site", method="GET"))
    assert bound().check(request(site="none"))


def test_listed_names_and_the_bound_one_are_ours_but_not_loopback() -> None:
    hosts = bound("192.0.2.7", "fleet.example", "[2001:db8::1]")
    for name in ("fleet.example:80", "192.0.2.7:8000", "[2001:db8::1]:8000"):
        assert not hosts.check(request(name, f"http://{name}"))
    with pytest.raises(ForeignOrigin):
        hosts.check(request("other.example"))


def test_bound_to_all_addresses_the_one_that_was_called_is_ours_and_no_name_is() -> None:
    hosts = bound("0.0.0.0")
    assert not hosts.check(request("192.0.2.9:8000", bound_to="192.0.2.9"))
    with pytest.raises(ForeignOrigin):
        hosts.check(request("192.0.2.9:8000", bound_to="192.0.2.10"))
    with pytest.raises(ForeignOrigin):
        hosts.check(request("evil.example", bound_to="evil.example"))


@given(st.text(max_size=60))
def test_no_text_is_a_foreign_name_and_ours_at_once(text: str) -> None:
    name = name_of(text)
    try:
        bound().check(request(text.encode("utf-8", "replace").decode("latin-1")))
    except ForeignOrigin:
        return
    assert name in ("localhost", "127.0.0.1", "::1")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example:8002"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
)
async def test_every_port_refuses_a_foreign_page_though_it_has_a_token(world: World, headers: dict[str, str]) -> None:
    for client, path in ((world.agent, "/message"), (world.fleet, "/api/v1/messages")):
        answer = await client.post(path, json={"to": "coder", "content": {"body": "x"}}, headers={**headers, **bearer("operator")})
        assert (answer.status_code, problem_of(answer)["code"]) == (403, "foreign_origin")
    assert await world.store.read(reading.latest) == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("path", ["/health", "/status", "/metrics", "/docs", "/openapi.json"])
async def test_rebound_names_read_nothing(world: World, path: str) -> None:
    answer = await world.agent.get(path, headers={"Host": "rebound.example:8002"})
    assert problem_of(answer)["code"] == "foreign_origin"
    for page in ("/healthz", "/metrics", "/api/v1/events"):
        assert (
            problem_of(await world.fleet.get(page, headers={"Host": "rebound.example", "Accept": "text/event-stream"}))["code"]
            == "foreign_origin"
        )


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_names_listed_while_it_serves_hold_at_once(world: World) -> None:
    assert (await world.agent.get("/health", headers={"Host": "fleet.example"})).status_code == 403
    world.agent_port.door.settings = msgspec.structs.replace(world.settings, allowed_hosts=("fleet.example",))
    assert (await world.agent.get("/health", headers={"Host": "fleet.example"})).status_code == 200


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("settings", "host", "status", "metrics"),
    [
        (EIGHT, "127.0.0.1:8002", 200, 200),
        (msgspec.structs.replace(EIGHT, allowed_hosts=("fleet.example",)), "fleet.example", 401, 401),
        (msgspec.structs.replace(EIGHT, host="0.0.0.0"), "127.0.0.1:8002", 401, 401),
        (msgspec.structs.replace(EIGHT, host="0.0.0.0", open_status=True), "127.0.0.1:8002", 200, 401),
        (msgspec.structs.replace(EIGHT, host="0.0.0.0", open_metrics=True), "127.0.0.1:8002", 401, 200),
    ],
    ids=["loopback", "loopback by another name", "all addresses", "open_status", "open_metrics"],
)
async def test_status_and_metrics_are_open_on_loopback_or_by_the_settings(
    fleet: Store, clock: ManualClock, settings: Settings, host: str, status: int, metrics: int
) -> None:
    async with world_of(fleet, clock, settings) as world:
        assert (await world.agent.get("/status", headers={"Host": host})).status_code == status
        assert (await world.agent.get("/status", headers={"Host": host, **bearer("sales")})).status_code == 200
        for client in (world.agent, world.fleet):
            assert (await client.get("/metrics", headers={"Host": host})).status_code == metrics
            assert (await client.get("/health", headers={"Host": host})).status_code == 200
