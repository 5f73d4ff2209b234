"""A brain that is Python code in the agent's own process: functions and agents, off the event loop, ended where that can be done."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.base.errors import CoveyError, Misconfigured
from covey.brains.calls import OwnLoop
from covey.brains.making import make
from covey.brains.model import Brain, Cost, Outcome, Turn
from covey.brains.python import PythonBrain
from tests.brains.turns import SITE, Noted, a_message, a_task, a_turn, asked, settings, until
from tests.rules import rule

HELD, RELEASE = threading.Event(), threading.Event()
"""Tells that code under test stands where it ignores its cancellation, and lets it go on."""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a test imports from its folder is forgotten after it."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    RELEASE.set()
    RELEASE.clear()
    HELD.clear()
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


class Code:
    """Modules in an agent's folder, and brains made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[Brain] = []

    def write(self, text: str, module: str = "thinking") -> None:
        (self.folder / f"{module}.py").write_text(text)
        for stale in (self.folder / "__pycache__").glob("*"):  # it is known by whole seconds only
            stale.unlink()

    def brain(self, target: str = "thinking:think") -> PythonBrain:
        brain = make(settings(self.folder, kind="python", target=target), SITE)
        assert isinstance(brain, PythonBrain)
        self.made.append(brain)
        return brain

    async def think(self, text: str, turn: Turn | None = None, *, target: str = "thinking:think", hands: Noted | None = None) -> Outcome:
        self.write(text)
        return await self.brain(target).think(turn or a_turn(), hands or Noted())


@pytest.fixture
async def code(tmp_path: Path) -> Any:
    made = Code(tmp_path)
    yield made
    for brain in made.made:
        await brain.close()


DEFS = pytest.mark.parametrize("form", ["def", "async def"])


# Answers


@DEFS
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("None", Outcome()),
        ("'three files'", Outcome(summary="three files")),
        ("{'files': 3, 4: [1.5, None]}", Outcome(data={"files": 3, "4": [1.5, None]})),
        ("Outcome(summary='x', cost=Cost(usd=0.5))", Outcome(summary="x", cost=Cost(usd=0.5))),
    ],
)
async def test_a_function_answers_an_outcome_text_data_or_nothing(code: Code, form: str, answer: str, outcome: Outcome) -> None:
    assert await code.think(f"from covey.brains.model import Cost, Outcome\n{form} think(turn):\n    return {answer}") == outcome


@DEFS
@pytest.mark.parametrize(
    ("answer", "said", "permanent"),
    [
        ("5", "the brain answered builtins.int", True),
        ("True", "the brain answered builtins.bool", True),
        ("['a']", "the brain answered builtins.list", True),
        ("b'a'", "the brain answered builtins.bytes", True),
        ("object()", "the brain answered builtins.object", True),
        ("{'x': object()}", "type object is unsupported", False),
        ("{'x': float('nan')}", "JSON", False),
        ("Outcome(kind='finished')", "kind", False),
        ("Outcome(summary=5)", "summary", False),
        ("'lone \\ud800'", "lone surrogate", False),
        ("'x' * 2_000_000", "2,000,", False),
    ],
)
async def test_any_other_answer_is_a_failure_that_says_what_it_is(code: Code, form: str, answer: str, said: str, permanent: bool) -> None:
    outcome = await code.think(f"from covey.brains.model import Outcome\n{form} think(turn):\n    return {answer}")
    assert outcome.kind == "failed"
    assert said in outcome.error
    assert outcome.permanent is permanent


