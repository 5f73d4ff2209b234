"""The agent's card for agents of other systems, at its well-known place (A2A); it points to the gateway."""

from __future__ import annotations

from typing import Any

from covey.agents import roster
from covey.api.door import Door
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.cards import PATH, PATH_BEFORE_0_3, card_answer
from covey.doors.operations import Nothing, get


async def get_card(call: Call[Nothing, Nothing]) -> Answer:
    """The card."""
    assert isinstance(call.door, Door)
    return await card_answer(call.door.store, call.door.settings, call.door.agent, call.headers)


async def get_older_card(call: Call[Nothing, Nothing]) -> Answer:
    """The same card."""
    return await get_card(call)


OPERATIONS = (
    get(PATH, get_card, "anyone", "The agent's card for agents of other systems (A2A).", gives=dict[str, Any], verb=roster.find),
    get(PATH_BEFORE_0_3, get_older_card, "anyone", "The same, where older clients look.", gives=dict[str, Any], verb=roster.find),
)
