"""Connections to a target, with TLS where its address says so. ssl is imported only then: it takes 30 ms."""

from __future__ import annotations

import socket

from covey.base.target import Target


def connected(target: Target, timeout_s: float) -> socket.socket:
    """A connection to wherever the target's name leads.

    Raises:
        OSError: Nobody answers there in time, or not with TLS as it should.
    """
    sock = socket.create_connection((target.host, target.port), timeout_s)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return secured(sock, target)


def secured(sock: socket.socket, target: Target) -> socket.socket:
    """The connection with TLS, checked against the host's name, if the target is https; closed if that fails.

    Raises:
        OSError: The other side does not speak TLS as it should.
    """
    if target.scheme == "http":
        return sock
    import ssl  # noqa: PLC0415 - see above

    try:
        return ssl.create_default_context().wrap_socket(sock, server_hostname=target.host)
    except BaseException:
        sock.close()
        raise