@DEFS
@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ValueError('no such branch')", "ValueError: no such branch"),
        ("SystemExit(3)", "SystemExit: 3"),
        ("KeyboardInterrupt()", "KeyboardInterrupt"),
        ("asyncio.CancelledError('x')", "ancelled"),
        ("Bad()", "Bad: <exception str() failed>"),
        ("OSError('lone \\ud800 and \\0')", "OSError: lone ? and \ufffd"),
    ],
)
async def test_an_exception_is_a_failure_with_type_message_and_the_last_frames(code: Code, form: str, raised: str, said: str) -> None:
    text = f"""
import asyncio
class Bad(Exception):
    def __str__(self): raise ValueError
def deeper(n):
    if n: deeper(n - 1)
    raise {raised}
{form} think(turn):
    deeper(3)
"""
    outcome = await code.think(text)
    assert outcome.kind == "failed"
    assert said in outcome.error
    assert not outcome.permanent
    if "ancelled" not in said:
        assert f"{code.folder / 'thinking.py'}:7 in deeper: raise" in outcome.error
        assert outcome.error.count(" in deeper") == 3
        assert "covey/brains" not in outcome.error


async def test_a_function_that_returns_a_coroutine_is_awaited(code: Code) -> None:
    text = "async def later(turn): return turn.agent\nthink = lambda turn: later(turn)"
    assert (await code.think(text)).summary == "coder"


# Where it runs


@rule("A5")
@DEFS
async def test_code_never_runs_on_the_event_loops_thread_even_if_it_blocks(code: Code, form: str) -> None:
    text = f"""
import threading
go = threading.Event()
{form} think(turn):
    assert go.wait(10)
    return str(threading.get_ident())
"""
    thinking = asyncio.create_task(code.think(text))
    await until(lambda: "thinking" in sys.modules)
    for _ in range(50):
        await asyncio.sleep(0)
    assert not thinking.done()
    sys.modules["thinking"].go.set()
    assert (await thinking).summary != str(threading.get_ident())


async def test_what_an_async_brain_keeps_open_lasts_from_turn_to_turn(code: Code) -> None:
    code.write(
        "import asyncio\nloops = []\nasync def think(turn):\n    loops.append(asyncio.get_running_loop())\n    return str(len(set(map(id, loops))))"
    )
    brain = code.brain()
    assert [(await brain.think(a_turn(), Noted())).summary for _ in range(3)] == ["1", "1", "1"]
    mine = sys.modules["thinking"].loops[0]
    assert mine is not asyncio.get_running_loop()
    await brain.close()
    await until(mine.is_closed)


async def test_a_brains_loop_ends_what_still_runs_on_it() -> None:
    ended: list[str] = []
    begun = threading.Event()

    async def linger() -> None:
        begun.set()
        try:
            await asyncio.sleep(300)
        finally:
            ended.append("lingering")

    own = OwnLoop("test")
    loop = own.get()
    asyncio.run_coroutine_threadsafe(linger(), loop)
    assert await asyncio.to_thread(begun.wait, 10)
    own.close()
    await until(loop.is_closed)
    assert ended == ["lingering"]


# Hands


async def test_a_def_with_hands_reads_writes_and_tells_progress_from_its_thread(code: Code) -> None:
    text = """
import threading
def think(turn, hands):
    hands.progress("half")
    assert not hands.cancelled
    return {"read": hands.read(lambda x: x + 1, 1), "write": hands.write(lambda *, x: x, x=5)}
"""
    hands = Noted()
    assert (await code.think(text, hands=hands)).data == {"read": 2, "write": 5}
    assert hands.said == ["half"]


async def test_an_async_def_with_hands_reads_writes_and_tells_progress_from_its_loop(code: Code) -> None:
    text = """
async def think(turn, hands=None):
    await hands.progress("half")
    await hands.started(pid=1, pgid=2)
    return {"read": await hands.read(lambda x: x + 1, 1), "write": await hands.write(lambda *, x: x, x=5)}
"""
    hands = Noted()
    assert (await code.think(text, hands=hands)).data == {"read": 2, "write": 5}
    assert hands.said == ["half"]
    assert hands.began == [(1, 2)]


@pytest.mark.parametrize(
    ("signature", "given"),
    [
        ("turn", "0"),
        ("turn, verbose=0", "0"),
        ("turn, *more", "0"),
        ("turn, *, hands=0", "0"),
        ("turn, hands=0", "ThreadHands"),
        ("turn, anything", "ThreadHands"),
        ("turn, /, anything", "ThreadHands"),
    ],
)
async def test_hands_are_given_only_to_a_second_parameter_that_wants_them(code: Code, signature: str, given: str) -> None:
    name = signature.rpartition(" ")[2].partition("=")[0].lstrip("*")
    text = f"def think({signature}):\n    return type({name}).__name__ if {name} and {name} is not turn else '0'"
    assert (await code.think(text)).summary == given


