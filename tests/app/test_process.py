"""What a process of the fleet writes into its own log, whoever's words are in it."""

from __future__ import annotations

import io
import logging

from covey.app.process import Lines


def logged(message: str, *words: object, error: Exception | None = None) -> list[str]:
    """The lines that one entry comes to."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(Lines("%(levelname)s %(name)s: %(message)s"))
    record = logging.LogRecord("covey", logging.WARNING, __file__, 1, message, words, (type(error), error, None) if error else None)
    handler.handle(record)
    return out.getvalue().splitlines()


def test_others_words_in_the_log_forge_no_entry_and_command_no_terminal() -> None:
    assert logged("no such path: %s", "/\x1b[2J\nERROR covey: forged\r\x9b31m\u202e\u2028x") == [
        "WARNING covey: no such path: /\\x1b[2J\\nERROR covey: forged\\r\\x9b31m\\u202e\\u2028x"
    ]
    assert logged("Grüße, 你好\tall is well") == ["WARNING covey: Grüße, 你好\tall is well"]


def test_a_trace_is_indented_so_that_an_errors_words_are_no_entry_of_their_own() -> None:
    lines = logged("it failed", error=ValueError("bad\nERROR covey: forged\x1b[2J"))
    assert lines[0] == "WARNING covey: it failed"
    assert lines[1:] == ["  ValueError: bad", "  ERROR covey: forged\\x1b[2J"]
