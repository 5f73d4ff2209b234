"""A command brain: the turn comes as JSON on stdin, the outcome goes as JSON to stdout. Reads a git history, writes history.md."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path


def git(workspace: Path, *words: str) -> list[str]:
    """The lines that a git command prints."""
    done = subprocess.run(["git", "-C", str(workspace), *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> None:
    """Do the turn's task."""
    turn = json.load(sys.stdin)
    workspace = Path(os.environ["WORKSPACE"])
    print(f"{turn['agent']} reads the history of {workspace}", file=sys.stderr)
    subjects = git(workspace, "log", "--format=%s")
    files = Counter(line for line in git(workspace, "log", "--name-only", "--format=") if line)
    lines = [f"- {subject}" for subject in subjects]
    most = ", ".join(f"{name} ({count})" for name, count in files.most_common(3))
    (workspace / "history.md").write_text("## What changed\n\n" + "\n".join(lines) + f"\n\nMost changed: {most}\n")
    print(json.dumps({"kind": "done", "summary": f"{len(subjects)} commits; most changed: {most}", "data": {"commits": len(subjects)}}))


if __name__ == "__main__":
    main()
