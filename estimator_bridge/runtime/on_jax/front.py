"""The chief's end of the connections of a job; see ``relay`` for the other one."""

from __future__ import annotations

import contextlib
import socket
import threading
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
    listener,
    send_line,
    start_thread,
    watch_link,
)

__all__ = ["Front"]

_HELLO_SECS = 10.0  # for the first line of whoever connects
_TELL_SECS = 60.0  # between two log lines that name the missing processes
_SERVICE_SECS = 60.0  # for JAX's coordinator to listen, once all processes have come


class Front:
    """Listens at the chief's address, and passes the other processes on to JAX's coordinator.

    Args:
      place: the chief's.
      peers: learns who is lost.

    Raises:
      WorkerError: the port is in use.
    """

    def __init__(self, place: Place, peers: Peers):
        self._place, self._peers = place, peers
        self._members: dict[int, socket.socket] = {}
        self._streams: list[socket.socket] = []
        self._mismatch: str | None = None
        self._service_port = 0  # 0 while processes are missing
        self._is_closed = False
        self._changed = threading.Condition()
        own = place.addresses[0]
        try:
            self._listener = listener(own)
        except (OSError, ValueError, OverflowError) as error:
            raise WorkerError(
                f"{place.name} cannot listen at its address {own} in TF_CONFIG: {error}. End what "
                "holds the port, or give this process another one, in the TF_CONFIG of every "
                "process."
            ) from error
        start_thread(self._accept)

    def wait_for_all(self, timeout_secs: float) -> None:
        """Waits until all other processes are connected.

        Args:
          timeout_secs: the longest wait.

        Raises:
          WorkerError: they did not all come, or one has another cluster or other devices.
        """
        start_time = last_message = time.monotonic()
        with self._changed:
            while missing := self._missing():
                if self._mismatch:
                    raise WorkerError(self._mismatch)
                now = time.monotonic()
                if now >= start_time + timeout_secs:
                    raise WorkerError(
                        f"{self._place.name} waited {timeout_secs:g} s "
                        "(ESTIMATOR_BRIDGE_CONNECT_SECS) for the other processes of TF_CONFIG, and "
                        f"not all came. Missing: {', '.join(missing)}. Start each with the same "
                        "'cluster' in its TF_CONFIG, and check that it can reach this address."
                    )
                if now >= last_message + _TELL_SECS:
                    last_message = now
                    logging.warning(
                        "%s has waited %.0f s, of %g s at most, for %s.",
                        self._place.name, now - start_time, timeout_secs, ", ".join(missing),
                    )  # fmt: skip
                self._changed.wait(0.2)

    def start(self, service_port: int) -> None:
        """Has the other processes connect to JAX's coordinator, which will listen soon.

        Args:
          service_port: the coordinator's port, at this machine's own address.
        """
        with self._changed:
            self._service_port = service_port
        self.tell({"start": True})

    def tell(self, content: Mapping[str, Any], but: int | None = None) -> None:
        """Sends a line to the other processes.

        Args:
          content: the line.
          but: a process that does not get it.
        """
        with self._changed:
            members = [member for index, member in self._members.items() if index != but]
        for member in members:
            with contextlib.suppress(OSError):  # its end is noticed by whoever reads from it
                send_line(member, content)

    def close(self) -> None:
        """Ends all connections. The relays keep JAX's own side of theirs open."""
        with self._changed:
            self._is_closed = True
            connections = [self._listener, *self._streams, *self._members.values()]
        for connection in connections:
            close(connection)

    def _missing(self) -> list[str]:
        count = len(self._place.addresses)
        return [self._place.name_of(i) for i in range(1, count) if i not in self._members]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener was closed
            while True:
                connection, _ = self._listener.accept()
                start_thread(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_HELLO_SECS)
        reader = LineReader(connection)
        try:
            hello = reader.read()
            connection.settimeout(None)
            if hello and hello.get("kind") == "stream":
                self._pass_on(connection)
            elif hello and hello.get("kind") == "member" and self._admit(connection, hello):
                self._listen_to(reader, int(hello["index"]))
        except OSError:  # it left, or said nothing in time
            return
        finally:
            close(connection)

    def _admit(self, connection: socket.socket, hello: Mapping[str, Any]) -> bool:
        """Returns whether a process that asks to take part does."""
        index: Any = hello.get("index")
        place = self._place
        theirs = hello.get("addresses"), hello.get("devices")
        is_one = isinstance(index, int) and 0 < index < len(place.addresses)
        if not is_one or theirs != (list(place.addresses), place.devices):
            self._mismatch = (
                f"{place.name} runs {place.devices!r} with the processes "
                f"{', '.join(place.addresses)}; process {index} runs {theirs[1]!r} with {theirs[0]}"
                ". Give each process the same 'cluster' in TF_CONFIG, an index of its own, and the "
                "same devices."
            )
            send_line(connection, {"refused": self._mismatch})
            return False
        with self._changed:
            # A process that was started again comes before this one knows of the old one's end.
            is_busy = index in self._members or bool(self._service_port)
            send_line(connection, {"busy": is_busy})  # before any other line
            if not is_busy:
                self._members[index] = connection
            self._changed.notify_all()
        return not is_busy

    def _listen_to(self, reader: LineReader, index: int) -> None:
        """Reads what a process says, until it ends."""
        watch_link(self._members[index])
        while line := reader.read():
            if "failed" in line:
                self._peers.note_failure(str(line["failed"]))
                self.tell(line, but=index)
        with self._changed:
            del self._members[index]
            is_lost = bool(self._service_port) and not self._is_closed
        if is_lost:
            address = self._place.addresses[index]
            self._peers.note_loss(address)
            self.tell({"lost": address})

    def _pass_on(self, connection: socket.socket) -> None:
        """Joins a connection with JAX's coordinator."""
        end = time.monotonic() + _SERVICE_SECS
        while True:
            try:
                inner = socket.create_connection(("127.0.0.1", self._service_port))
                break
            except OSError:  # it does not listen yet
                if time.monotonic() >= end:
                    raise
                time.sleep(0.05)
        with self._changed:
            self._streams += [connection, inner]
        start_thread(copy_bytes, inner, connection)
        copy_bytes(connection, inner)
        close(inner)
