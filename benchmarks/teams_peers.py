# mypy: ignore-errors
# ruff: noqa: PLC0415, ARG002 - it runs in an environment of its own, and each import is one peer's
"""Run by the Python of a virtual environment that has autogen-core and LangGraph: what they take for the like. Prints JSON."""

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def autogen_round_trips(count: int) -> float:
    """Requests with their answers a second, from one agent to another in one process."""
    from autogen_core import AgentId, MessageContext, RoutedAgent, SingleThreadedAgentRuntime, message_handler

    @dataclass
    class Note:
        text: str

    class Echo(RoutedAgent):
        def __init__(self) -> None:
            super().__init__("echo")

        @message_handler
        async def on_note(self, message: Note, ctx: MessageContext) -> Note:
            return message

    async def run() -> float:
        runtime = SingleThreadedAgentRuntime()
        await Echo.register(runtime, "echo", Echo)
        runtime.start()
        to = AgentId("echo", "default")
        await runtime.send_message(Note("warm"), to)
        began = time.perf_counter()
        for number in range(count):
            await runtime.send_message(Note(str(number)), to)
        took = time.perf_counter() - began
        await runtime.stop()
        return count / took

    return asyncio.run(run())


def langgraph_runs(count: int, folder: Path) -> dict[str, dict[str, float]]:
    """Runs a second of a graph of two nodes, with its SQLite checkpointer, one after the other; by `PRAGMA synchronous`.

    With FULL, the checkpointer's default, a run survives a power cut; with NORMAL a kill.
    """
    from typing import TypedDict

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        text: str

    graph = StateGraph(State)
    graph.add_node("first", lambda state: {"text": state["text"] + "1"})
    graph.add_node("second", lambda state: {"text": state["text"] + "2"})
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    found = {}
    for mode in ("FULL", "NORMAL"):
        with SqliteSaver.from_conn_string(str(folder / f"{mode}.db")) as saver:
            saver.setup()
            saver.conn.execute(f"PRAGMA synchronous = {mode}")
            app: Any = graph.compile(checkpointer=saver)
            app.invoke({"text": ""}, {"configurable": {"thread_id": "warm"}}, durability="sync")
            began, began_cpu = time.perf_counter(), time.process_time()
            for number in range(count):
                app.invoke({"text": ""}, {"configurable": {"thread_id": str(number)}}, durability="sync")
            took, cpu = time.perf_counter() - began, time.process_time() - began_cpu
            found[mode] = {"runs_s": count / took, "cpu_ms": 1000 * cpu / count}
    return found


if __name__ == "__main__":
    print(json.dumps({"autogen": autogen_round_trips(5000), "langgraph": langgraph_runs(300, Path(sys.argv[1]))}))
