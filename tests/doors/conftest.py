"""The doors' tests call the API's ports."""

from __future__ import annotations

from tests.api.conftest import world

__all__ = ["world"]
