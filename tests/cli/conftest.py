"""The command line called as a person calls it, in this process, in a folder of its own, on a real store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from covey.base.markers import markers
from covey.cli import run


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value that it printed."""
        return json.loads(self.out)


Covey = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, with nothing of Covey's in the environment but that no gateway is wanted."""
    for name in list(os.environ):
        if name.startswith("COVEY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COVEY_GATEWAY", "off")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def covey(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Covey]:
    """Runs `covey WORD…` in the folder. Whatever happens, no traceback is shown; a fleet that was started against the plan is ended."""

    def call(*words: str) -> Ran:
        capsys.readouterr()
        code = run(words)
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        return Ran(code, said.out, said.err)

    yield call
    if markers(folder / ".covey" / "run"):
        run(["--dir", str(folder), "down"])
        pytest.fail("the test left a fleet running")
