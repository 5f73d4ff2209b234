"""A command brain: sums up the CSV files of the workspace and writes the report from what the others left there."""

import csv
import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Do the turn's task."""
    turn = json.load(sys.stdin)
    workspace = Path(os.environ["WORKSPACE"])
    rows = [row for path in sorted(workspace.glob("*.csv")) for row in csv.DictReader(path.open(newline=""))]
    total = sum(float(row["amount"]) for row in rows)
    by_region: dict[str, float] = {}
    for row in rows:
        by_region[row["region"]] = by_region.get(row["region"], 0.0) + float(row["amount"])
    figures = "\n".join(f"- {region}: {amount:.2f}" for region, amount in sorted(by_region.items()))
    parts = [(workspace / name).read_text() for name in ("history.md", "tests.md")]
    report = "# Release report\n\n" + "\n".join(parts) + f"\n## Figures\n\n{figures}\n- total: {total:.2f}\n"
    (workspace / "report.md").write_text(report)
    summary = f"report.md is written; {len(rows)} rows, total {total:.2f}"
    print(json.dumps({"kind": "done", "summary": summary, "data": {"task": turn["task"]["taskId"]}}))


if __name__ == "__main__":
    main()
