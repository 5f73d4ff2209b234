"""The brain that is a model, as its agent sees it. It holds the model's own event loop: what it imports and computes blocks nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from covey.base.errors import Misconfigured
from covey.base.settings import AgentSettings
from covey.brains.answers import from_error
from covey.brains.calls import Job, OwnLoop
from covey.brains.far import FarHands
from covey.brains.launching import Site
from covey.brains.model import Hands, Outcome, Turn, failure
from covey.brains.models import options
from covey.brains.telling import Teller

if TYPE_CHECKING:
    from covey.brains.models.reaching import Reached
    from covey.brains.models.thinking import Thinker

_NOT_BEGUN = failure("the model was not asked: the run was ended before")
CLOSE_S = 2.0


class ModelBrain:
    """An agent's model. A turn knows nothing of the ones before but what is in the agent's context, so that context bounds it (C3a)."""

    kind = "model"
    lanes = None

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        """Take the settings; nothing is imported or sent.

        Raises:
            Misconfigured: It could not work whatever it is asked: no extra, no key, no such option.
        """
        self._settings = settings
        self._options = options.options_of(settings)
        options.check(settings, self._options)
        self._site = site
        self._loop = OwnLoop(f"model {settings.id}")
        self._reached: Reached | None = None
        self._thinker: Thinker | None = None

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the model made of the turn; a failed outcome if it can't be had, or uses more than it may."""
        home = asyncio.get_running_loop()
        teller = Teller(hands, self._site.clock)
        job = Job[Outcome](turn.run_id)

        def say(text: str) -> None:
            home.call_soon_threadsafe(teller.say, text)

        job.on_loop(self._loop.get(), lambda: self._answer(turn, FarHands(hands, home), say), _NOT_BEGUN)
        try:
            return await job.answer(self._site.grace_s)
        finally:
            teller.close()

    async def _answer(self, turn: Turn, hands: Hands, say: Callable[[str], None]) -> Outcome:
        """On the model's own loop."""
        try:
            return await self._ready().outcome(turn, hands, say)
        except Misconfigured as error:
            return failure(error.message, permanent=True, not_started=True)
        except Exception as error:  # noqa: BLE001 - a door to foreign code
            return from_error(error)

    def _ready(self) -> Thinker:
        """The model, reached at the first turn; pydantic-ai is imported here, half a second and 40 MiB that other agents don't pay."""
        if self._thinker is None:
            from covey.brains.models.reaching import Reached  # noqa: PLC0415 - see above
            from covey.brains.models.thinking import Thinker  # noqa: PLC0415 - likewise

            target = self._settings.brain.target
            self._reached = Reached(target, self._options, options.key_of(self._settings, self._options))
            self._thinker = Thinker(target, self._options, self._reached, self._site.clock)
        return self._thinker

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Nobody can tell what a model is able to do, so it may try anything."""
        return True

    async def close(self) -> None:
        """Close its connections and end its loop."""
        if self._reached is not None:
            closing = asyncio.run_coroutine_threadsafe(self._reached.close(), self._loop.get())
            await asyncio.wait({asyncio.wrap_future(closing)}, timeout=CLOSE_S)
        self._loop.close()
