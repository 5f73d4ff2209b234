"""TLS: a fleet, and a webhook's receiver, behind a certificate are called only if it is one that this machine trusts and is the host's."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import covey
from covey.base.errors import NotRunning
from covey.base.outward import Allowed, connect
from covey.base.target import target_of

TOKEN = "token-of-a-test-0123456789"
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost and its key."""
    folder = tmp_path_factory.mktemp("tls")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-keyout", str(folder / "key"), "-out", str(folder / "cert"))
    subprocess.run(["openssl", *words, *names], check=True, capture_output=True, timeout=60)
    return folder / "cert", folder / "key"


@pytest.fixture
async def port(certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    """A server with that certificate that answers as a fleet of nobody."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"items":[]}')
        await writer.drain()
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    found: int = server.sockets[0].getsockname()[1]
    yield found
    server.close()
    await server.wait_closed()


async def agents_of(url: str) -> list[int]:
    """How many agents each form of the client finds."""
    blocking = await asyncio.to_thread(covey.Client(url, token=TOKEN, again_s=0.0).agents)
    return [len(blocking.items), len((await covey.AsyncClient(url, token=TOKEN, again_s=0.0).agents()).items)]


async def test_a_certificate_that_is_trusted_is_called(port: int, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert await agents_of(f"https://localhost:{port}") == [0, 0]
    sock = await asyncio.to_thread(connect, target_of(f"https://localhost:{port}"), Allowed(["localhost"]), timeout_s=5)
    assert isinstance(sock, ssl.SSLSocket)
    sock.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_one_that_is_not_or_is_anothers_is_refused(
    port: int, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    if host == "127.0.0.1":
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    for client in (covey.Client, covey.AsyncClient):
        made = client(f"https://{host}:{port}", token=TOKEN, again_s=0.0)
        with pytest.raises(NotRunning, match=r"(?i)certificate"):
            await made.agents() if isinstance(made, covey.AsyncClient) else await asyncio.to_thread(made.agents)
    with pytest.raises(NotRunning, match="does not speak TLS as it should"):
        await asyncio.to_thread(connect, target_of(f"https://{host}:{port}"), Allowed([host]), timeout_s=5)
