"""`python -m benchmarks [NAME …]` measures and prints the table; exit code 1 if a goal was missed."""

from __future__ import annotations

import sys
import time
from importlib import import_module

NAMES = (
    "sends",
    "eight_to_eight",
    "wake_up",
    "http_message",
    "mailbox",
    "fleet",
    "links",
    "care",
    "contexts",
    "teams",
    "mcp",
    "a2a",
    "console",
    "hooks",
)


def main(names: list[str]) -> int:
    """Measure these, or all."""
    missed = 0
    print("| what | reached | beside it | goal | |\n|---|---|---|---|---|")
    for name in names or NAMES:
        began = time.monotonic()
        for figure in import_module(f"benchmarks.{name}").measure():
            missed += not figure.met
            print(f"| {figure.what} | {figure.reached} | {figure.raw} | {figure.goal} | {'yes' if figure.met else 'NO'} |", flush=True)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
