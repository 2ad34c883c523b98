"""Lines and bytes between the processes of a job, over TCP."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Mapping
from typing import Any

from estimator_bridge.runtime.addresses import is_loopback

__all__ = [
    "LineReader",
    "close",
    "copy_bytes",
    "listener",
    "send_line",
    "start_thread",
    "watch_link",
]

_MOST = 1 << 16  # bytes of a line
# A host that no longer answers counts as lost after about 20 seconds without an answer.
_QUIET_SECS, _PROBE_SECS, _PROBES = 10, 5, 2


def listener(address: str) -> socket.socket:
    """Returns a socket that listens at the port of an address.

    It listens at all addresses of this machine, because the name of a service in a cluster may
    stand for another one; at a name of the machine itself, such as localhost, only there.

    Raises:
      OSError: the port is in use.
    """
    host, _, port = address.rpartition(":")
    if is_loopback(host):
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), int(port)), family=kind)
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", int(port)))


def watch_link(connection: socket.socket) -> None:
    """Has the system probe a quiet connection, so that a machine that is gone is noticed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", _QUIET_SECS),
        ("TCP_KEEPINTVL", _PROBE_SECS),
        ("TCP_KEEPCNT", _PROBES),
    ):
        if hasattr(socket, option):  # not on each system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def send_line(connection: socket.socket, content: Mapping[str, Any]) -> None:
    """Sends a line of JSON.

    Raises:
      OSError: the connection is closed.
    """
    connection.sendall(json.dumps(content).encode() + b"\n")


class LineReader:
    """Reads lines of JSON from a connection, and nothing beyond the last line that was asked for.

    Args:
      connection: the connection.
    """

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._line = bytearray()  # what has come of it before a time limit

    def read(self) -> dict[str, Any] | None:
        """Returns the content of the next line.

        Returns:
          None at the connection's end, or if what came is no line of JSON of ours.

        Raises:
          TimeoutError: no line came within the connection's own time limit.
        """
        try:
            while not self._line.endswith(b"\n"):
                # Byte by byte: what follows the first line may be JAX's.
                byte = self._connection.recv(1)
                if not byte or len(self._line) > _MOST:
                    return None
                self._line += byte
            content = json.loads(self._line)
            self._line.clear()
        except TimeoutError:
            raise
        except (OSError, ValueError, RecursionError):  # the last: brackets in brackets
            return None
        return content if isinstance(content, dict) else None


def copy_bytes(source: socket.socket, target: socket.socket) -> None:
    """Copies all that a connection brings to another one, until either ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(_MOST):
            target.sendall(data)


def close(connection: socket.socket) -> None:
    """Closes a connection from whichever thread, also one that another thread reads from."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def start_thread(target: Any, *arguments: Any) -> None:
    """Starts a thread that the process's end does not wait for."""
    threading.Thread(target=target, args=arguments, daemon=True, name="estimator_bridge").start()
