"""The gateway's doors: there where their packages are, absent and said to be so where they are not; nothing of them loaded before."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import msgspec
import pytest

from covey.app import gateway, gateway_doors, groups
from covey.base.errors import Misconfigured
from covey.base.settings import Settings
from covey.cli import examining_ways
from covey.doors.door import FleetDoor
from covey.store import Store
from tests.conftest import EIGHT

OFF = msgspec.structs.replace(EIGHT, gateway="off")


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the extras is there."""

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(gateway_doors, "distribution", missing)


def names(settings: Settings) -> list[str]:
    return [group.name for group in groups.groups_of(settings)]


def test_a_gateway_runs_where_it_has_something_to_serve() -> None:
    assert names(EIGHT)[-2:] == ["console", "gateway"]
    assert names(OFF)[-1:] == ["console"]


def test_without_the_extras_there_is_no_gateway_and_the_doctor_says_how_to_get_one(nothing_installed: None) -> None:
    assert names(EIGHT)[-1:] == ["console"]
    found = list(examining_ways.gateway(EIGHT))
    assert all(each.level == "ok" for each in found)
    assert any('pip install "covey[mcp]"' in each.text for each in found)


async def test_a_gateway_alone_without_the_extras_ends_with_what_to_do(nothing_installed: None, fleet: Store) -> None:
    with pytest.raises(Misconfigured, match=r"covey\[mcp\]"):
        async with gateway.opened(FleetDoor(store=fleet, settings=EIGHT), ""):
            pass


def test_a_folder_of_the_same_name_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "notapackage").mkdir()
    assert not gateway_doors.has("notapackage")


def test_a_package_that_is_there_without_what_its_door_needs_beside_it_opens_no_door(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_but_grpc(name: str) -> object:
        if name == "grpcio":
            raise PackageNotFoundError(name)
        return object()

    monkeypatch.setattr(gateway_doors, "distribution", all_but_grpc)
    assert [door.name for door in gateway_doors.there()] == ["MCP"]
