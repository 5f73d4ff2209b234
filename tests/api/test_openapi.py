"""The OpenAPI document is made from the route table, describes each route, and holds together (A5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Literal

import msgspec
import pytest
from starlette.routing import Route

from covey.api import agent_port, fleet_port, openapi
from covey.doors.operations import Nothing
from covey.store import Transaction
from tests.api.world import World
from tests.rules import rule

DOCUMENTS = {
    "agent": (agent_port.OPERATIONS, openapi.document("an agent", agent_port.OPERATIONS)),
    "fleet": (fleet_port.OPERATIONS, openapi.document("the fleet", fleet_port.OPERATIONS)),
}
SEEDS = {
    ("POST", "/message"), ("GET", "/status"), ("POST", "/task"), ("GET", "/health"), ("POST", "/buddy-check"), ("POST", "/context-sync"),
    ("GET", "/metrics"), ("POST", "/emergency-stop"),
}  # fmt: skip
both = pytest.mark.parametrize("door", list(DOCUMENTS))


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A part of an OpenAPI 3.1 document: nothing that the specification does not know."""


class Parameter(Strict):
    name: str
    in_: Literal["path", "query", "header"] = msgspec.field(name="in")
    required: bool
    schema: dict[str, Any]
    description: str = ""


class Ref(Strict):
    ref: str = msgspec.field(name="$ref")


class Media(Strict):
    schema: dict[str, Any] = {}


class RequestBody(Strict):
    required: bool
    content: dict[str, Media]


class Response(Strict):
    description: str
    content: dict[str, Media]


class Described(Strict, kw_only=True):
    operation_id: str = msgspec.field(name="operationId")
    summary: str
    description: str
    tags: list[str]
    parameters: list[dict[str, Any]]
    security: list[dict[str, list[str]]]
    responses: dict[str, dict[str, Any]]
    request_body: RequestBody | None = msgspec.field(name="requestBody", default=None)
    who: str = msgspec.field(name="x-covey-who")
    verb: str = msgspec.field(name="x-covey-verb", default="")


class Document(Strict):
    openapi: str
    info: dict[str, Any]
    servers: list[dict[str, str]]
    paths: dict[str, dict[Literal["get", "post"], Described]]
    components: dict[Literal["schemas", "securitySchemes", "parameters", "responses"], dict[str, Any]]


def read(door: str) -> Document:
    return msgspec.json.decode(openapi.encode(DOCUMENTS[door][1]), type=Document)


def refs(value: Any) -> Iterator[str]:
    """Each $ref in a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield item
            else:
                yield from refs(item)
    elif isinstance(value, list):
        for item in value:
            yield from refs(item)


@rule("A5")
def test_the_agents_port_has_the_seeds_eight_endpoints() -> None:
    assert {(each.method, each.path) for each in agent_port.OPERATIONS} >= SEEDS


@both
def test_each_line_of_the_table_is_described_once_and_nothing_else_is(door: str) -> None:
    operations, _ = DOCUMENTS[door]
    described = [(method.upper(), path) for path, methods in read(door).paths.items() for method in methods]
    assert described == [
        (each.method, each.path) for each in sorted(operations, key=lambda each: described.index((each.method, each.path)))
    ]
    assert len(described) == len(set(described)) == len(operations)


@both
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_routes_that_are_served_are_those_that_are_described(world: World, door: str) -> None:
    port = getattr(world, f"{door}_port")
    assert {route.path for route in port._router.routes if isinstance(route, Route)} == set(read(door).paths)
    answer = await getattr(world, door).get("/openapi.json")
    assert answer.json()["paths"].keys() == read(door).paths.keys()


@both
def test_the_document_has_what_the_specification_wants(door: str) -> None:
    found = read(door)
    assert found.openapi == "3.1.0"
    assert {"title", "version"} <= found.info.keys()
    idents = [each.operation_id for methods in found.paths.values() for each in methods.values()]
    assert len(idents) == len(set(idents))
    for path, methods in found.paths.items():
        for method, each in methods.items():
            own = [msgspec.convert(one, Ref if "$ref" in one else Parameter) for one in each.parameters]
            names = [(one.in_, one.name) for one in own if isinstance(one, Parameter)]
            assert {name for where, name in names if where == "path"} == set(re.findall(r"{(\w+)}", path))
            assert len(names) == len(set(names))
            assert all(one.required for one in own if isinstance(one, Parameter) and one.in_ == "path")
            assert "default" in each.responses
            assert method == "post" or each.request_body is None
            for code, answer in each.responses.items():
                assert code == "default" or 200 <= int(code) < 300
                msgspec.convert(answer, Ref if "$ref" in answer else Response)


@both
def test_every_reference_leads_somewhere(door: str) -> None:
    _, document = DOCUMENTS[door]
    for ref in refs(document):
        value: Any = document
        for step in ref.removeprefix("#/").split("/"):
            value = value[step]


@both
def test_every_verb_that_is_named_takes_a_transaction_first(door: str) -> None:
    for each in DOCUMENTS[door][0]:
        if each.verb is not None:
            assert next(iter(each.verb.__annotations__.values())) in (Transaction, "Transaction"), each.path


@both
def test_bodies_and_queries_refuse_what_they_do_not_know(door: str) -> None:
    for each in DOCUMENTS[door][0]:
        for kind in (each.query, each.body):
            assert kind.__struct_config__.forbid_unknown_fields, kind
        assert each.method == "POST" or each.body is Nothing


class Page(HTMLParser):
    """What a page loads and runs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_pages_are_whole_in_themselves_and_run_nothing(world: World) -> None:
    for client, path in ((world.agent, "/docs"), (world.fleet, "/docs")):
        answer = await client.get(path)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        page = Page(answer.text)
        assert {tag for tag, _ in page.tags}.isdisjoint({"script", "img", "link", "iframe", "form", "object"})
        assert not any("style" in attributes or any(name.startswith("on") for name in attributes) for _, attributes in page.tags)
    for each in fleet_port.OPERATIONS:
        assert each.path in Page((await world.fleet.get("/docs")).text).text
