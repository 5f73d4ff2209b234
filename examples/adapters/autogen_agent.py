"""AutoGen: an agent of the fleet as a participant of a team, and a participant that answers as an agent of the fleet.

`python autogen_agent.py "What is there on ducks?"` asks; `python autogen_agent.py --serve` answers as the agent `chatter`.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken
from fleet import answer, ask

import covey


class FleetAgent(BaseChatAgent):
    """An agent of the fleet, for any team of AutoGen: what it is told last it is asked, what it answers it says."""

    def __init__(self, client: covey.AsyncClient, name: str) -> None:
        super().__init__(name=name, description=f"The agent {name} of a Covey fleet.")
        self._client = client

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """It speaks in text."""
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Put the last message to the agent; a cancellation ends the wait."""
        asking = asyncio.ensure_future(ask(self._client, self.name, messages[-1].to_model_text()))
        cancellation_token.link_future(asking)
        return Response(chat_message=TextMessage(content=await asking, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """The fleet's agent keeps its own memory."""


def thinks_with(agent: BaseChatAgent) -> Callable[[str], Awaitable[str]]:
    """A participant, or a whole team, as the brain of an agent of the fleet: its last message is the answer."""

    async def think(given: str) -> str:
        return (await agent.run(task=given)).messages[-1].to_model_text()

    return think


async def main() -> None:
    """Ask once, or answer for ever."""
    if sys.argv[1:] == ["--serve"]:
        client = covey.AsyncClient("http://127.0.0.1:8240", agent="chatter", home=".covey")
        await answer(client, "chatter", thinks_with(FleetAgent(client, "librarian")))
    client = covey.AsyncClient("http://127.0.0.1:8240", home=".covey")
    print(await thinks_with(FleetAgent(client, "librarian"))(" ".join(sys.argv[1:])))


if __name__ == "__main__":
    asyncio.run(main())
