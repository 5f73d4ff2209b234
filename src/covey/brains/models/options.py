"""The options of a model brain, decoded. What can be known without a model is refused here, before the first turn."""

from __future__ import annotations

import importlib.util
import os

import msgspec

from covey.base.brain_options import ModelOptions
from covey.base.errors import Misconfigured
from covey.base.settings import AgentSettings

COMPATIBLE = "openai-compatible"
"""The provider for any endpoint that speaks OpenAI's chat completions."""
EXTRA = "install it with: pip install 'covey[model]'"


def options_of(settings: AgentSettings) -> ModelOptions:
    """The agent's options.

    Raises:
        Misconfigured: An option that a model brain does not have, or of a wrong type.
    """
    try:
        return msgspec.convert(settings.brain.options, ModelOptions)
    except msgspec.ValidationError as error:
        raise Misconfigured(f"agent {settings.id}: the options of its model brain are wrong: {error}.") from error


def key_of(settings: AgentSettings, options: ModelOptions) -> str | None:
    """The key that `api_key_env` names, from the agent's `env` or our own environment; None where the provider looks for it itself.

    Raises:
        Misconfigured: It is named and not there.
    """
    name = options.api_key_env
    if not name:
        return None
    key = settings.env.get(name) or os.environ.get(name)
    if not key:
        raise Misconfigured(f"agent {settings.id}: {name}, which holds its model's key, is not set; set it where `covey up` is started.")
    return key


def check(settings: AgentSettings, options: ModelOptions) -> None:
    """Refuse what can't work whatever it is asked.

    Raises:
        Misconfigured: The extra is not installed, the key is not there, or the target can't be reached as it is written.
    """
    provider, _, name = settings.brain.target.partition(":")
    if not name:
        raise Misconfigured(
            f'agent {settings.id}: {settings.brain.target!r} names no model; write "provider:name", as "anthropic:claude-sonnet-5",'
            f' or "{COMPATIBLE}:name" with options = {{ base_url = "…" }}.'
        )
    if provider == COMPATIBLE and not options.base_url:
        raise Misconfigured(
            f'agent {settings.id}: {COMPATIBLE} needs the address of its API; write options = {{ base_url = "http://…/v1" }}.'
        )
    if importlib.util.find_spec("pydantic_ai") is None:
        raise Misconfigured(f"agent {settings.id}: a model brain needs pydantic-ai, which is not there; {EXTRA}.")
    key_of(settings, options)
