"""How commands end when something is wrong: one sentence, a problem object with --json, the right exit code, never a traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from covey.base.errors import FACES
from covey.cli import reach as reaching
from covey.cli.output import Refused, safe
from tests.cli.conftest import Covey


def unused_port() -> int:
    """A port that nobody holds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_every_problem_has_its_exit_code_and_a_problem_is_never_a_success() -> None:
    for code, face in FACES.items():
        assert Refused({"code": code}).exit_code == (face.exit or 1)
    assert Refused({"code": "never heard of"}).exit_code == 1


def test_a_fault_of_ours_goes_to_a_file_with_its_traceback(covey: Covey, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(reaching.Reach, "get", lambda *_, **__: 1 // 0)
    ended = covey("ps")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
    (file,) = tmp_path.glob("covey-*.log")
    assert str(file) in ended.err
    assert "ZeroDivisionError" in file.read_text()
    ended = covey("ps", "--json")
    assert (ended.code, ended.json["code"]) == (1, "failed")
    assert Path(ended.json["log"]).exists()


def test_a_fault_inside_the_api_is_told_the_same_way(covey: Covey, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    covey("ps")
    monkeypatch.setattr("covey.reports.status.state_of", lambda *_: 1 // 0)
    ended = covey("ps", "--json")
    assert (ended.code, ended.json["code"], ended.err) == (1, "failed", "")
    assert "ZeroDivisionError" in Path(ended.json["log"]).read_text()


def test_tracebacks_are_shown_to_who_asks(folder: Path) -> None:
    code = "import sys\nfrom covey.cli import run\nfrom covey.cli.reach import Reach\nReach.get = lambda *_, **__: 1 // 0\nsys.exit(run(['ps']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"COVEY_DEBUG": "1", "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_a_fleet_that_is_not_there_can_not_be_reached(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_TOKEN", "x" * 32)
    url = f"http://127.0.0.1:{unused_port()}"
    for words in (("ps",), ("send", "chief", "hi"), ("ask", "chief", "hi"), ("events", "-f"), ("task", "wait", "x")):
        ended = covey(*words, "--url", url, "--json")
        assert (ended.code, ended.json["code"]) == (5, "not_running"), words
    assert url in covey("ps", "--url", url).err


def test_an_address_must_be_one_and_needs_a_token(covey: Covey, folder: Path) -> None:
    for url in ("localhost:8000", "ftp://x", "http://:1", "http://x:99999"):
        assert covey("ps", "--url", url).code == 2, url
    ended = covey("ps", "--url", "http://fleet.example:8000")
    assert ended.code == 2
    assert "COVEY_TOKEN" in ended.err
    assert "--from" in covey("send", "chief", "hi", "--from", "coder", "--url", "http://fleet.example:8000").err
    assert list(folder.iterdir()) == []


def test_a_token_of_this_machine_is_never_sent_elsewhere(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    covey("send", "chief", "hi")
    elsewhere = "http://fleet.example:8000"
    assert covey("ps", "--url", elsewhere, "--json").json["code"] == "invalid"
    monkeypatch.setenv("COVEY_TOKEN", "x" * 32)
    monkeypatch.setenv("COVEY_AGENT", "coder")
    assert covey("send", "chief", "hi", "--from", "sales", "--url", elsewhere, "--json").json["field"] == "--from"
    assert covey("send", "chief", "hi", "--from", "coder", "--url", elsewhere, "--json").json["code"] == "not_running"


def test_what_is_no_api_is_named(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_TOKEN", "x" * 32)
    script = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\nprint(server.getsockname()[1], flush=True)\n"
        "peer, _ = server.accept()\npeer.recv(9999)\npeer.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n<htm>')\npeer.recv(1)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        ended = covey("ps", "--url", f"http://127.0.0.1:{port}", "--json")
        server.kill()
    assert (ended.code, ended.json["code"]) == (1, "failed")
    assert "no JSON" in ended.json["detail"]


def test_a_store_that_can_not_be_had_is_one_sentence(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_STORE", f"postgresql://me:hidden@127.0.0.1:{unused_port()}/covey")
    for words in (
        ("send", "chief", "hi"),
        ("ps",),
        ("db", "check"),
        ("db", "migrate"),
        ("up", "--detach", "--base-port", "21700"),
        ("export", "x"),
    ):
        ended = covey(*words)
        assert ended.code == 1, words
        assert len(ended.err.splitlines()) == 1
        assert "hidden" not in ended.err
    ended = covey("doctor", "--json")
    assert ended.code == 1
    assert "fail" in {each["level"] for each in ended.json["findings"] if each["about"] == "store"}


def test_a_folder_that_can_not_be_written_is_one_sentence(covey: Covey, folder: Path) -> None:
    (folder / ".covey").write_text("a file where the folder belongs")
    for words in (("send", "chief", "hi"), ("ps",), ("up", "--detach", "--base-port", "21700"), ("token", "show", "chief")):
        ended = covey(*words)
        assert ended.code in (1, 2), words
        assert len(ended.err.splitlines()) == 1, ended.err
        assert ".covey" in ended.err


def test_a_pipe_that_closes_is_no_error(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    for reader in ("head -1", "true"):
        shell = f"{sys.executable} -m covey events --limit 200 | {reader}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_what_a_terminal_would_obey_is_taken_out() -> None:
    assert safe("a\x1b[2Jb\tc\n\x07") == "a\ufffd[2Jb\tc\n\ufffd"


def test_ps_says_that_nothing_runs_and_how_it_is_started(covey: Covey) -> None:
    assert "nothing of this fleet runs; `covey up` starts it" in covey("ps").out
    assert set(covey("ps", "--json").json) == {"items", "servers", "cursor"}
