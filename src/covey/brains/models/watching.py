"""A turn of a model watched over, request by request: what it may use is kept, and an endpoint that is busy is waited for.

What is used up is told to the model's run as an error, never to the model itself.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
    RetryModelRequest,
    UsageLimitExceeded,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.usage import RunUsage

from covey.base.brain_options import ModelOptions
from covey.base.clock import Clock
from covey.brains.models.explaining import refuses_tools
from covey.brains.models.pricing import cost_of

LEAST_PAUSE_S = 1.0
MOST_PAUSE_S = 30.0
"""The longest pause of our own; what an endpoint asks for may be longer."""
BROKEN_TRIES = 3
"""So often a request is made where the line breaks or the endpoint fails: it may be the request that it fails of."""


class Watch(AbstractCapability[object]):
    """Keeps the limits of one turn, and its patience."""

    def __init__(self, options: ModelOptions, clock: Clock, say: Callable[[str], None], *, with_tools: bool) -> None:
        self._options = options
        self._clock = clock
        self._say = say
        self._with_tools = with_tools
        self.waited_s = 0.0

    async def before_model_request(self, ctx: RunContext[object], request_context: ModelRequestContext) -> ModelRequestContext:
        """Let no request go out once something is used up."""
        why = used_up(ctx.usage, self._options)
        if why:
            raise UsageLimitExceeded(why)
        return request_context

    async def on_model_request_error(
        self, ctx: RunContext[object], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Wait and have it tried again, if waiting helps and patience is left; else the error itself."""
        del ctx
        if self._with_tools and refuses_tools(error):
            raise error
        pause_s = pause_after(error, request_context.attempt)
        if pause_s is None or self.waited_s + pause_s > self._options.patience_s:
            raise error
        self.waited_s += pause_s
        self._say(f"the model's endpoint is busy; trying again in {pause_s:.3g} s")
        await self._clock.sleep(pause_s)
        raise RetryModelRequest


def used_up(usage: RunUsage, options: ModelOptions) -> str:
    """What of a turn's limits is used up, with what was used; empty: nothing. Pure."""
    if usage.requests >= options.requests:
        return f"{usage.requests} of {options.requests} requests (`requests`)"
    tokens = usage.input_tokens + usage.output_tokens
    if tokens >= options.tokens:
        return f"{tokens:,} of {options.tokens:,} tokens (`tokens`)"
    usd = cost_of(usage, options.prices).usd
    return f"${usd:.4f} of ${options.usd:.4f} (`usd`)" if usd >= options.usd else ""


def pause_after(error: Exception, attempt: int) -> float | None:
    """How long to wait before the request is made again; None if that would not help. Pure.

    As long as the endpoint asks for, else 1, 2, 4 … 30 s.
    """
    helps = isinstance(error, ModelRateLimitError | ModelUnavailableError)
    if not helps and not (isinstance(error, ModelServerError | ModelConnectionError) and attempt < BROKEN_TRIES):
        return None
    assert isinstance(error, ModelAPIError)
    if error.retry_after is not None:
        return max(error.retry_after, LEAST_PAUSE_S)
    return min(2.0 ** (attempt - 1), MOST_PAUSE_S)
