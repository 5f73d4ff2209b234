"""The adapters of examples/adapters with the real packages, on a real fleet: each asks an agent of it, and answers as one."""

from __future__ import annotations

import asyncio
import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import covey
from tests.brains.endpoint import calls, says, served
from tests.scenarios.conftest import RunningFleet, fleet_in

pytestmark = [pytest.mark.scenario, pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

HERE = Path(__file__).parents[2] / "examples" / "adapters"
QUESTION = "What is there on ducks?"
ANSWER = "The library has three books on ducks."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFleet]:
    """The fleet of the example, running."""
    if not hasattr(covey, "AsyncClient"):
        pytest.skip("this version has no covey.AsyncClient")
    folder = tmp_path_factory.mktemp("adapters")
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    with fleet_in(folder) as fleet:
        fleet.up()
        yield fleet


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The module of an adapter; its test is skipped where the package that it adapts is not installed."""
    needs, name = request.param
    pytest.importorskip(needs, reason=f"{needs} is not installed")
    monkeypatch.syspath_prepend(str(HERE))
    yield importlib.import_module(name)
    for each in (name, "fleet"):
        sys.modules.pop(each, None)


def client_of(fleet: RunningFleet, agent: str = "operator") -> Any:
    """A client of the fleet, as the operator or as one of its agents."""
    return covey.AsyncClient(f"http://127.0.0.1:{fleet.base_port}", agent=agent, home=fleet.folder / ".covey")


async def asked(fleet: RunningFleet, agent: str, answering: Any) -> str:
    """What an external agent replies to the operator, while this answers for it once."""
    serving = asyncio.create_task(answering)
    try:
        asking = asyncio.create_task(client_of(fleet).ask(agent, QUESTION, wait_s=30))
        await asyncio.wait_for(serving, 30)
        answered = await asking
    finally:
        serving.cancel()
    return str(answered.replies[-1].body)


@pytest.mark.parametrize("adapter", [("langgraph", "langgraph_node")], indirect=True)
async def test_a_langgraph_node_asks_the_fleet_and_a_graph_answers_as_one_of_its_agents(library: RunningFleet, adapter: Any) -> None:
    state = await adapter.graph_of(client_of(library)).ainvoke({"messages": [("user", QUESTION)]})
    assert (state["messages"][-1].content, state["messages"][-1].name) == (ANSWER, "librarian")
    graph = adapter.graph_of(client_of(library, "graph"))
    serving = adapter.answer(client_of(library, "graph"), "graph", adapter.thinks_with(graph), times=1)
    assert await asked(library, "graph", serving) == ANSWER


@pytest.mark.parametrize("adapter", [("agents", "openai_agents_tool")], indirect=True)
async def test_an_openai_agent_asks_the_fleet_by_a_tool_and_answers_as_one_of_its_agents(library: RunningFleet, adapter: Any) -> None:
    from openai import AsyncOpenAI

    sdk: Any = importlib.import_module("agents")
    sdk.set_tracing_disabled(True)
    script = (calls(("ask_colleague", {"to": "librarian", "question": QUESTION})), says("Three of them."))
    async with served(*script, *script) as endpoint, AsyncOpenAI(base_url=endpoint.url, api_key="none") as there:
        model = sdk.OpenAIChatCompletionsModel("scripted", there)
        think = adapter.thinks_with(adapter.agent_of(client_of(library, "assistant"), ["librarian"], model))
        assert await think(QUESTION) == "Three of them."
        assert ANSWER in endpoint.said("tool")
        assert "librarian" in str(endpoint.tools()["ask_colleague"])
        serving = adapter.answer(client_of(library, "assistant"), "assistant", think, times=1)
        assert await asked(library, "assistant", serving) == "Three of them."
        assert endpoint.said("user").startswith("<covey-mail "), "mail comes in its envelope"


@pytest.mark.parametrize("adapter", [("autogen_agentchat", "autogen_agent")], indirect=True)
async def test_an_autogen_participant_asks_the_fleet_and_answers_as_one_of_its_agents(library: RunningFleet, adapter: Any) -> None:
    result = await adapter.FleetAgent(client_of(library), "librarian").run(task=QUESTION)
    assert result.messages[-1].to_model_text() == ANSWER
    participant = adapter.FleetAgent(client_of(library, "chatter"), "librarian")
    serving = adapter.answer(client_of(library, "chatter"), "chatter", adapter.thinks_with(participant), times=1)
    assert await asked(library, "chatter", serving) == ANSWER


@pytest.mark.parametrize("adapter", [("langgraph", "langgraph_node")], indirect=True)
async def test_an_agent_that_is_not_there_is_a_sentence_for_whoever_asked(library: RunningFleet, adapter: Any) -> None:
    with pytest.raises(covey.errors.Unknown, match="librarian"):
        await adapter.ask(client_of(library), "libarian", QUESTION)
