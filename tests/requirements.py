"""The rules of docs/requirements.toml, and which tests carry them. `python -m tests.requirements` prints the table."""

from __future__ import annotations

import ast
import contextlib
import io
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import pytest

ROOT = Path(__file__).parent.parent


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of the protocol."""

    title: str
    state: Literal["done", "partial", "later"]
    waits_for: tuple[str, ...] = ()


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole list."""

    topics: tuple[str, ...]
    rules: dict[str, Rule]

    def faults(self) -> list[str]:
        """What is wrong with the list itself. Pure."""
        found = []
        for name, rule in self.rules.items():
            if (rule.state == "done") == bool(rule.waits_for):
                found.append(f"{name} is {rule.state} and waits for {list(rule.waits_for) or 'nothing'}")
            found += [f"{name} waits for {topic!r}, which is no topic" for topic in rule.waits_for if topic not in self.topics]
        return found


class Mark(NamedTuple):
    """One test's mention of one rule."""

    rule: str
    test: str


def requirements() -> Requirements:
    """The list as it is on disk."""
    return msgspec.convert(tomllib.loads((ROOT / "docs" / "requirements.toml").read_text()), Requirements)


def marks(tests: Path = ROOT / "tests") -> list[Mark]:
    """Every mention of a rule by a test below the folder, read from the source: what is skipped counts too."""
    return [
        mark for file in sorted(tests.rglob("test_*.py")) for mark in marks_in(file.read_text(), file.relative_to(tests.parent).as_posix())
    ]


def marks_in(source: str, name: str) -> Iterator[Mark]:
    """Every mention of a rule in one file. Pure.

    Raises:
        ValueError: A mark's id is not a plain string, so that nobody can look it up.
    """
    for test in ast.walk(ast.parse(source, name)):
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test"):
            for call in test.decorator_list:
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute) and _name(call.func) == "rule":
                    yield from (Mark(_text(given, name), f"{name}::{test.name}") for given in call.args)


def _name(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr


def _text(given: ast.expr, name: str) -> str:
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    raise ValueError(f"{name}:{given.lineno}: a rule's id must be a plain string")


def unknown(listed: Requirements, found: Sequence[Mark]) -> list[str]:
    """The tests that name a rule which is not listed. Pure."""
    return [f"{mark.test} names {mark.rule}" for mark in found if mark.rule not in listed.rules]


def untested(listed: Requirements, found: Sequence[Mark]) -> list[str]:
    """The rules that are built, in whole or in part, and that no test names. Pure."""
    named = {mark.rule for mark in found}
    return [f"{name} ({rule.state}): {rule.title}" for name, rule in listed.rules.items() if rule.state != "later" and name not in named]


class Collector:
    """A pytest plugin that keeps, for each rule, the tests that carry it and the databases each runs on."""

    def __init__(self) -> None:
        self.tests: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Look at what was collected."""
        for item in session.items:
            callspec = getattr(item, "callspec", None)
            kind = callspec.params.get("database") if callspec else None
            for mark in item.iter_markers("rule"):
                for name in mark.args:
                    self.tests[name][item.nodeid.partition("[")[0]] |= {kind} if kind else set()


def main() -> int:
    """Print each rule with its state, its tests and the databases they run on; 1 if the tests can't be collected."""
    listed, collector = requirements(), Collector()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        failed = pytest.main(["--collect-only", "-q", str(ROOT / "tests")], plugins=[collector])
    for name, rule in listed.rules.items():
        waits = f", waits for {', '.join(rule.waits_for)}" if rule.waits_for else ""
        print(f"{name:4} {rule.state}{waits}: {rule.title}")
        for test, kinds in sorted(collector.tests[name].items()):
            print("      ", test, f"[{', '.join(sorted(kinds))}]" if kinds else "")
    if failed:
        print(said.getvalue())
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
