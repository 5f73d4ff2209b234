"""The model that a target names, with its endpoint, its key and an HTTP client of our own. Imports pydantic-ai."""

from __future__ import annotations

import inspect
import logging
from typing import Any

import httpx2
from pydantic_ai import models
from pydantic_ai.exceptions import UserError
from pydantic_ai.providers import Provider, infer_provider_class

from covey.base.brain_options import ModelOptions
from covey.base.errors import Misconfigured
from covey.brains.models.bounding import bound
from covey.brains.models.options import COMPATIBLE

CONNECT_S = 10.0


class Reached:
    """A model, and the client by which it is reached; to be closed on the loop that used it."""

    def __init__(self, target: str, options: ModelOptions, key: str | None) -> None:
        """Make the model; nothing is sent.

        Raises:
            Misconfigured: There is no such provider, its package or its key is not there, or it takes no address.
        """
        self._options = options
        self._key = key
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for each request, with its address, is nothing for an agent's log
        self.client = models.create_async_httpx2_client(timeout=httpx2.Timeout(options.request_s, connect=CONNECT_S))
        self.client.event_hooks["response"].append(bound)
        try:
            self.model = self._made(target)
        except (UserError, ValueError) as error:
            raise Misconfigured(f"the model {target} can't be used: {str(error).split(' To try Pydantic AI without')[0]}") from error
        except ImportError as error:
            raise Misconfigured(f"the model {target} needs a package that is not there: {error}") from error

    def _made(self, target: str) -> models.Model:
        provider, _, name = target.partition(":")
        if provider != COMPATIBLE:
            return models.infer_model(target, self._provider)
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - OpenAI's package, for those who use it
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415 - likewise

        return OpenAIChatModel(
            name,
            provider=OpenAICompatibleProvider(COMPATIBLE, base_url=self._options.base_url, api_key=self._key, http_client=self.client),
        )

    def _provider(self, name: str) -> Provider[Any]:
        """The provider, given what it takes of our address, key and client; what is not given it finds in the environment."""
        kind = infer_provider_class(name)
        takes = inspect.signature(kind.__init__).parameters
        given: dict[str, Any] = {}
        for field, value in (("base_url", self._options.base_url), ("api_key", self._key)):
            if value and field not in takes:
                raise Misconfigured(f"the provider {name} takes no {field}; leave it out of its options.")
            if value:
                given[field] = value
        if "http_client" in takes and not str(takes["http_client"].annotation).startswith("httpx."):
            given["http_client"] = self.client
        return kind(**given)

    def settings(self) -> dict[str, Any]:
        """The settings of each request: tries are ours, not the vendor's package's; what the model does not know is left out."""
        own = {"max_retries": 0, "timeout": self._options.request_s, "request_timeout": self._options.request_s}
        return {name: value for name, value in own.items() if name not in self.model.unsupported_settings} | self._options.settings

    def without_key(self, text: str) -> str:
        """The text without the key, which an endpoint may have echoed: errors are kept and told."""
        return text.replace(self._key, "***") if self._key else text

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()
