"""What the `options` of a brain may be, kind by kind: plain data with the defaults. Kinds that are not here have none that are checked."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Prices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model costs, in US dollars a million tokens."""

    input: float
    output: float


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a model brain: where the model is, what it may do, and what one turn may use of it."""

    base_url: str = ""
    """The address of its API, for kinds of providers that take one; `openai-compatible` needs it."""
    api_key_env: str = ""
    """The environment variable that holds the key. Empty: the one that the provider itself looks for."""
    tools: Literal["auto", "on", "off"] = "auto"
    """Whether it gets the fleet's tools. auto: until its endpoint says that it takes none."""
    prices: Prices | None = None
    """Instead of the price table that comes with pydantic-ai."""
    requests: int = 30
    """So many requests a turn."""
    tokens: int = 500_000
    """So many tokens a turn, in and out; no request is made once they are used."""
    usd: float = 1.0
    """So much a turn, in US dollars; likewise."""
    patience_s: float = 120.0
    """How long a turn waits in all for an endpoint that is busy, as it asks for or with growing pauses."""
    request_s: float = 300.0
    """How long one request may take."""
    settings: dict[str, Any] = {}
    """Settings of the model itself, as pydantic-ai calls them: temperature, max_tokens, thinking …"""


class CommandOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a command brain."""

    input: Literal["json", "text"] = "json"
    """What it gets on stdin: the turn as JSON, or the prompt alone."""
    arguments: tuple[str, ...] = ()
    """Of a preset: what is added to its own command, as ("--model", "…")."""


OPTIONS: dict[str, type[msgspec.Struct]] = {"model": ModelOptions, "command": CommandOptions}
