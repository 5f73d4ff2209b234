"""What is looked at before anything starts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from covey.app.starting import make_ready, why_shared
from covey.base.errors import Misconfigured
from tests.runner.office import QUICK


def folder(mode: int, owner: int) -> os.stat_result:
    """What is seen of a folder."""
    return os.stat_result((stat.S_IFDIR | mode, 1, 1, 1, owner, 0, 0, 0, 0, 0))


async def test_a_fleet_does_not_start_in_a_data_folder_that_everybody_may_write_to(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    settings = msgspec.structs.replace(QUICK, data_dir=str(data), logs_dir=str(tmp_path / "logs"))
    with pytest.raises(Misconfigured, match=r"everybody.*data_dir"):
        await make_ready(settings)
    assert not (data / "tokens.toml").exists()
    data.chmod(0o755)
    await make_ready(settings)
    assert (data / "tokens.toml").exists()


@pytest.mark.parametrize(
    ("mode", "owner", "user", "shared"),
    [
        (0o700, 1000, 1000, False),
        (0o700, 0, 1000, False),
        (0o775, 0, 1000, False),
        (0o700, 1001, 1000, True),
        (0o755, 1001, 0, False),
        (0o1777, 0, 1000, True),
        (0o702, 0, 0, True),
    ],
)
def test_a_data_folder_is_this_users_own_or_roots(mode: int, owner: int, user: int, shared: bool) -> None:
    assert (why_shared(folder(mode, owner), user) is not None) == shared
