"""An agent's card: made by our own code, one for both versions, kept by its ETag."""

from __future__ import annotations

import subprocess
import sys

import httpx
import msgspec
from a2a.client.card_resolver import parse_agent_card
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.proto_utils import validate_proto_required_fields

from covey.agents import roster
from covey.base.settings import A2aSettings
from covey.reports.cards import card
from covey.store import Store
from tests.a2a.conftest import MakeWorld
from tests.a2a.world import call
from tests.api.world import bearer
from tests.conftest import EIGHT
from tests.rules import rule
from tests.runner.office import done

PATH = "/.well-known/agent-card.json"


async def test_the_card_is_whole_and_read_by_clients_of_both_versions(fleet: Store) -> None:
    coder = await fleet.read(roster.find, "coder")
    shown = card(coder, EIGHT, "fleet.example.org")
    older = parse_agent_card({key: value for key, value in shown.items() if key != "supportedInterfaces"})
    newer = parse_agent_card(dict(shown))
    validate_proto_required_fields(newer)
    assert isinstance(newer, AgentCard)
    assert [(each.protocol_binding, each.protocol_version, each.tenant) for each in newer.supported_interfaces] == [
        ("JSONRPC", "1.0", ""),
        ("HTTP+JSON", "1.0", ""),
        ("GRPC", "1.0", "coder"),
        ("JSONRPC", "0.3", ""),
        ("HTTP+JSON", "0.3", ""),
    ]
    assert older.supported_interfaces[0].url == "http://fleet.example.org:8900/a2a/coder"
    assert [skill.id for skill in newer.skills] == list(coder.capabilities)


async def test_the_card_says_what_the_fleet_offers(fleet: Store) -> None:
    coder = await fleet.read(roster.find, "coder")
    bare = msgspec.structs.replace(EIGHT, a2a=A2aSettings(streaming=False, push=False, extended_card=False, required_extensions=("urn:x",)))
    assert card(coder, bare, "::1")["capabilities"] == {
        "streaming": False,
        "pushNotifications": False,
        "extendedAgentCard": False,
        "extensions": [{"uri": "urn:x", "required": True}],
    }
    assert card(coder, bare, "::1")["url"] == "http://[::1]:8900/a2a/coder"


async def test_who_has_the_card_already_is_told_so(world: MakeWorld) -> None:
    async with world(done()) as here, httpx.AsyncClient() as client:
        first = await client.get(f"{here.agent_url}{PATH}")
        again = await client.get(f"{here.agent_url}{PATH}", headers={"If-None-Match": first.headers["etag"]})
        at_the_gateway = await client.get(f"{here.url}{PATH}")
        foreign = await client.get(f"{here.agent_url}{PATH}", headers={"Host": "evil.example"})
    assert first.headers["cache-control"] == "public, max-age=300"
    assert first.headers["last-modified"].endswith("GMT")
    assert (again.status_code, again.content) == (304, b"")
    assert at_the_gateway.json() == first.json()
    assert foreign.status_code == 403


async def test_the_extended_card_is_for_those_with_a_token(world: MakeWorld) -> None:
    async with world(done()) as here:
        shown = await call(here.url, "GetExtendedAgentCard", {}, headers=bearer("chief"))
        async with httpx.AsyncClient() as client:
            nobody = await client.get(f"{here.url}/extendedAgentCard", headers={"A2A-Version": "1.0"})
            owner = await client.get(f"{here.url}/extendedAgentCard", headers={"A2A-Version": "1.0", **bearer("owner:ann")})
    assert shown["result"]["name"] == "coder"
    assert (nobody.status_code, owner.status_code) == (401, 403)
    assert "Bearer" in nobody.headers["www-authenticate"]


@rule("A5")
def test_an_agents_port_does_without_the_package() -> None:
    words = (
        "import sys, covey, covey.api.agent_port, covey.brains.making; sys.exit(any(m in sys.modules for m in ('a2a', 'grpc', 'httpx')))"
    )
    assert subprocess.run([sys.executable, "-c", words], check=False, timeout=60).returncode == 0
