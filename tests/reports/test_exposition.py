"""Prometheus' form: names and types by its conventions, as its own parser and linter's rules have them, for an agent and the fleet."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from covey.agents import configuring
from covey.base.settings import BrainSettings
from covey.reports import exposition, metrics, scraping
from covey.store import Store
from covey.store.measured import Durations
from tests.conftest import EIGHT, ManualClock
from tests.reports.acting import add, awake, claim_mail, send
from tests.rules import rule

BASE_UNITS = ("_seconds", "_bytes", "_tokens", "_usd", "_total", "_info")
OTHER_UNITS = re.compile(r"_(ms|millis\w*|micros\w*|nanos\w*|minutes?|hours?|days|kb|mb|kib|mib|percent)(_|$)")


def with_process(store: Store, figures: dict[str, Any]) -> dict[str, Any]:
    return figures | {"process": {"build": {"1.2.3": 1}, "store": store.measured()}}


@pytest.mark.parametrize("series", exposition.EVERY, ids=lambda series: series.name)
def test_a_name_follows_the_conventions(series: exposition.Series) -> None:
    assert re.fullmatch(r"covey_[a-z]+(_[a-z]+)*", series.name)
    assert series.name.endswith("_total") == (series.kind == "counter")
    assert not OTHER_UNITS.search(series.name) or series.name.endswith("_last_day")
    assert not series.name.endswith(("_sum", "_count", "_bucket"))
    assert (series.each == "quantile") == (series.kind == "summary"), "only a summary has quantiles"
    if series.kind in ("summary", "histogram"):
        assert series.name.endswith("_seconds")
    assert series.says.endswith(".")


def test_no_name_is_given_twice() -> None:
    names = [series.name for series in exposition.EVERY]
    assert len(names) == len(set(names))


@rule("A6")
async def test_the_formats_own_parser_reads_all_of_it(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await send(fleet, "operator", "coder", "look")
    await claim_mail(fleet, "coder")
    text = metrics.prometheus(with_process(fleet, await fleet.read(metrics.of_fleet)))
    families = {family.name: family for family in text_string_to_metric_families(text)}
    kinds = {series.name.removesuffix("_total"): series.kind for series in exposition.EVERY}
    ours = {name: family for name, family in families.items() if name.startswith("covey_")}
    assert {name: family.type for name, family in ours.items()} == {name: kinds[name] for name in ours}
    assert all(family.documentation for family in ours.values())
    samples = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families.values() for sample in family.samples]
    assert len(samples) == len(set(samples)), "no sample is there twice"
    assert {"process_resident_memory_bytes", "process_open_fds"} <= families.keys()
    assert families["covey_build_info"].samples[0].labels == {"version": "1.2.3"}


async def test_labels_are_bounded_whatever_agents_say(fleet: Store) -> None:
    await awake(fleet)
    for number in range(30):
        await send(fleet, "operator", "coder", f"look at {number}", subject=f"subject {number}", type="alert")
        await add(fleet, f"count {number}", "coder")
    before = metrics.prometheus(await fleet.read(metrics.of_fleet)).count("\n")
    for number in range(30):
        await send(fleet, "chief", "sales", f"look at {number} again", subject=f'"}}\n{number}')
    assert metrics.prometheus(await fleet.read(metrics.of_fleet)).count("\n") <= before + 2, "an age of the oldest may come, and no more"


async def test_commits_are_timed_in_a_histogram(fleet: Store) -> None:
    before = fleet.measured()
    await send(fleet, "operator", "coder", "look")
    found = fleet.measured()
    assert found["verbs"] == before["verbs"] + 1
    assert found["commit"]["n"] == before["commit"]["n"] + 1
    assert found["commit"]["seconds"] > before["commit"]["seconds"]
    assert found["rings"] > before["rings"]
    assert found["waiting"] == 0


def test_a_histogram_counts_up_to_each_bound() -> None:
    durations = Durations()
    for seconds in (0.0005, 0.0006, 99.0):
        durations.add(seconds)
    found = durations.shown()
    assert (found["n"], found["seconds"]) == (3, pytest.approx(99.0011))
    buckets = found["buckets"]
    assert (buckets["0.0005"], buckets["0.001"], buckets["10"], buckets["+Inf"]) == (1, 2, 2, 3)
    assert list(buckets.values()) == sorted(buckets.values())


async def test_prometheus_finds_every_agent_that_has_a_port(fleet: Store) -> None:
    outside = msgspec.structs.replace(EIGHT.agents[2], brain=BrainSettings(kind="external"))
    settings = msgspec.structs.replace(EIGHT, agents=(*EIGHT.agents[:2], outside), lead="chief", deputy="coder", host="0.0.0.0")
    await fleet.write(configuring.configure, settings)
    found = [(each.targets, each.labels) for each in await fleet.read(scraping.targets)]
    assert found == [
        (["127.0.0.1:8001"], {"__meta_covey_agent": "chief"}),
        (["127.0.0.1:8002"], {"__meta_covey_agent": "coder"}),
    ]