# Loading


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("", "nowhere:think", "there is no module nowhere, neither in {folder} nor installed"),
        ("import no_such_library", "thinking:think", "thinking needs the module no_such_library, which is not installed"),
        ("1 / 0", "thinking:think", "thinking can't be imported: ZeroDivisionError: division by zero"),
        ("def think(:", "thinking:think", "SyntaxError"),
        ("raise SystemExit(2)", "thinking:think", "SystemExit: 2"),
        ("import asyncio\nraise asyncio.CancelledError", "thinking:think", "CancelledError"),
        ("def thinks(turn): pass", "thinking:think", "thinking has no think; it has thinks"),
        ("think = 5", "thinking:think", "is a int"),
        ("class Think: pass", "thinking:Think", "no subclass of covey.Agent"),
        ("from covey.brains.agent import Agent\nclass Think(Agent):\n  def __init__(self): 1 / 0", "thinking:Think", "ZeroDivisionError"),
    ],
)
async def test_code_that_can_not_be_loaded_is_a_permanent_failure_that_names_module_and_reason(
    code: Code, text: str, target: str, said: str
) -> None:
    outcome = await code.think(text, target=target)
    assert outcome.kind == "failed"
    assert outcome.permanent
    assert f"the python brain {target}" in outcome.error
    assert said.format(folder=code.folder) in outcome.error


async def test_a_module_that_was_put_right_is_imported_at_the_next_turn(code: Code) -> None:
    code.write("import no_such_library")
    brain = code.brain()
    assert (await brain.think(a_turn(), Noted())).permanent
    code.write("def think(turn): return 'well'")
    assert (await brain.think(a_turn(), Noted())).summary == "well"


async def test_a_module_is_looked_for_in_the_agents_folder_first_and_may_be_deep(code: Code) -> None:
    (code.folder / "pack").mkdir()
    (code.folder / "pack" / "deep.py").write_text("class Holder:\n    @staticmethod\n    def think(turn): return 'deep'")
    assert (await code.brain("pack.deep:Holder.think").think(a_turn(), Noted())).summary == "deep"


async def test_a_module_of_the_folder_goes_before_an_installed_one_of_that_name(code: Code) -> None:
    assert "tabnanny" not in sys.modules
    code.write("def think(turn): return 'mine'", "tabnanny")
    assert (await code.brain("tabnanny:think").think(a_turn(), Noted())).summary == "mine"


