"""OpenAI Agents SDK: a tool by which an agent asks the fleet, and an agent that answers as one of the fleet's.

`python openai_agents_tool.py "What is there on ducks?"` asks; with `--serve` it answers as `assistant`. Both need OPENAI_API_KEY.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum

from agents import Agent, Runner, function_tool
from fleet import answer, ask

import covey


def asking_tool(client: covey.AsyncClient, names: Sequence[str]):
    """A tool that asks an agent of the fleet; its schema names the agents there are, so that a model invents none."""
    names_of = Enum("Colleague", {name: name for name in names})

    async def ask_colleague(to: names_of, question: str) -> str:
        """Ask a colleague of the fleet something, and get the answer.

        Args:
            to: Whom you ask.
            question: What you want to know. It must stand for itself.
        """
        return await ask(client, to.value, question)

    return function_tool(ask_colleague)


def agent_of(client: covey.AsyncClient, names: Sequence[str], model=None) -> Agent:
    """An agent that has this tool."""
    return Agent(name="assistant", instructions="Ask your colleagues what you don't know.", tools=[asking_tool(client, names)], model=model)


def thinks_with(agent: Agent) -> Callable[[str], Awaitable[str]]:
    """An agent of the SDK as the brain of one of the fleet's."""

    async def think(given: str) -> str:
        return str((await Runner.run(agent, given, max_turns=10)).final_output)

    return think


async def main() -> None:
    """Ask once, or answer for ever."""
    if sys.argv[1:] == ["--serve"]:
        client = covey.AsyncClient("http://127.0.0.1:8240", agent="assistant", home=".covey")
        await answer(client, "assistant", thinks_with(agent_of(client, ["librarian"])))
    client = covey.AsyncClient("http://127.0.0.1:8240", home=".covey")
    print(await thinks_with(agent_of(client, ["librarian"]))(" ".join(sys.argv[1:])))


if __name__ == "__main__":
    asyncio.run(main())
