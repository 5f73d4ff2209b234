"""Where the fleet may call out to: no address leads into the private network unless it is allowed."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

from covey.base import outward
from covey.base.errors import Forbidden, Invalid, NotRunning
from covey.base.target import target_of

PRIVATE = (
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "::127.0.0.1", "2002:7f00:1::", "2001::1", "2001:db8::1",
)  # fmt: skip
PUBLIC = ("1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1")


@pytest.mark.parametrize("text", PRIVATE)
def test_a_private_address_is_refused_in_every_form(text: str) -> None:
    with pytest.raises(Forbidden, match="private address"):
        outward.check_address("hooks.example", text)


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_called(text: str) -> None:
    outward.check_address("hooks.example", text)
    assert outward.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("place", ["10.0.0.0/8", "10.1.2.3", "hooks.example", "HOOKS.example"])
def test_a_private_place_is_called_if_it_is_allowed_by_name_address_or_network(place: str) -> None:
    outward.check_address("hooks.example", "10.1.2.3", outward.Allowed([place]))
    outward.check_address("hooks.example", "::ffff:10.1.2.3", outward.Allowed([place]))
    with pytest.raises(Forbidden):
        outward.check_address("other.example", "192.168.0.1", outward.Allowed([place]))


@pytest.mark.parametrize("place", ["", "10.0.0.1/8", "a b", "https://x", "*"])
def test_what_is_no_place_can_t_be_allowed(place: str) -> None:
    with pytest.raises(Invalid) as caught:
        outward.Allowed([place])
    assert caught.value.field == "allow_private"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/",
        "//x",
        "https://",
        "http://u:p@x/",
        "http://x:0/",
        "http://x:99999/",
        "http://x/a b",
        "http://x/\n",
        "http://ü/",
        "http://x/" + "a" * 2000,
    ],
)
def test_what_is_no_plain_web_address_is_refused_by_its_field(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        target_of(url, "webhooks.url")
    assert caught.value.field == "webhooks.url"


def test_an_address_comes_apart_with_its_query() -> None:
    assert target_of("https://Hooks.Example/a?b=c") == ("https", "hooks.example", 443, "/a?b=c")
    assert target_of("http://[::1]:80").authority == "[::1]"
    assert target_of("http://x:8080/").authority == "x:8080"


def test_one_private_address_among_public_ones_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*_: Any, **__: Any) -> list[Any]:
        return [(0, 0, 0, "", ("1.1.1.1", 443)), (0, 0, 0, "", ("127.0.0.1", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(Forbidden, match=r"127\.0\.0\.1"):
        outward.addresses("rebound.example", 443)


def test_the_name_is_looked_up_once_and_the_connection_made_to_what_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def first_allowed_then_elsewhere(host: str, *_: Any, **__: Any) -> list[Any]:
            looked.append(host)
            return [(0, 0, 0, "", ("127.0.0.1" if len(looked) == 1 else "127.0.0.2", port))]

        made: list[Any] = []
        monkeypatch.setattr(socket, "getaddrinfo", first_allowed_then_elsewhere)

        def connecting(address: Any, **words: Any) -> Any:
            made.append(address)
            found = socket.socket()
            found.settimeout(words["timeout"])
            found.connect(address)
            return found

        monkeypatch.setattr(socket, "create_connection", connecting)
        connection = outward.connect(target_of(f"http://hooks.example:{port}/"), outward.Allowed(["127.0.0.1"]), timeout_s=5)
        connection.close()
    assert looked == ["hooks.example"]
    assert made == [("127.0.0.1", port)]


def test_nobody_there_is_said_and_no_redirect_or_proxy_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(NotRunning, match="can't be reached"):
        outward.connect(target_of(f"http://127.0.0.1:{port}/"), outward.Allowed(["127.0.0.1"]), timeout_s=2)
