"""The way to an agent of another system: its card, read within bounds, and a client that reaches no further than allowed."""

from __future__ import annotations

import json
import os
from urllib.parse import urlsplit

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.client.client import Client, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from google.protobuf.json_format import ParseError

from covey.base import tracing
from covey.base.errors import CoveyError, Failed, Misconfigured
from covey.base.outward import Allowed
from covey.base.pinned import client
from covey.base.settings import AgentSettings

TIMEOUT = httpx.Timeout(connect=10.0, read=90.0, write=30.0, pool=10.0)
"""A stream that says nothing for so long is taken for broken, and asked for again."""
BINDINGS = [TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value]
OPTIONS = frozenset({"token_env", "header"})


class Line:
    """A line to one agent: opened at its first use, opened anew after it broke."""

    def __init__(self, settings: AgentSettings, allowed: Allowed) -> None:
        self.url = card_url(settings.brain.target)
        self._settings = settings
        self._allowed = allowed
        self._http: httpx.AsyncClient | None = None
        self._client: Client | None = None

    async def client(self) -> Client:
        """The client.

        Raises:
            Failed: The card can't be had now.
            Misconfigured, Forbidden: It can never be had so.
        """
        if self._client is None:
            self._http = client(self._allowed, timeout=TIMEOUT, headers=headers_of(self._settings))
            self._http.event_hooks = {"request": [in_span]}
            try:
                card = await self._card(self._http)
                self._check(card)
                config = ClientConfig(
                    httpx_client=self._http, supported_protocol_bindings=BINDINGS, polling=not card.capabilities.streaming
                )
                self._client = ClientFactory(config).create(card)
            except ValueError as error:
                await self.close()
                raise Failed(f"the card at {self.url} names no way to the agent that is known here ({error}).") from error
            except BaseException:
                await self.close()
                raise
        return self._client

    async def _card(self, http: httpx.AsyncClient) -> AgentCard:
        try:
            answer = await http.get(self.url)
        except httpx.HTTPError as error:
            raise Failed(f"the card at {self.url} can't be had ({type(error).__name__}: {error}).") from error
        if answer.status_code != 200:
            raise Failed(f"the card at {self.url} can't be had: the answer was {answer.status_code}.")
        try:
            return parse_agent_card(json.loads(answer.content))
        except (ParseError, ValueError, RecursionError) as error:
            raise Failed(f"what is at {self.url} is no agent's card ({str(error)[:300]}).") from error

    def _check(self, card: AgentCard) -> None:
        """A secret goes to the card's own host, and to no other that the card names."""
        home = urlsplit(self.url).hostname
        foreign = [
            each.url for each in card.supported_interfaces if each.protocol_binding in BINDINGS and urlsplit(each.url).hostname != home
        ]
        if foreign and "token_env" in self._settings.brain.options:
            raise Misconfigured(f"the card at {self.url} leads to {foreign[0][:200]}, another host, which the token is not for.")

    async def close(self) -> None:
        """Hang up."""
        http, self._http, self._client = self._http, None, None
        if http is not None:
            await http.aclose()


def card_url(target: str) -> str:
    """The address of the card: the target itself, or the well-known place below it."""
    return target if target.rpartition("/")[2].endswith(".json") else target.rstrip("/") + AGENT_CARD_WELL_KNOWN_PATH


async def in_span(request: httpx.Request) -> None:
    """The call goes out in the span of whoever makes it, so that the other system may go on with the trace."""
    trace = tracing.current()
    if trace is not None:
        request.headers["traceparent"] = trace.header


def headers_of(settings: AgentSettings) -> dict[str, str]:
    """The header that shows who we are, with a secret from the environment.

    Raises:
        Misconfigured: An option that this brain does not have, or a variable that is not set.
    """
    options = settings.brain.options
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise Misconfigured(f"agent {settings.id}: an a2a brain has no option {unknown[0]!r}; it has {', '.join(sorted(OPTIONS))}.")
    name, header = options.get("token_env"), str(options.get("header", "Authorization"))
    if name is None:
        return {}
    secret = settings.env.get(str(name)) or os.environ.get(str(name))
    if not secret:
        raise Misconfigured(f"agent {settings.id}: token_env names {name}, and that variable is not set.")
    if not secret.isascii() or not secret.isprintable():
        raise Misconfigured(f"agent {settings.id}: the variable {name} holds what no header can.")
    return {header: f"Bearer {secret}" if header.lower() == "authorization" and " " not in secret else secret}


def is_final(error: CoveyError) -> bool:
    """Whether trying again is no use. Pure."""
    return error.code in ("misconfigured", "forbidden", "invalid")
