"""Exchanges: work that a message from outside began, and what its sender may know of it. Knows no protocol and no wire."""
