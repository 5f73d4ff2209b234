"""What a port says of itself: its OpenAPI document, and the same as a page."""

from __future__ import annotations

from typing import Any

from covey.api.described import DescribedPort
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing, get


async def get_openapi(call: Call[Nothing, Nothing]) -> Answer:
    """The document, made once."""
    return _described(call).document_answer


async def get_docs(call: Call[Nothing, Nothing]) -> Answer:
    """The page, made once."""
    return _described(call).docs_answer


def _described(call: Call[Any, Any]) -> DescribedPort:
    assert isinstance(call.port, DescribedPort)
    return call.port


OPERATIONS = (
    get("/openapi.json", get_openapi, "anyone", "This document.", gives=dict[str, Any]),
    get("/docs", get_docs, "anyone", "This document as a page.", gives=str, media="text/html"),
)
