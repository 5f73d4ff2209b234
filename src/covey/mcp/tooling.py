"""What a tool is: a line of a table. It takes a record, calls one verb, gives a record; its schemas and errors are made here.

A handler's docstring is what a model reads to decide whether and how to call it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from covey.agents.model import Caller
from covey.base.errors import Forbidden, Invalid
from covey.base.settings import AgentSettings
from covey.base.wire import check_value, convert
from covey.doors.door import FleetDoor
from covey.doors.waiting import Waiter

A = TypeVar("A")

Profile = Literal["reader", "worker", "lead"]
PROFILES: tuple[Profile, ...] = ("reader", "worker", "lead")
"""Which tools a connection lists, from few to all: a choice that saves tokens, not a permission."""
Effect = Literal["reads", "adds", "settles"]
"""reads: nothing changes. adds: something new is stored. settles: something that stood is ended or passed on."""

_RECEIVER = "covey-receiver"
MOST_NAMES = 64
"""With more agents than this a schema says where to look names up instead of listing them."""

Receiver = Annotated[str, Meta(max_length=129, extra_json_schema={"format": _RECEIVER})]
Ident = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
Wait = Annotated[float, Meta(ge=0, le=50, description="seconds to wait for it; 0 looks once")]
"""No longer than clients wait for a tool, of which some give up after a minute."""


class Asking(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What a tool takes: no field that is not known."""


class Given(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """What a tool gives; what is not there is left out."""


class Nothing(Asking):
    """No arguments."""


@dataclass(frozen=True)
class Call(Generic[A]):
    """One call of a tool: by whom, with what, and the fleet it is about."""

    door: FleetDoor
    by: Caller
    profile: Profile
    args: A
    client: Waiter
    """Who hears what comes of it, unless it has left."""

    @property
    def agent(self) -> str:
        """The agent that calls.

        Raises:
            Forbidden: It is the operator, who has no mailbox lanes, tasks or context of an agent.
        """
        if self.by.kind != "agent":
            raise Forbidden(f"this is for an agent, and the token is {self.by.name}'s; connect with an agent's own token for it.")
        return self.by.name

    @property
    def settings(self) -> AgentSettings:
        """The settings of the agent that calls."""
        name = self.agent
        return self.door.settings.agent(name) or AgentSettings(id=name, port=0)


Handler = Callable[[Call[A]], Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[A]):
    """One line of the table."""

    handler: Handler[A]
    takes: type[A]
    gives: type[msgspec.Struct]
    title: str
    profile: Profile
    """The smallest profile that lists it."""
    effect: Effect
    again: bool = False
    """Whether the same call twice comes to the same as once."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What verbs call a part of their input that is an argument of another name here: a refusal names the argument."""

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.handler.__name__

    @cached_property
    def description(self) -> str:
        """What a model is told of it."""
        return inspect.cleandoc(self.handler.__doc__ or "")

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments; the names of agents are not filled in."""
        return schema_of(self.takes)

    def taken(self, given: dict[str, Any]) -> A:
        """The arguments of a call.

        Raises:
            Invalid: One is wrong, missing or not known; the refusal says what may be given, where that is a few words.
        """
        check_value(given)
        known = self.input_schema.get("properties", {})
        if strange := next((name for name in given if name not in known), None):
            there = f"it takes {', '.join(known)}" if known else "it takes none"
            raise Invalid(f"{self.name} has no argument {strange[:60]!r}; {there}. Nothing was stored.", field=strange[:128])
        return convert(self.takes, given)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its result."""
        return schema_of(self.gives)


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of a record in one piece: no references, no titles, for clients that know neither. Pure."""
    schema = msgspec.json.schema(kind)
    found: dict[str, Any] = _inlined(schema, schema.get("$defs", {}))
    return {key: value for key, value in found.items() if key != "description"}


def _inlined(node: Any, defs: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(each, defs) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        whole = {key: value for key, value in defs[node["$ref"].rpartition("/")[2]].items() if key != "description"}
        return _inlined({**whole, **rest}, defs)
    kept = {key: value for key, value in node.items() if key != "$defs" and not (key == "title" and isinstance(value, str))}
    return {key: _inlined(value, defs) for key, value in kept.items()}


def with_names(schema: Any, receivers: Sequence[str]) -> Any:
    """The schema with the names that may be given now, where they are few. Pure."""
    if isinstance(schema, list):
        return [with_names(each, receivers) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == _RECEIVER:
        rest = {key: value for key, value in schema.items() if key not in ("format", "maxLength")}
        return {**rest, **({"enum": list(receivers)} if len(receivers) <= MOST_NAMES else {"maxLength": 129})}
    return {key: with_names(value, receivers) for key, value in schema.items()}


def listed(tools: Sequence[Tool[Any]], profile: Profile) -> Iterator[Tool[Any]]:
    """The tools of a profile, in the table's order. Pure."""
    rank = PROFILES.index(profile)
    return (tool for tool in tools if PROFILES.index(tool.profile) <= rank)
