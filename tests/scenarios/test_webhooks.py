"""A webhook over a real fleet whose leader is killed with -9, and a receiver that is away meanwhile: each event comes, in order."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.scenarios.conftest import RunningFleet, wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(180)]
CONFIG = """
[agents.chief]
[agents.coder]

[webhooks.crm]
url = "http://127.0.0.1:{port}/in"
kinds = ["task.added"]
secret = "a-secret-of-sixteen-bytes-and-more"
allow_private = ["127.0.0.1"]
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    """Notes what it is told."""

    told: list[str]

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.told.append(body["subject"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def receiving(port: int, told: list[str]) -> Iterator[int]:
    """A receiver at a port, or at a free one; its port."""
    kind = type("Here", (Receiver,), {"told": told})
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_each_event_comes_in_order_though_leader_and_receiver_are_killed(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    told: list[str] = []
    with receiving(0, told) as port:
        fleet.configure(CONFIG.format(port=port))
        fleet.up()
        wait_until(lambda: fleet.json("webhook", "list")["items"][0]["state"] == "works", 60, lambda: f"it has no place\n{fleet.logs()}")
        added = [fleet.add("coder", "one")]
        wait_until(lambda: told == added, 60, lambda: f"{told} is not {added}\n{fleet.logs()}")
    added.append(fleet.add("coder", "two"))
    wait_until(lambda: fleet.json("webhook", "list")["items"][0]["tries"] > 0, 60, lambda: f"nobody tried\n{fleet.logs()}")
    before = fleet.kill("node")
    added.append(fleet.add("chief", "three"))
    with receiving(port, told):
        fleet.serving_again("node", before)
        fleet.covey("webhook", "retry", "crm")
        wait_until(lambda: list(dict.fromkeys(told)) == added, 60, lambda: f"{told} is not {added}\n{fleet.logs()}")
    found = fleet.json("webhook", "list")["items"][0]
    assert (found["state"], found["sent"]) == ("works", 3)
    fleet.down()
