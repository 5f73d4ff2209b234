"""tokens.toml: made once, kept, private, rotated, never half written (DESIGN, Security)."""

from __future__ import annotations

import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from covey.base import token_file
from covey.base.errors import Misconfigured, NotFound

NAMES = ["operator", "chief", "coder"]


def test_each_name_gets_a_token_once(tmp_path: Path) -> None:
    folder = tmp_path / ".covey"
    first = token_file.ensure(folder, NAMES)
    assert list(first) == NAMES
    assert len(set(first.values())) == 3
    assert all(len(token) >= 43 for token in first.values())
    assert token_file.ensure(folder, NAMES) == first == token_file.read(folder)
    grown = token_file.ensure(folder, [*NAMES, "sales"])
    assert {name: grown[name] for name in NAMES} == first


def test_the_file_is_its_owners_alone_and_flat(tmp_path: Path) -> None:
    found = token_file.ensure(tmp_path, NAMES)
    path = tmp_path / token_file.NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tomllib.loads(path.read_text()) == found
    assert [each.name for each in tmp_path.iterdir()] == [token_file.NAME]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    token_file.ensure(tmp_path, NAMES)
    (tmp_path / token_file.NAME).chmod(mode)
    for use in (
        lambda: token_file.read(tmp_path),
        lambda: token_file.ensure(tmp_path, ["x"]),
        lambda: token_file.rotate(tmp_path, "coder"),
    ):
        with pytest.raises(Misconfigured, match="chmod 600"):
            use()


@pytest.mark.parametrize(
    "text",
    ["not toml", 'operator = ""\n', "operator = 5\n", 'operator = "has a space in it"\n', '[operator]\na = "b"\n', 'operator = "short"\n'],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / token_file.NAME
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(Misconfigured, match=token_file.NAME):
        token_file.read(tmp_path)
    assert path.read_text() == text


def test_a_token_of_ones_own_is_kept(tmp_path: Path) -> None:
    path = tmp_path / token_file.NAME
    path.touch(mode=0o600)
    path.write_text('operator = "my-own-token-0123456789"\n')
    assert token_file.ensure(tmp_path, NAMES)["operator"] == "my-own-token-0123456789"


def test_a_rotated_token_is_new_and_the_others_stay(tmp_path: Path) -> None:
    before = token_file.ensure(tmp_path, NAMES)
    new = token_file.rotate(tmp_path, "coder")
    assert new not in before.values()
    assert token_file.read(tmp_path) == before | {"coder": new}
    with pytest.raises(NotFound, match="operator, chief, coder"):
        token_file.rotate(tmp_path, "nobody")


def test_no_file_is_no_token(tmp_path: Path) -> None:
    assert token_file.read(tmp_path) == {}


def test_of_many_at_once_all_get_the_same_tokens(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: token_file.ensure(tmp_path, [*NAMES, f"agent-{n}"]), range(24)))
    last = token_file.read(tmp_path)
    assert len(last) == 27
    assert all(each.items() <= last.items() for each in found)


def test_a_folder_that_is_none_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="can't be"):
        token_file.ensure(tmp_path / "file" / "data", NAMES)
