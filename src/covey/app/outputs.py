"""What the processes print goes to `logs/…/*.out`; those files are kept small while they are written to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MOST_BYTES = 10 * 1024 * 1024


def bound(folder: Path, most_bytes: int = MOST_BYTES) -> list[Path]:
    """The outputs that had grown over the bound: each is `….out.1` now, and begins anew.

    It is copied and cut rather than renamed, since its process has it open; what is printed in between is lost.
    """
    cut = []
    for path in sorted(folder.rglob("*.out")):
        try:
            if path.stat().st_size > most_bytes:
                shutil.copyfile(path, path.with_name(path.name + ".1"))
                os.truncate(path, 0)
                cut.append(path)
        except OSError:  # gone, or not ours to cut: the next round looks again
            continue
    return cut
