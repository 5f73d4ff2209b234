"""One turn of a model: asked, its tools served, its answer made an outcome. Imports pydantic-ai."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec
from pydantic_ai import Agent, RunContext, ToolOutput
from pydantic_ai.capabilities import AbstractCapability, PrepareOutputTools, PrepareTools
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RunUsage, UsageLimits

from covey.base.brain_options import ModelOptions
from covey.base.clock import Clock
from covey.brains import answers, prompting
from covey.brains.model import Cost, Hands, Outcome, Turn
from covey.brains.models.choices import Choices
from covey.brains.models.doing import Doing
from covey.brains.models.ending import Ending
from covey.brains.models.explaining import explained, refuses_tools
from covey.brains.models.pricing import cost_of
from covey.brains.models.reaching import Reached
from covey.brains.models.watching import Watch

log = logging.getLogger("covey.brains")
CORRECTIONS = 2
"""So often a model may correct one wrong call of a tool, or one wrong answer."""
_NO_LIMITS = UsageLimits(request_limit=None)
"""Ours are kept by Watch, which knows configured prices too."""


class Thinker:
    """A model that was reached, asked turn by turn. It remembers only whether its endpoint takes tools."""

    def __init__(self, target: str, options: ModelOptions, reached: Reached, clock: Clock) -> None:
        self._target = target
        self._options = options
        self._reached = reached
        self._clock = clock
        self._takes_tools = options.tools != "off"
        self._said_no_price = False

    async def outcome(self, turn: Turn, hands: Hands, say: Callable[[str], None]) -> Outcome:
        """What the model makes of the turn, with what it cost; a failed outcome if it can't be had or uses too much."""
        usage = RunUsage()
        try:
            said = await self._asked(turn, hands, say, usage)
        except (AgentRunError, UserError) as error:
            said = explained(error, self._target)
            said = msgspec.structs.replace(said, error=self._reached.without_key(said.error))
        cost = cost_of(usage, self._options.prices)
        self._mind_the_price(cost)
        return msgspec.structs.replace(said, cost=cost)

    def _mind_the_price(self, cost: Cost) -> None:
        """Say once that nobody knows what the model costs: the budget of dollars then counts nothing."""
        if cost.tokens_in and not cost.usd and self._options.prices is None and not self._said_no_price:
            self._said_no_price = True
            log.warning("no price of %s is known, so its turns count as free of charge; set `prices` in its options", self._target)

    async def _asked(self, turn: Turn, hands: Hands, say: Callable[[str], None], usage: RunUsage) -> Outcome:
        """The model's own outcome. An endpoint that turns out to take no tools is asked once more without."""
        if self._takes_tools and turn.kind != "summary":
            try:
                return await self._with_tools(turn, hands, say, usage)
            except AgentRunError as error:
                if self._options.tools == "on" or not refuses_tools(error):
                    raise
                log.info("%s takes no tools; it is asked for text from now on: %s", self._target, error.message[:300])
                self._takes_tools = False
        watch = Watch(self._options, self._clock, say, with_tools=False)
        agent = Agent(self._reached.model, instructions=prompting.instructions(turn), capabilities=[watch], retries=CORRECTIONS)
        return answers.from_text(await self._run(agent, turn, usage), marked=True)

    async def _with_tools(self, turn: Turn, hands: Hands, say: Callable[[str], None], usage: RunUsage) -> Outcome:
        choices = Choices(turn)
        doing, ending = Doing(turn, choices, hands, say), Ending(turn, choices)

        def named(_: RunContext[object], found: list[ToolDefinition]) -> list[ToolDefinition]:
            return choices.named(found)

        capabilities: list[AbstractCapability[object]] = [
            Watch(self._options, self._clock, say, with_tools=self._options.tools == "auto"),
            PrepareTools(named),
            PrepareOutputTools(named),
        ]
        output: list[Any] = [str, *(ToolOutput(each, name=each.__name__) for each in ending.tools())]
        agent: Agent[object, str] = Agent(
            self._reached.model,
            instructions=prompting.instructions(turn, prompting.BY_TOOLS),
            output_type=output,
            tools=doing.tools(),
            capabilities=capabilities,
            retries=CORRECTIONS,
        )
        said = await self._run(agent, turn, usage)
        return doing.gathered.into(ending.outcome or answers.from_text(said, marked=True))

    async def _run(self, agent: Agent[object, str], turn: Turn, usage: RunUsage) -> str:
        given = prompting.given(turn) or "(nothing)"
        settings: Any = self._reached.settings()
        return (await agent.run(given, deps=None, usage=usage, usage_limits=_NO_LIMITS, model_settings=settings, infer_name=False)).output
