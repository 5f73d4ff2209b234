"""The brain that is a coding assistant on the command line: one run a turn, in a session of its own that it goes on with (C5a)."""

from __future__ import annotations

import msgspec

from covey.base.settings import AgentSettings
from covey.brains import assistants
from covey.brains.command import CommandBrain
from covey.brains.launching import Site
from covey.brains.model import Hands, Outcome, Turn
from covey.brains.presets import PRESETS, command, is_session
from covey.brains.prompting import as_text


class AssistantBrain(CommandBrain):
    """An agent's coding assistant.

    Mail and tasks have a session each, since both may be at work at once; what is asked beside them (parts, summaries) has none.
    """

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        super().__init__(settings, site)
        self._preset = PRESETS[settings.brain.preset]

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the assistant made of the turn. A session that it does not have any more is begun anew, within the same turn."""
        if turn.kind in ("split", "summary"):
            said = await self._asked(turn, hands)
            return msgspec.structs.replace(said, session="")
        if is_session(turn.own_session):
            said = await self._asked(news(turn), hands, turn.own_session)
            if said.kind != "failed" or self._preset.lost not in said.error:
                return said
        return await self._asked(turn, hands)

    async def _asked(self, turn: Turn, hands: Hands, session: str = "") -> Outcome:
        line = self._preset.go_on if session else self._preset.begin
        words = command(line, self._options.arguments, session)
        return await self.ran(words, as_text(turn).encode(), turn, hands, assistants.progress)


def news(turn: Turn) -> Turn:
    """The turn for a session that goes on: of the context only what happened since its last turn began. Pure."""
    since = turn.own_since or 0.0
    return msgspec.structs.replace(turn, checkpoint="", context=[entry for entry in turn.context if entry.get("at", 0.0) >= since])
