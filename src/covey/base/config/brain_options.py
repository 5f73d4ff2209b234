"""What `options` of a brain may hold, for the kinds whose options are known: the same as `base.brain_options`, checked with its place."""

from __future__ import annotations

from typing import Any

from covey.base.brain_options import CommandOptions, ModelOptions
from covey.base.config.faults import Faults
from covey.base.config.keys import Keys, keys_of, values
from covey.base.config.shapes import At, below, formed, number, options, refuse, whole

_PRICES = "{ input = 0.15, output = 0.6 }, in US dollars a million tokens"
_price = number(0, 1_000_000, "US dollars a million tokens")


def _prices(faults: Faults, at: At, value: object) -> Any:
    """What a model costs; both prices are wanted."""
    if not isinstance(value, dict) or not {"input", "output"} <= value.keys():
        return refuse(faults, at, value, _PRICES)
    return values(faults, at, value, {"input": _price, "output": _price})


OPTIONS: dict[str, Keys] = {
    "command": keys_of(CommandOptions),
    "model": {
        **keys_of(ModelOptions, {"prices", "settings"}),
        "base_url": formed(r"https?://[^\s\0@]+", "the address of an API, as http://127.0.0.1:8080/v1"),
        "api_key_env": formed(r"[A-Za-z_][A-Za-z0-9_]{0,199}", "the name of an environment variable that holds the key"),
        "prices": _prices,
        "settings": options,
        "requests": whole(1, 1000),
        "tokens": whole(1, 10**9),
        "usd": number(0.0001, 10_000, "US dollars"),
    },
}


def check(faults: Faults, at: At, kind: str, found: dict[str, Any]) -> None:
    """Note each option that does not fit the kind; what is not known of a kind is left to its brain."""
    if kind in OPTIONS:
        values(faults, below(at, "options"), found, OPTIONS[kind])
