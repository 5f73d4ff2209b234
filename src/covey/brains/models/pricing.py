"""What a turn of a model cost: by the prices that are configured, else as pydantic-ai's table has it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.base.brain_options import Prices
from covey.brains.model import Cost

if TYPE_CHECKING:
    from pydantic_ai.usage import RunUsage

MILLION = 1_000_000


def cost_of(usage: RunUsage, prices: Prices | None) -> Cost:
    """The tokens, and the dollars as far as anybody knows; 0 where no price is known."""
    return Cost(usd=_usd(usage, prices), tokens_in=max(0, usage.input_tokens), tokens_out=max(0, usage.output_tokens))


def _usd(usage: RunUsage, prices: Prices | None) -> float:
    if prices is not None:
        return max(0.0, (usage.input_tokens * prices.input + usage.output_tokens * prices.output) / MILLION)
    return max(0.0, float(usage.cost)) if usage.cost is not None else 0.0
