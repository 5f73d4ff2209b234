"""The OpenAPI 3.1 document of a port, made from its route table: nothing is described that is not served, and the other way round. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from covey.doors.operations import Nothing, Operation, Who
from covey.version import __version__

_PARAMETER = re.compile(r"{(\w+)}")
_REF = "#/components/schemas/{name}"
_WHO: dict[Who, str] = {
    "anyone": "No token is needed.",
    "status": "Any token; none where the port is on loopback, or `open_status` is set.",
    "metrics": "Any token; none where the port is on loopback, or `open_metrics` is set.",
    "caller": "Any token; an agent sees and does only what is its own.",
    "buddy": "The operator's token, or that of the agent's buddy.",
    "lead": "The operator's token or the lead's.",
    "self": "The operator's token, or that of the agent in the path.",
    "operator": "The operator's token.",
    "links": "Any token, an owner's too; an agent sees its own, an owner its agents'.",
    "owner": "The operator's token, or that of the agents' owner.",
}


class Problem(msgspec.Struct, rename="camel", omit_defaults=True):
    """What went wrong, as RFC 9457 has it. `code` is stable and for programs; `field` names the part of the request at fault."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    field: str | None = None
    retry_at: float | None = None
    """Unix seconds, where waiting helps; the Retry-After header says it too."""


def document(title: str, operations: Sequence[Operation[Any, Any]]) -> dict[str, Any]:
    """The document of these operations."""
    schemas, components = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "license": {"name": "MIT", "identifier": "MIT"}},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {"IdempotencyKey": _idempotency_key()},
            "responses": {"Problem": _problem(schemas)},
        },
    }


def encode(found: dict[str, Any]) -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(found)


Schemas = dict[Any, dict[str, Any]]


def _schemas(operations: Sequence[Operation[Any, Any]]) -> tuple[Schemas, dict[str, Any]]:
    """The schema of each type that is used, by the type's text, and the named ones among them."""
    types: dict[str, Any] = {repr(Problem): Problem}
    for operation in operations:
        used = [operation.gives, operation.body, *(each.type for each in msgspec.structs.fields(operation.query))]
        types |= {repr(each): each for each in used}
    found, components = msgspec.json.schema_components(types.values(), ref_template=_REF)
    return dict(zip(types, found, strict=True)), components


def _operation(operation: Operation[Any, Any], schemas: Schemas) -> dict[str, Any]:
    answer = {
        media: {"schema": schemas[repr(operation.gives)]} if media == "application/json" else {}
        for media in (operation.media, *operation.also)
    }
    found: dict[str, Any] = {
        "operationId": operation.ident,
        "summary": operation.summary,
        "description": _WHO[operation.who],
        "tags": [_tag(operation.path)],
        "parameters": _parameters(operation, schemas),
        "security": _security(operation.who),
        "responses": {
            str(operation.status): {"description": "As asked.", "content": answer},
            "default": {"$ref": "#/components/responses/Problem"},
        },
        "x-covey-who": operation.who,
    }
    if operation.verb is not None:
        found["x-covey-verb"] = f"{operation.verb.__module__.removeprefix('covey.')}.{operation.verb.__name__}"
    if operation.body is not Nothing:
        content = {"application/json": {"schema": schemas[repr(operation.body)]}}
        found["requestBody"] = {"required": operation.empty_body() is None, "content": content}
    return found


def _parameters(operation: Operation[Any, Any], schemas: Schemas) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"}}
        for name in _PARAMETER.findall(operation.path)
    ]
    found += [
        {"name": field.encode_name, "in": "query", "required": field.required, "schema": schemas[repr(field.type)]}
        for field in msgspec.structs.fields(operation.query)
    ]
    if operation.method == "POST":
        found.append({"$ref": "#/components/parameters/IdempotencyKey"})
    return found


def _security(who: Who) -> list[dict[str, list[str]]]:
    if who == "anyone":
        return []
    return [{}, {"token": []}] if who in ("status", "metrics") else [{"token": []}]


def _tag(path: str) -> str:
    parts = path.strip("/").split("/")
    return parts[2] if path.startswith("/api/") else "agent" if parts[0] else "fleet"


def _idempotency_key() -> dict[str, Any]:
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "The same key with the same request is done once and answered alike for 7 days; with another request it is refused.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    }


def _problem(schemas: Schemas) -> dict[str, Any]:
    return {"description": "It was refused, or failed.", "content": {"application/problem+json": {"schema": schemas[repr(Problem)]}}}
