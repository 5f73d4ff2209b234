"""The schema as each released version made it, kept under `tests/data/`, so that later versions can prove that they upgrade it.

`python -m tests.schemas` writes the dump of the version that stands in the source; done once, when it is released.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from covey.store.migrate import migrations
from covey.version import __version__

DATA = Path(__file__).parent / "data"
Kind = Literal["sqlite", "postgres"]


def dump(kind: Kind) -> str:
    """The statements that make an empty store of this source's version."""
    steps = migrations()
    names = ", ".join(f"('{step.name}', 0)" for step in steps)
    return "\n".join([*(getattr(step, kind) for step in steps), f"INSERT INTO migrations (name, at) VALUES {names};\n"])


def path_of(version: str, kind: Kind) -> Path:
    """Where a version's dump lies."""
    return DATA / f"schema-{version}.{kind}.sql"


def released(kind: Kind) -> list[Path]:
    """All dumps of a kind of database."""
    return sorted(DATA.glob(f"schema-*.{kind}.sql"))


if __name__ == "__main__":
    for each in ("sqlite", "postgres"):
        path_of(__version__, each).write_text(dump(each), encoding="utf-8")
        print(path_of(__version__, each).name)
