"""How errors, receipts and figures look on the wire."""

from __future__ import annotations

import json

import msgspec
import pytest

from covey.api.fleet_messages import receipt_shown
from covey.api.metrics import wants_text
from covey.base.errors import FACES, CoveyError, Invalid, MethodNotAllowed, StoreBusy, TooLarge, Unauthorized
from covey.doors.answer import Answer, problem
from covey.messages.model import Receipt, SendOutcome
from tests.rules import rule

NOW = 1_000.0


def headers(answer: Answer) -> dict[bytes, bytes]:
    return dict(answer.headers)


def test_a_problem_has_what_the_standard_and_programs_want() -> None:
    answer = problem(Invalid("to is missing.", field="to", nearest=["coder"]), NOW)
    assert (answer.status, answer.media) == (400, b"application/problem+json")
    assert json.loads(answer.body) == {
        "type": "urn:covey:invalid", "title": "invalid", "status": 400, "detail": "to is missing.", "code": "invalid", "field": "to", "nearest": ["coder"],
    }  # fmt: skip


@pytest.mark.parametrize(("retry_at", "seconds"), [(NOW + 1.2, b"2"), (NOW + 60, b"60"), (NOW - 5, b"1"), (NOW, b"1")])
def test_where_waiting_helps_the_answer_says_for_how_long(retry_at: float, seconds: bytes) -> None:
    answer = problem(StoreBusy("busy", retry_at=retry_at), NOW)
    assert (answer.status, headers(answer)[b"retry-after"], json.loads(answer.body)["retryAt"]) == (503, seconds, retry_at)


def test_each_kind_of_error_brings_its_own_headers() -> None:
    assert headers(problem(Unauthorized("who are you?"), NOW))[b"www-authenticate"] == b'Bearer realm="covey"'
    assert headers(problem(MethodNotAllowed("no", allow=["GET", "HEAD"]), NOW))[b"allow"] == b"GET, HEAD"
    assert headers(problem(TooLarge("no"), NOW)) == {}


def every_error(of: type[CoveyError] = CoveyError) -> list[type[CoveyError]]:
    return [of, *(each for kind in of.__subclasses__() for each in every_error(kind))]


def test_every_error_has_a_face() -> None:
    assert {error.code for error in every_error()} <= FACES.keys()


def receipt(*statuses: str, retry_at: float | None = None) -> Receipt:
    outcomes = {f"a{n}": SendOutcome(status, f"{status}.", retry_at=retry_at) for n, status in enumerate(statuses)}
    return Receipt("m1", "t1", NOW, statuses[0] if len(set(statuses)) == 1 else "mixed", "So it is.", outcomes)


@rule("L13")
@pytest.mark.parametrize("status", ["delivered", "held", "deferred", "suppressed", "mixed"])
def test_what_was_taken_is_answered_by_its_receipt(status: str) -> None:
    answer = receipt_shown(receipt(status) if status != "mixed" else receipt("delivered", "unknown"))
    assert answer.status == (FACES[status].http if status != "mixed" else 207) < 300
    assert json.loads(answer.body)["messageId"] == "m1"


@rule("L13")
@pytest.mark.parametrize(
    "status", ["debounced", "duplicate", "exhausted", "cycle", "too-deep", "paused", "unlinked", "disabled", "unknown", "gone"]
)
def test_what_was_refused_is_a_problem_with_its_status_and_its_receipt(status: str) -> None:
    answer = receipt_shown(receipt(status, status, retry_at=NOW + 3))
    found = json.loads(answer.body)
    assert (answer.status, answer.media, found["code"], found["detail"]) == (
        FACES[status].http,
        b"application/problem+json",
        status,
        "So it is.",
    )
    assert found["receipt"] == msgspec.to_builtins(receipt(status, status, retry_at=NOW + 3))
    assert headers(answer)[b"retry-after"] == b"3"


@rule("A6")
@pytest.mark.parametrize(
    ("accept", "text"),
    [
        ("", False), ("*/*", False), ("application/json", False), ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("text/plain", True), ("text/*", True), ("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True),
        ("text/plain;q=0.1, application/json", False), ("application/json;q=0.1, text/plain;q=0.2", True), ("text/plain;q=x", False), ("TEXT/PLAIN", True),
    ],
)  # fmt: skip
def test_figures_are_text_only_where_that_is_preferred(accept: str, text: bool) -> None:
    assert wants_text(accept) is text
