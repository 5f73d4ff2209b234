"""The brain that is a coding assistant on the command line: one run a turn, in a session of its own that it goes on with (C5a)."""

from __future__ import annotations

import msgspec

from covey.base.settings import AgentSettings
from covey.brains import assistants
from covey.brains.command import CommandBrain
from covey.brains.launching import Site
from covey.brains.model import Cost, Hands, Outcome, Turn
from covey.brains.presets import PRESETS, command, is_session
from covey.brains.prompting import as_text

SESSIONS = 16
"""So many sessions' sums are remembered."""


class AssistantBrain(CommandBrain):
    """An agent's coding assistant.

    Mail and tasks have a session each, since both may be at work at once; what is asked beside them (parts, summaries) has none.
    """

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        super().__init__(settings, site)
        self._preset = PRESETS[settings.brain.preset]
        self._sums: dict[str, Cost] = {}
        """What the latest sessions had cost in all. A process that was started anew begins sessions anew (C5)."""

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
        said = await self.ran(words, as_text(turn).encode(), turn, hands, assistants.progress)
        return msgspec.structs.replace(said, cost=self._share(said))

    def _share(self, said: Outcome) -> Cost | None:
        """What this turn cost, where the assistant tells what its whole session did."""
        if said.cost is None or not said.session:
            return said.cost
        before = self._sums.pop(said.session, Cost())
        self._sums[said.session] = said.cost
        if len(self._sums) > SESSIONS:
            del self._sums[next(iter(self._sums))]
        return share(said.cost, before, self._preset.adds_up)


def share(after: Cost, before: Cost, fields: tuple[str, ...]) -> Cost:
    """What was added to these sums; the sum itself where it is not one, being lower than before. Pure."""
    added = {name: getattr(after, name) - getattr(before, name) for name in fields}
    return msgspec.structs.replace(after, **{name: value for name, value in added.items() if value >= 0})


def news(turn: Turn) -> Turn:
    """The turn for a session that goes on: of the context only what happened since its last turn began. Pure."""
    since = turn.own_since or 0.0
    return msgspec.structs.replace(turn, checkpoint="", context=[entry for entry in turn.context if entry.get("at", 0.0) >= since])
