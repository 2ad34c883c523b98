"""Addresses of TPUs and workers where nobody answers, or another service does."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

_PATIENCE = 10.0  # deadline in seconds for a worker and for a TPU's address
_SECS = 60.0  # the time after which it counts as hanging
_ERRORS = {"tpu": "AcceleratorNotFoundError", "worker": "WorkerError"}
_RAISED = re.compile(r"^(?:\w+\.)*(\w+Error): ", re.MULTILINE)


def _close(connection: socket.socket) -> None:
    connection.close()


def _say_nothing(connection: socket.socket) -> None:
    del connection


def _talk_http(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


def _talk_garbage(connection: socket.socket) -> None:
    connection.sendall(bytes(range(256)) * 16)


_SERVERS: dict[str, Callable[[socket.socket], None] | None] = {
    "refuses": None,
    "says nothing": _say_nothing,
    "closes": _close,
    "answers HTTP/1.1": _talk_http,
    "answers garbage": _talk_garbage,
}
NAMES = [f"a {place}'s address {what}" for place in _ERRORS for what in _SERVERS]


@contextlib.contextmanager
def _server(answer: Callable[[socket.socket], None] | None) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        if answer is None:
            listening.close()
            yield address
            return
        connections = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    connections.append(connection)
                    with contextlib.suppress(OSError):
                        answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield address


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: without effect.

    Returns:
      By case: see `counts.summarize_case`; held is what ended in time with an error that says so.
    """
    del options
    results = {}
    for case in names:
        place = "tpu" if " tpu's " in case else "worker"
        outcome = _case(place, _SERVERS[case.partition(" address ")[2]])
        has_ended_so = functools.partial(_has_error, _ERRORS[place])
        results[case] = summarize_case([outcome], has_ended_so, _describe)
    return results


def _has_error(expected: str, outcome: dict[str, Any]) -> bool:
    return outcome["error"] == expected


def _case(place: str, answer: Callable[[socket.socket], None] | None) -> dict[str, Any]:
    from parity.faults.forks import Forked
    from parity.faults.hanging import with_tpu, with_worker

    with tempfile.TemporaryDirectory() as folder, _server(answer) as address:
        program = {"tpu": with_tpu, "worker": with_worker}[place]
        model_dir = os.path.join(folder, "model")
        start = time.monotonic()
        process = Forked(
            lambda ready: program(model_dir, ready, address, _PATIENCE), Path(folder, "log")
        )
        code = process.wait(_SECS)
        errors = _RAISED.findall(process.output)
        return {
            "code": code,
            "secs": round(time.monotonic() - start),
            "error": errors[-1] if code and errors else "",
        }


def _describe(outcome: Mapping[str, Any]) -> str:
    if outcome["code"] is None:
        return f"nothing in {_SECS:g} s"
    how = outcome["error"] or f"exit code {outcome['code']}"
    return f"{how} in {outcome['secs']} s"
