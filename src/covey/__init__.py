"""Covey: a durable fleet of AI agents on one server."""

from covey.version import __version__

__all__ = ["__version__"]
