"""One trace shows a job over three agents' processes, as a real collector gets it, and a collector that is gone holds up nobody."""

from __future__ import annotations

import sys
import textwrap

import pytest

from covey.store import events
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until
from tests.telemetry.collector import Collector, Got, collecting

pytestmark = pytest.mark.scenario

CHIEF = """
from covey import Agent, Outcome
from covey.tasks.model import TaskDraft

class Chief(Agent):
    def on_task(self, task, turn):
        return Outcome(summary="handed on", tasks=[TaskDraft(description="build it", agent="coder")])

class Devops(Agent):
    def on_message(self, message, turn):
        return "deployed: token=hush-hush-hush"
"""
CODER = """
import os, pathlib, subprocess, sys
sys.stdin.read()
pathlib.Path("traceparent").write_text(os.environ["TRACEPARENT"])
subprocess.run([sys.executable, "-m", "covey", "--url", os.environ["COVEY_URL"], "send", "devops", "deploy it, hush", "--priority", "urgent"], check=True)
print("built")
"""
EXPECTED = {
    "create_task chief": "",
    "process chief": "create_task chief",
    "invoke_agent chief": "process chief",
    "create_task coder": "process chief",
    "process coder": "create_task coder",
    "invoke_agent coder": "process coder",
    "send devops": "invoke_agent coder",
    "process devops": "send devops",
    "invoke_agent devops": "process devops",
}
"""Each step of the job, and the one above it."""


def configure(fleet: RunningFleet, traces: str) -> None:
    fleet.room_for(6)
    (fleet.folder / "job.py").write_text(CHIEF)
    (fleet.folder / "coder.py").write_text(CODER)
    fleet.configure(
        textwrap.dedent(f"""
        [agents.chief]
        brain = "job:Chief"
        [agents.coder]
        brain = {{ kind = "command", command = ["{sys.executable}", "coder.py"] }}
        [agents.devops]
        brain = "job:Devops"
        [telemetry]
        traces = "{traces}"
        """)
    )


def steps_of(collector: Collector, trace: str) -> dict[str, Got]:
    """The first span of each name in the trace, those of commits and of other events left out: at the end chief hears of coder's task."""
    last_first = sorted(collector.spans, key=lambda span: span.start, reverse=True)
    return {span.name: span for span in last_first if span.trace == trace and span.name in EXPECTED}


def root_of(collector: Collector) -> Got | None:
    return next((span for span in list(collector.spans) if span.name == "create_task chief"), None)


@rule("M1")
@pytest.mark.timeout(150)
def test_one_trace_shows_a_job_over_three_agents(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    with collecting() as collector:
        configure(fleet, collector.url)
        fleet.env["OTEL_EXPORTER_OTLP_HEADERS"] = "authorization=secret-of-the-collector"
        fleet.up()
        fleet.add("chief", "ship it")
        wait_until(lambda: root_of(collector), 30, lambda: f"no root came\n{fleet.logs()}")
        root = root_of(collector)
        assert root is not None
        wait_until(
            lambda: steps_of(collector, root.trace).keys() == EXPECTED.keys(),
            60,
            lambda: f"{sorted(EXPECTED.keys() - steps_of(collector, root.trace).keys())} are missing\n{fleet.logs()}",
        )
        log = fleet.folder / "logs" / "agents" / "devops.log"
        wait_until(lambda: root.trace in log.read_text(), 10, "no line of the log names the trace")
        fleet.down()
    found = steps_of(collector, root.trace)
    idents = {"": ""} | {name: span.ident for name, span in found.items()}
    assert {name: span.parent for name, span in found.items()} == {name: idents[above] for name, above in EXPECTED.items()}

    for name, span in found.items():
        assert span.start <= span.end, name
        assert span.service == "covey"
        assert not span.failed
    for agent in ("chief", "coder", "devops"):
        brain, whole = found[f"invoke_agent {agent}"], found[f"process {agent}"]
        assert whole.start <= brain.start <= brain.end <= whole.end
        assert (brain.attributes["gen_ai.operation.name"], brain.attributes["gen_ai.agent.name"]) == ("invoke_agent", agent)
    assert (found["send devops"].kind, found["process devops"].kind) == (4, 5), "producer and consumer"
    assert found["process devops"].attributes["messaging.message.id"] == found["send devops"].attributes["messaging.message.id"]
    commits = [span for span in collector.spans if span.name == "commit settle_and_take" and span.trace == root.trace]
    assert {found[f"process {agent}"].ident for agent in ("chief", "coder", "devops")} <= {span.parent for span in commits}
    assert all(span.attributes["db.system.name"] == "sqlite" for span in commits)

    given = (fleet.folder / "traceparent").read_text()
    assert given == f"00-{root.trace}-{found['invoke_agent coder'].ident}-01", "a program goes on from its agent's step"
    assert "hush" not in str(collector.spans), "what somebody wrote is in no span"
    assert collector.headers["authorization"] == "secret-of-the-collector"


@pytest.mark.timeout(150)
def test_a_collector_that_is_gone_holds_up_nobody(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    with collecting() as collector:
        where = collector.url
    configure(fleet, where)
    fleet.up()
    ident = fleet.add("chief", "ship it")
    wait_until(lambda: fleet.task(ident).state == "done", 30, fleet.logs)
    wait_until(
        lambda: any(each.kind == "message.handled" for each in fleet.read(events.of_agent, "devops")),
        60,
        fleet.logs,
    )
    fleet.down()
    printed = (fleet.folder / "logs" / "agents" / "devops.out").read_text()
    assert printed.count("traces can't be sent") <= 1, printed
    assert "Traceback" not in printed, printed
