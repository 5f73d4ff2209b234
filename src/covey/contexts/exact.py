"""The exact count of tokens, by the o200k vocabulary (extra `tokens`). Nothing is downloaded here: a fleet starts without a network."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from covey.base.errors import Misconfigured
from covey.contexts.tokens import Counter

VOCABULARY = "o200k_base"
FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The name under which tiktoken keeps this vocabulary in its folder."""
PIECE_CHARS = 20_000
"""A text is counted in parts of this length: one of a single endless word would take tiktoken minutes."""


def counter() -> Counter:
    """The function that counts exactly.

    Raises:
        Misconfigured: The package or the vocabulary is not there; the sentence says how to get it.
    """
    try:
        import tiktoken  # noqa: PLC0415 - an extra, and 20 MB that only fleets with `tokens = "exact"` pay
    except ImportError as error:
        raise Misconfigured(f'tokens = "exact" needs tiktoken ({error}); install `covey[tokens]`, or leave it at "estimate".') from error
    folder = cache()
    if not (folder / FILE).is_file():
        raise Misconfigured(
            f'tokens = "exact" needs the vocabulary {VOCABULARY} in {folder} (or where TIKTOKEN_CACHE_DIR says);'
            f" `python -c \"import tiktoken; tiktoken.get_encoding('{VOCABULARY}')\"` fetches it once."
        )
    encode = tiktoken.get_encoding(VOCABULARY).encode_ordinary
    return lambda text: sum(len(encode(text[start : start + PIECE_CHARS])) for start in range(0, len(text), PIECE_CHARS)) or 1


def cache() -> Path:
    """The folder in which tiktoken looks for vocabularies."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    return Path(named) if named else Path(tempfile.gettempdir()) / "data-gym-cache"
