"""New ids and tokens, and the form of ids that callers bring (T3)."""

from __future__ import annotations

import random
import re

ID_FORM = re.compile(r"[A-Za-z0-9._:-]{1,128}")
AGENT_FORM = re.compile(r"[a-z][a-z0-9-]{0,31}")


def is_id(text: str) -> bool:
    """Whether a caller may bring this text as an id."""
    return ID_FORM.fullmatch(text) is not None


def is_agent_name(text: str) -> bool:
    """Whether an agent may bear this name (A2)."""
    return AGENT_FORM.fullmatch(text) is not None


class Ids:
    """Ids whose unique part is a UUIDv7: sortable by time, never to be used as an order (T3)."""

    def __init__(self, rng: random.Random | None = None) -> None:
        self._bits = (rng or random.SystemRandom()).getrandbits

    def new(self, prefix: str, at: float) -> str:
        """A new id `prefix_<32 hex>`."""
        noise = self._bits(74)
        value = (int(at * 1000) << 80) | 0x7 << 76 | (noise >> 62) << 64 | 0x2 << 62 | (noise & (1 << 62) - 1)
        return f"{prefix}_{value:032x}"

    def token(self) -> str:
        """A lease token that can't be guessed; 128 bits."""
        return f"{self._bits(128):032x}"


def new_secret() -> str:
    """A bearer token for an agent or the operator; 256 bits, URL-safe."""
    import secrets  # noqa: PLC0415 - 5 ms, OpenSSL among them, that a hook which only reads tokens does not pay

    return secrets.token_urlsafe(32)
