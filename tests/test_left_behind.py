"""What a test leaves running is found."""

from __future__ import annotations

import threading

from tests.left_behind import left_of


def test_a_thread_that_goes_on_is_named_and_one_that_ends_is_not() -> None:
    before, go_on = threading.enumerate(), threading.Event()
    held = threading.Thread(target=go_on.wait, args=(60,), name="held")
    brief = threading.Thread(target=lambda: None, name="brief")
    held.start()
    brief.start()
    try:
        assert left_of(before, patience_s=0.2) == ["held"]
        assert left_of([*before, held], patience_s=0.2) == []
    finally:
        go_on.set()
    assert left_of(before) == []
