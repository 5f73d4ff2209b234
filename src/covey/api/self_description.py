"""What a port says of itself: its OpenAPI document, and the same as a page."""

from __future__ import annotations

from typing import Any

from covey.api.answer import Answer
from covey.api.call import Call
from covey.api.operations import Nothing, get


async def get_openapi(call: Call[Nothing, Nothing]) -> Answer:
    """The document, made once."""
    return call.port.document_answer


async def get_docs(call: Call[Nothing, Nothing]) -> Answer:
    """The page, made once."""
    return call.port.docs_answer


OPERATIONS = (
    get("/openapi.json", get_openapi, "anyone", "This document.", gives=dict[str, Any]),
    get("/docs", get_docs, "anyone", "This document as a page.", gives=str, media="text/html"),
)
