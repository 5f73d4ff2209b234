"""The default fleet's settings in a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from covey.base.settings import Settings
from tests.conftest import EIGHT


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The default eight, with all their folders below the test's."""
    shared, logs, data = (str(tmp_path / name) for name in ("shared", "logs", ".covey"))
    return msgspec.structs.replace(EIGHT, shared_dir=shared, logs_dir=logs, data_dir=data)
