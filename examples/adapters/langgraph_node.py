"""LangGraph: a node that asks an agent of the fleet, and a graph that answers as one.

`python langgraph_node.py "What is there on ducks?"` asks; `python langgraph_node.py --serve` answers as the agent `graph`.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from fleet import answer, ask
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

import covey


def asks(client: covey.AsyncClient, to: str) -> Callable[[MessagesState], Awaitable[dict[str, Any]]]:
    """A node that puts the last message to an agent of the fleet; what it answers is the next message."""

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(await ask(client, to, str(state["messages"][-1].content)), name=to)]}

    return node


def graph_of(client: covey.AsyncClient, to: str = "librarian"):
    """A graph of that one node."""
    graph = StateGraph(MessagesState)
    graph.add_node(to, asks(client, to))
    graph.add_edge(START, to)
    graph.add_edge(to, END)
    return graph.compile()


def thinks_with(graph) -> Callable[[str], Awaitable[str]]:
    """A graph as the brain of an agent: what it is given is the user's message, its last message is the answer."""

    async def think(given: str) -> str:
        state = await graph.ainvoke({"messages": [("user", given)]})
        return str(state["messages"][-1].content)

    return think


async def main() -> None:
    """Ask once, or answer for ever."""
    if sys.argv[1:] == ["--serve"]:
        client = covey.AsyncClient("http://127.0.0.1:8240", agent="graph", home=".covey")
        await answer(client, "graph", thinks_with(graph_of(client)))
    client = covey.AsyncClient("http://127.0.0.1:8240", home=".covey")
    state = await graph_of(client).ainvoke({"messages": [("user", " ".join(sys.argv[1:]))]})
    print(state["messages"][-1].content)


if __name__ == "__main__":
    asyncio.run(main())
