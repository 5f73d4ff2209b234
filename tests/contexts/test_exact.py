"""Counting exactly is an extra: used where it is configured and can be had, and never a reason not to start (C1)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from covey.app.opening import count_as
from covey.base.errors import Misconfigured
from covey.contexts import exact
from covey.contexts.tokens import count_with, estimate, tokens_of
from tests.conftest import EIGHT

EXACT = msgspec.structs.replace(EIGHT, tokens="exact")


@pytest.fixture(autouse=True)
def counts_as_before() -> Iterator[None]:
    """Whatever a test chose is undone."""
    yield
    count_with(None)


def tokenizer(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A tokenizer that is installed, with its vocabulary: a token is a blank."""
    made = SimpleNamespace(get_encoding=lambda name: SimpleNamespace(encode_ordinary=lambda text: [name] * text.count(" ")))
    monkeypatch.setitem(sys.modules, "tiktoken", made)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    (folder / exact.FILE).touch()


def test_it_counts_exactly_where_it_is_wanted_and_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tokenizer(monkeypatch, tmp_path)
    count_as(EXACT)
    assert tokens_of("one two three ") == 3
    assert tokens_of("") == 1
    assert tokens_of(" x" * exact.PIECE_CHARS) == exact.PIECE_CHARS
    count_as(EIGHT)
    assert tokens_of("one two three") == estimate("one two three")


def test_without_the_package_it_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(Misconfigured, match="install"):
        exact.counter()
    count_as(EXACT)
    assert tokens_of("one two three") == estimate("one two three")


def test_without_its_vocabulary_it_estimates_and_downloads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tokenizer(monkeypatch, tmp_path)
    (tmp_path / exact.FILE).unlink()
    with pytest.raises(Misconfigured, match="fetches it once"):
        exact.counter()
    count_as(EXACT)
    assert tokens_of("one two three") == estimate("one two three")
