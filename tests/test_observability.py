"""What docs and deploy say of metrics and traces is what the code has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.reports import exposition
from covey.store.traced import NAMES

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy" / "observability"
DOCS = (ROOT / "docs" / "observability.md").read_text()
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
KNOWN = {series.name for series in exposition.EVERY} | {
    f"{series.name}{end}" for series in exposition.EVERY if series.kind == "histogram" for end in ("_bucket", "_sum", "_count")
}
LABELS = {"agent", "status", "quantile", "kind", "queue", "le", "version", "instance", "job"}


def expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (variable["query"]["query"] for variable in DASHBOARD["templating"]["list"] if variable["type"] == "query")
    yield from re.findall(r"^ +expr: (.+)$", (DEPLOY / "alerts.yml").read_text(), re.MULTILINE)


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_the_dashboard_and_the_alerts_ask_for_metrics_that_there_are(expression: str) -> None:
    assert set(re.findall(r"\bcovey_\w+", expression)) <= KNOWN
    assert set(re.findall(r"(\w+)=~?\"", expression)) <= LABELS
    assert all(set(group.replace(" ", "").split(",")) <= LABELS for group in re.findall(r"\bby \(([^)]*)\)", expression))


def test_every_panel_has_a_place_and_a_question() -> None:
    idents = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(idents) == len(set(idents)) > 20
    corners = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]}
    assert len(corners) == len(idents)
    assert all(panel["targets"] for panel in DASHBOARD["panels"])


def test_an_alert_says_what_is_and_what_to_do() -> None:
    alerts = re.split(r"^ +- alert: ", (DEPLOY / "alerts.yml").read_text(), flags=re.MULTILINE)[1:]
    assert len(alerts) > 10
    for alert in alerts:
        assert all(f" {word}:" in alert for word in ("expr", "summary", "todo")), alert
        assert "severity: " in alert, alert


def test_the_table_of_metrics_is_the_codes() -> None:
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in DOCS.splitlines() if line.startswith("| `covey_")]
    of_agents = {series.name for series in (*exposition.OF_AGENT, exposition.STATUS)}
    wanted = [
        (
            f"`{series.name}`",
            series.kind,
            ", ".join([*(["agent"] if series.name in of_agents else []), *([series.each] if series.each else [])]) or "-",
            series.says,
        )
        for series in exposition.EVERY
    ]
    assert sorted(rows) == sorted(wanted)


def test_every_span_is_described() -> None:
    told = " ".join(line for line in DOCS.splitlines() if line.startswith("| `"))
    missing = [name for name in NAMES.values() if not all(re.search(rf"\b{word}\b", told) for word in name.split())]
    assert missing == []
