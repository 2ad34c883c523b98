"""The other processes' end of the connections to the chief.

JAX ends a process at once, by SIGABRT, when the connection to its coordinator breaks (0.10.2 was
tried). So a process connects to it through a relay inside of itself, which keeps JAX's side open
when the far side is lost. A connection of its own, without JAX's data, says so at once.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.on_jax.peers import Peers
from estimator_bridge.runtime.on_jax.place import Place
from estimator_bridge.runtime.on_jax.wires import (
    LineReader,
    close,
    copy_bytes,
    send_line,
    start_thread,
    watch_link,
)

__all__ = ["Relay"]

_PAUSE = 0.2  # seconds between two attempts to connect
_CONNECT_SECS = 5.0  # for one attempt, and for the chief's answer to it
_TELL_SECS = 60.0  # between two log lines that name the chief


class Relay:
    """Connects this process to the chief.

    Args:
      place: this process's.
      peers: learns who is lost.

    Attributes:
      port: the port, at this machine's own address, at which JAX finds its coordinator.
    """

    def __init__(self, place: Place, peers: Peers):
        self._place, self._peers = place, peers
        host, _, port = place.addresses[0].rpartition(":")
        self._chief = host.strip("[]"), port
        self._inner_sockets: list[socket.socket] = []  # JAX's sides
        self._member: socket.socket | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def join(self, timeout_secs: float) -> None:
        """Connects to the chief, and waits until all processes have done so.

        Args:
          timeout_secs: the longest wait.

        Raises:
          WorkerError: the chief did not answer in that time, or has another cluster.
        """
        start_time = last_message = time.monotonic()
        reason = "it has not been tried"
        while True:
            try:
                if self._enter(start_time + timeout_secs):
                    start_thread(self._accept)
                    return
                reason = "it waits for other processes, or still has those of an earlier start"
            except OSError as error:
                reason = str(error) or type(error).__name__
            now = time.monotonic()
            if now >= start_time + timeout_secs:
                raise WorkerError(
                    f"{self._place.name} waited {timeout_secs:g} s (ESTIMATOR_BRIDGE_CONNECT_SECS) "
                    f"for the chief, {self._place.name_of(0)}, to start the steps on JAX: {reason}."
                    " Start every process of TF_CONFIG's cluster, and check that this machine can "
                    "reach the chief's address."
                )
            if now >= last_message + _TELL_SECS:
                last_message = now
                logging.warning(
                    "%s has waited %.0f s, of %g s at most, for the chief, %s: %s.",
                    self._place.name, now - start_time, timeout_secs, self._place.name_of(0),
                    reason,
                )  # fmt: skip
            time.sleep(_PAUSE)

    def tell(self, content: Mapping[str, Any]) -> None:
        """Sends a line to the chief, which passes it on."""
        if self._member is not None:
            with contextlib.suppress(OSError):  # its end is noticed by whoever reads from it
                send_line(self._member, content)

    def leave(self) -> None:
        """Leaves JAX's sides open for as long as the process lives, whatever Python collects."""
        for connection in self._inner_sockets:
            connection.detach()

    def _enter(self, end: float) -> bool:
        """Returns whether all processes are there, after an attempt to become one of them."""
        member = self._connect()
        reader = LineReader(member)
        hello = {
            "kind": "member",
            "index": self._place.index,
            "addresses": list(self._place.addresses),
            "devices": self._place.devices,
        }
        try:
            send_line(member, hello)
            answer = reader.read()
            if answer and "refused" in answer:
                raise WorkerError(str(answer["refused"]))
            if answer is None or "busy" not in answer:
                raise OSError("what answers there is not the chief of such a job")
            if answer["busy"]:
                close(member)
                return False
            while True:  # short waits, between which Ctrl-C is noticed
                try:
                    line = reader.read()
                except TimeoutError:
                    if time.monotonic() < end:
                        continue
                    line = {}
                if not line or "start" not in line:
                    close(member)
                    return False
                break
        except BaseException:
            close(member)
            raise
        member.settimeout(None)
        watch_link(member)
        self._member = member
        start_thread(self._listen, reader)
        return True

    def _connect(self) -> socket.socket:
        host, port = self._chief
        try:
            return socket.create_connection((host, int(port)), _CONNECT_SECS)
        except (ValueError, OverflowError) as error:
            raise OSError(f"its address must be 'host:port': {error}") from error

    def _listen(self, reader: LineReader) -> None:
        """Reads what the chief says, until it ends."""
        while line := reader.read():
            if "failed" in line:
                self._peers.note_failure(str(line["failed"]))
            if "lost" in line:
                self._peers.note_loss(str(line["lost"]))
        self._peers.note_loss(self._place.addresses[0])

    def _accept(self) -> None:
        while True:
            inner, _ = self._listener.accept()
            self._inner_sockets.append(inner)
            start_thread(self._pass_on, inner)

    def _pass_on(self, inner: socket.socket) -> None:
        """Joins a connection of JAX with the chief's; without it, JAX waits."""
        with contextlib.suppress(OSError):
            outer = self._connect()
            outer.settimeout(None)
            send_line(outer, {"kind": "stream"})
            start_thread(copy_bytes, outer, inner)
            copy_bytes(inner, outer)
            close(outer)