async def test_a_module_of_a_name_that_is_in_use_is_not_taken_for_the_other(code: Code, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thinking.py").write_text("def think(turn): return 'other'")
    assert (await code.think("def think(turn): return 'mine'")).summary == "mine"
    outcome = await Code(tmp_path / "other").brain().think(a_turn(), Noted())
    assert outcome.permanent
    assert f"another module of that name is in use ({code.folder / 'thinking.py'})" in outcome.error
    code.write("def think(turn): pass", "json")
    assert "another module of that name" in (await code.brain("json:think").think(a_turn(), Noted())).error


# Agents

DUCK = """
import covey.brains.agent as covey
class Duck(covey.Agent):
    def __init__(self):
        self.seen = 0
    {form} on_message(self, message, turn):
        self.seen += 1
        self.send("ops", "fyi", priority="low", in_reply_to=None)
        self.decide("keep b")
        self.remember("a is old")
        self.add_task("delete a", agent="ops", needs=["task_9"], estimated_seconds=5.0)
        self.progress("half")
        return f"{{message.body}} {{self.seen}}"
    {form} on_task(self, task, turn):
        if turn.answer is None:
            self.send("ops", "asking finance")
            return self.ask("finance", "which column?", deadline=5.0)
        return self.fail("no such column", permanent=True)
    {form} on_digest(self, messages, turn):
        return str([message.body for message in messages])
    {form} on_split(self, task, turn):
        return self.split("one", "two")
    def can(self, description):
        return "duck" in description
"""


@DEFS
async def test_an_agent_handles_messages_and_what_it_sends_and_keeps_is_in_the_outcome(code: Code, form: str) -> None:
    code.write(DUCK.format(form=form))
    brain, hands = code.brain("thinking:Duck"), Noted()
    turn = a_turn(kind="message", task=None, message=asked(a_message("How far?")))
    for number in (1, 2):
        outcome = await brain.think(turn, hands)
        assert outcome.summary == f"How far? {number}"
        assert [(each.to, each.content.body, each.priority) for each in outcome.messages] == [("ops", "fyi", "low")]
        assert (outcome.decisions, outcome.notes) == (["keep b"], ["a is old"])
        (task,) = outcome.tasks
        assert (task.description, task.agent, task.dependencies, task.estimated_seconds) == ("delete a", "ops", ["task_9"], 5.0)
    assert hands.said[0] == "half"


@DEFS
async def test_an_agent_asks_waits_fails_splits_and_takes_digests(code: Code, form: str) -> None:
    code.write(DUCK.format(form=form))
    brain = code.brain("thinking:Duck")
    waiting = await brain.think(a_turn(), Noted())
    assert waiting.kind == "waiting"
    assert [each.content.body for each in waiting.messages] == ["which column?", "asking finance"]
    assert waiting.messages[0].content.requires_response
    failed = await brain.think(a_turn(answer=asked(a_message("price"))), Noted())
    assert (failed.kind, failed.error, failed.permanent) == ("failed", "no such column", True)
    split = await brain.think(a_turn(kind="split"), Noted())
    assert (split.kind, [task.description for task in split.tasks]) == ("split", ["one", "two"])
    digest = a_turn(kind="digest", task=None, also=[asked(a_message("a")), asked(a_message("b"))])
    assert (await brain.think(digest, Noted())).summary == "['a', 'b']"


async def test_an_agent_that_overrides_nothing_says_so(code: Code) -> None:
    code.write("from covey.brains.agent import Agent\nclass Plain(Agent): pass")
    brain = code.brain("thinking:Plain")
    assert "does no tasks" in (await brain.think(a_turn(), Noted())).error
    assert "can't split" in (await brain.think(a_turn(kind="split"), Noted())).error
    assert "give it a task" in (await brain.think(a_turn(kind="message", task=None, message=asked(a_message())), Noted())).summary
    assert await brain.think(a_turn(kind="digest", task=None), Noted()) == Outcome()


async def test_what_two_turns_of_an_agent_send_at_once_is_kept_apart(code: Code) -> None:
    text = """
import asyncio
from covey.brains.agent import Agent
class Both(Agent):
    def __init__(self): self.here = 0
    async def on_task(self, task, turn):
        self.here += 1
        self.send("ops", task.description)
        while self.here < 2: await asyncio.sleep(0.001)
        self.send("ops", task.description)
"""
    code.write(text)
    brain = code.brain("thinking:Both")
    first, second = await asyncio.gather(*(brain.think(a_turn(f"run_{name}", task=a_task(name)), Noted()) for name in "ab"))
    assert [each.content.body for each in first.messages] == ["a", "a"]
    assert [each.content.body for each in second.messages] == ["b", "b"]


async def test_sending_outside_of_a_turn_says_why_it_can_not_be_done(code: Code) -> None:
    text = """
import threading
from covey.brains.agent import Agent
class Threads(Agent):
    def on_task(self, task, turn):
        found = []
        def elsewhere():
            try: self.send("ops", "x")
            except Exception as error: found.append(str(error))
        thread = threading.Thread(target=elsewhere); thread.start(); thread.join()
        return found[0]
"""
    assert "no turn is running here" in (await code.think(text, target="thinking:Threads")).summary


@rule("P1")
async def test_can_is_what_the_target_says(code: Code) -> None:
    code.write(DUCK.format(form="def"))
    assert [code.brain("thinking:Duck").can(text) for text in ("feed the duck", "deploy")] == [True, False]
    code.write("def think(turn): pass\ndef cautious(turn): pass\ncautious.can = lambda text: 1 / 0", "more")
    assert code.brain("more:think").can("anything")
    assert not code.brain("more:cautious").can("anything")
    assert not code.brain("gone:think").can("anything")


# Cancellation


@rule("K7")
async def test_a_cancelled_async_def_is_cancelled_and_has_ended_when_the_cancellation_returns(code: Code) -> None:
    text = """
import asyncio
ended = []
async def think(turn, hands):
    try:
        await hands.progress("begun")
        await asyncio.sleep(300)
    finally:
        await asyncio.sleep(0.02)
        ended.append(turn.run_id)
"""
    hands = Noted()
    thinking = asyncio.create_task(code.think(text, hands=hands))
    await hands.heard("begun")
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert sys.modules["thinking"].ended == ["run_test"]
    assert code.made[0].running_threads() == []  # type: ignore[attr-defined]


@rule("K7")
@pytest.mark.parametrize("looks", ["while not hands.cancelled: time.sleep(0.002)", "while True: hands.progress('on')"])
async def test_a_cancelled_def_that_looks_has_ended_when_the_cancellation_returns(code: Code, looks: str) -> None:
    text = f"""
import time
ended = []
def think(turn, hands):
    try:
        hands.progress("begun")
        {looks}
    finally:
        ended.append(turn.run_id)
"""
    hands = Noted()
    thinking = asyncio.create_task(code.think(text, hands=hands))
    await hands.heard("begun")
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert sys.modules["thinking"].ended == ["run_test"]


async def test_an_agents_def_can_see_that_its_run_is_to_end(code: Code) -> None:
    text = """
import time
from covey.brains.agent import Agent
class Looks(Agent):
    def on_task(self, task, turn):
        self.progress("begun")
        while not self.cancelled: time.sleep(0.002)
"""
    hands = Noted()
    thinking = asyncio.create_task(code.think(text, hands=hands, target="thinking:Looks"))
    await hands.heard("begun")
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking


@rule("K7", "K4a")
@pytest.mark.parametrize(
    "text",
    [
        "def think(turn, hands):\n    held.set()\n    release.wait(20)\n    return 'late'",
        "async def think(turn, hands):\n    held.set()\n    release.wait(20)\n    return 'late'",
        "held.set()\nrelease.wait(20)\ndef think(turn): return 'late'",
    ],
    ids=["def", "async def that blocks", "import"],
)
async def test_code_that_ignores_its_cancellation_is_not_said_to_have_ended_and_is_listed(code: Code, text: str) -> None:
    imports = "from tests.brains.test_python import HELD as held, RELEASE as release\n"
    thinking = asyncio.create_task(code.think(imports + text))
    await until(HELD.is_set)
    (brain,) = code.made
    assert isinstance(brain, PythonBrain)
    assert brain.running_threads() == []
    thinking.cancel()
    await until(lambda: brain.running_threads() == ["run_test"])
    assert not thinking.done(), "a run that goes on must not look as if it had ended"
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert brain.running_threads() == ["run_test"]
    RELEASE.set()
    await until(lambda: brain.running_threads() == [])


# Making


@rule("A5b")
async def test_an_external_agent_has_nothing_here_that_thinks(tmp_path: Path) -> None:
    brain = make(settings(tmp_path, kind="external"))
    assert brain.kind == "external"
    assert brain.can("anything")
    with pytest.raises(CoveyError, match="coder is external"):
        await brain.think(a_turn(), Noted())
    await brain.close()


def test_a_python_brain_has_no_options(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no options"):
        make(settings(tmp_path, kind="python", target="thinking:think", options={"a": 1}))


def test_an_agents_process_imports_only_the_kind_of_brain_that_it_has() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, covey.brains.making; print([name for name in sys.modules if name.startswith('covey.brains.')])",
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    assert "making" in found
    assert not any(each in found for each in ("brains.python", "brains.command", "brains.rules", "brains.running"))
