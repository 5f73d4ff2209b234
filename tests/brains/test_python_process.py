"""A python brain in a process of its own: the same code, ended like a command."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from covey.brains.making import make
from covey.brains.model import Outcome, Turn
from covey.brains.python import PythonBrain, PythonProcessBrain
from tests.brains.turns import SITE, Noted, Releasing, a_turn, is_gone, is_running, settings
from tests.rules import rule


async def thought(
    folder: Path, text: str, turn: Turn | None = None, *, hands: Noted | None = None, target: str = "thinking:think", **more: Any
) -> Outcome:
    (folder / "thinking.py").write_text(text)
    brain = make(settings(folder, kind="python", target=target, process=True, **more), SITE)
    assert isinstance(brain, PythonProcessBrain)
    return await brain.think(turn or a_turn(), hands or Noted())


@pytest.mark.parametrize("form", ["def", "async def"])
async def test_its_answer_comes_back_whole_and_what_it_prints_is_progress(tmp_path: Path, form: str) -> None:
    text = f"""
import subprocess, sys
from covey.brains.model import Cost, Outcome
{form} think(turn, hands):
    print("half")
    subprocess.run(["echo", "from a child"])
    sys.__stdout__.write("raw\\n")
    return Outcome(summary=turn.task.description + " ä", data={{"files": 3}}, cost=Cost(usd=0.5))
"""
    hands = Noted()
    outcome = await thought(tmp_path, text, hands=hands)
    assert (outcome.summary, outcome.data, outcome.cost and outcome.cost.usd) == ("Count the files ä", {"files": 3}, 0.5)
    assert hands.said[0] in ("half", "from a child", "raw")
    ((pid, pgid),) = hands.began
    assert pid == pgid != os.getpgrp()
    assert is_gone(pid)


async def test_what_it_prints_is_told_at_once(tmp_path: Path) -> None:
    text = "import os, time\ndef think(turn):\n    print('half')\n    while not os.path.exists('on'): time.sleep(0.005)"
    hands = Releasing(tmp_path / "on")
    assert (await thought(tmp_path, text, a_turn(deadline_s=20.0), hands=hands)).kind == "done"
    assert hands.said == ["half"]


async def test_an_agent_works_there_too(tmp_path: Path) -> None:
    text = """
from covey.brains.agent import Agent
class Duck(Agent):
    async def on_task(self, task, turn):
        self.send("ops", "fyi")
        self.progress("half")
        return str(self.cancelled)
"""
    hands = Noted()
    outcome = await thought(tmp_path, text, hands=hands, target="thinking:Duck")
    assert outcome.summary == "False"
    assert [each.to for each in outcome.messages] == ["ops"]
    assert hands.said == ["half"]


@pytest.mark.parametrize(
    ("text", "said", "permanent"),
    [
        ("def think(turn): raise ValueError('no such branch')", "ValueError: no such branch", False),
        ("def think(turn): raise SystemExit(0)", "SystemExit: 0", False),
        ("import no_such_library", "needs the module no_such_library", True),
        ("def think(turn): return 5", "the brain answered builtins.int", True),
        ("import os\ndef think(turn): os._exit(0)", "ended without an outcome", False),
        ("import os\ndef think(turn): os._exit(3)", "ended with exit code 3", False),
        ("import os\ndef think(turn): os.kill(os.getpid(), 11)", "ended by SIGSEGV", False),
        ("def think(turn, hands): return hands.read(print)", "has no store", False),
        ("async def think(turn, hands): return await hands.write(print)", "has no store", False),
    ],
)
async def test_a_failure_there_is_told_here(tmp_path: Path, text: str, said: str, permanent: bool) -> None:
    outcome = await thought(tmp_path, text)
    assert outcome.kind == "failed"
    assert said in outcome.error
    assert outcome.permanent is permanent


@rule("A1b")
async def test_it_runs_in_its_agents_folder_with_its_env_and_nothing_of_the_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "of the operator")
    text = "import os\ndef think(turn): return {'cwd': os.getcwd(), 'env': dict(os.environ)}"
    data = (await thought(tmp_path, text, env={"GIVEN": "1"})).data
    assert data["cwd"] == str(tmp_path)
    assert data["env"]["GIVEN"] == "1"
    assert data["env"]["COVEY_RUN"] == "run_test"
    assert data["env"]["COVEY_TOKEN"] == "the token of coder"
    assert "A_SECRET" not in data["env"]


@rule("A1b")
def test_an_agent_with_an_env_or_a_user_has_its_python_in_a_process(tmp_path: Path) -> None:
    assert isinstance(make(settings(tmp_path, kind="python", target="a:b")), PythonBrain)
    assert isinstance(make(settings(tmp_path, kind="python", target="a:b", env={"A": "1"})), PythonProcessBrain)


@rule("K7", "K4c")
async def test_it_is_killed_whatever_it_does_with_all_that_it_started(tmp_path: Path) -> None:
    text = """
import signal, subprocess, time
def think(turn, hands):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    hands.progress(f"begun {child.pid}")
    while True: time.sleep(300)
"""
    hands = Noted()
    thinking = asyncio.create_task(thought(tmp_path, text, hands=hands))
    await hands.heard("begun")
    child = int(hands.said[0].split()[1])
    assert is_running(child)
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert not is_running(child)
    assert is_gone(hands.began[0][0])


@rule("K4a")
async def test_it_has_the_time_limit_of_its_turn(tmp_path: Path) -> None:
    outcome = await thought(tmp_path, "import time\ndef think(turn): time.sleep(300)", a_turn(deadline_s=0.2))
    assert outcome.error.startswith("timed out: it did not end within 0.2 s")


async def test_modules_of_the_folder_do_not_stand_in_for_what_the_worker_needs(tmp_path: Path) -> None:
    for name in ("json", "asyncio", "covey", "msgspec"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')")
    assert (await thought(tmp_path, "def think(turn): return 'well'")).summary == "well"
