"""The spans of a run in its trace: the agent's processing of what it took, and within it its brain's work. It reads and writes no store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from covey.base import tracing
from covey.base.settings import AgentSettings
from covey.base.tracing import Span, Spans, Value
from covey.brains.model import Outcome
from covey.runner.work import Work


@dataclass
class Watched:
    """What came of a span, for its span."""

    outcome: Outcome | None = None


@contextmanager
def processing(spans: Spans, work: Work) -> Iterator[Watched]:
    """What is done in here is the agent's work on this thing: below the span that sent it."""
    above = tracing.parse(work.traceparent)
    watched = Watched()
    with _spanned(spans, f"process {work.agent}", "consumer", above, _of_work(work), watched):
        yield watched


@contextmanager
def invoking(spans: Spans, work: Work, agent: AgentSettings) -> Iterator[Watched]:
    """What is done in here is its brain's work, in the words of OpenTelemetry's conventions for generative AI."""
    watched = Watched()
    with _spanned(spans, f"invoke_agent {work.agent}", "internal", tracing.current(), _of_brain(work, agent), watched):
        yield watched


@contextmanager
def _spanned(
    spans: Spans, name: str, kind: tracing.Kind, above: tracing.Trace | None, attributes: dict[str, Value], watched: Watched
) -> Iterator[None]:
    trace, start = spans.child(above), time.time()
    try:
        with tracing.entered(trace):
            yield
    finally:
        if spans.on and trace is not None:
            outcome = watched.outcome
            error = "failed" if outcome is not None and outcome.kind == "failed" else ""
            spans.record(Span(name, kind, trace, above, start, time.time(), attributes | _of_outcome(outcome), error))


def _of_work(work: Work) -> dict[str, Value]:
    found: dict[str, Value] = {"covey.agent": work.agent, "covey.run.id": work.run_id, "covey.kind": work.kind}
    found["covey.attempt"] = work.attempt
    if work.task is not None:
        return found | {"covey.task.id": work.item, "covey.task.priority": work.task.priority}
    return found | {
        "messaging.system": "covey",
        "messaging.operation.type": "process",
        "messaging.destination.name": work.agent,
        "messaging.message.id": work.item,
    }


def _of_brain(work: Work, agent: AgentSettings) -> dict[str, Value]:
    brain = agent.brain
    found: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": agent.id,
        "gen_ai.agent.name": agent.id,
        "gen_ai.agent.description": agent.role,
        "gen_ai.conversation.id": work.item if work.main is None else str(work.main.context["threadId"]),
        "gen_ai.provider.name": "covey",
        "covey.brain": brain.kind,
    }
    if brain.kind == "model":
        provider, named, model = brain.target.partition(":")
        found |= {"gen_ai.provider.name": provider, "gen_ai.request.model": model} if named else {"gen_ai.request.model": brain.target}
    return found


def _of_outcome(outcome: Outcome | None) -> dict[str, Value]:
    """How it ended and what it cost, as far as the brain said so."""
    if outcome is None:
        return {}
    found: dict[str, Value] = {"covey.outcome": outcome.kind}
    if outcome.cost is not None:
        cost = outcome.cost
        found |= {"gen_ai.usage.input_tokens": cost.tokens_in, "gen_ai.usage.output_tokens": cost.tokens_out, "covey.cost.usd": cost.usd}
    return found
