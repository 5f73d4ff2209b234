"""What users of comparable software reported is shown not to happen here, or says which topic brings the rest (docs/cases.toml)."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent
DOCS = ROOT.parent / "docs"
CASES: list[dict[str, Any]] = tomllib.loads((DOCS / "cases.toml").read_text(encoding="utf-8"))["cases"]
TOPICS: list[str] = tomllib.loads((DOCS / "requirements.toml").read_text(encoding="utf-8"))["topics"]


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["of"][0])
def test_a_case_names_tests_that_are_there_or_what_it_waits_for(case: dict[str, Any]) -> None:
    assert set(case) <= {"of", "what", "tests", "waits_for"}
    assert case["of"]
    assert case["what"].endswith(".")
    assert case.get("tests") or case.get("waits_for")
    assert case.get("waits_for", TOPICS[0]) in TOPICS
    for test in case.get("tests", []):
        file, name = test.split("::")
        assert name in names_in(file), test


def test_no_case_is_listed_twice() -> None:
    sources = [source for case in CASES for source in case["of"]]
    assert len(sources) == len(set(sources))
