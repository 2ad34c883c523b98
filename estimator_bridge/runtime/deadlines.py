"""Deadlines for TensorFlow calls that wait indefinitely for other machines."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from tensorflow.compat.v1 import logging

from estimator_bridge.errors import Interrupted, interrupted

__all__ = ["connect_secs", "interruptible_wait", "problem_at", "within", "worker_secs"]

_VARIABLE, _WORKER_VARIABLE = "ESTIMATOR_BRIDGE_CONNECT_SECS", "ESTIMATOR_BRIDGE_WORKER_SECS"
_DEFAULT_SECS = 600.0  # large TPU slices take minutes to start
_TELL_SECS = 60.0
# The first bytes of an HTTP/2 client, and so of gRPC: the preface, and an empty SETTINGS frame.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
_FRAME_HEADER, _TYPE_AT, _SETTINGS = 9, 3, 4

_Result = TypeVar("_Result")


def connect_secs() -> float:
    """Returns the longest wait for a TPU to connect and start, in seconds.

    Raises:
      ValueError: the environment variable ESTIMATOR_BRIDGE_CONNECT_SECS holds no number > 0.
    """
    return _secs(_VARIABLE) or _DEFAULT_SECS


def worker_secs() -> float | None:
    """Returns the longest wait for other workers once all have met; None: as long as they live.

    Raises:
      ValueError: the environment variable ESTIMATOR_BRIDGE_WORKER_SECS holds no number > 0.
    """
    return _secs(_WORKER_VARIABLE)


def _secs(variable: str) -> float | None:
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        secs = float(text)
    except ValueError:
        secs = math.nan
    if not (secs > 0 and math.isfinite(secs)):
        raise ValueError(
            f"The environment variable {variable} must be a number of seconds > 0, got {text!r}."
        )
    return secs


def within(secs: float, call: Callable[[], _Result], what: str) -> _Result:
    """Makes a call that may hang inside TensorFlow, in a separate thread.

    So the main thread waits in Python, where signals reach it.

    Args:
      secs: the longest wait. The thread of a call that takes longer is abandoned.
      call: a function without arguments that uses no thread-local state.
      what: the name of what is waited for; a log line repeats it each minute.

    Returns:
      The result of the call.

    Raises:
      TimeoutError: the call did not return in that time.
      Exception: whatever the call raises.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []
    end = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            end.set()

    start_time = time.monotonic()
    threading.Thread(target=run, name=f"estimator_bridge: {what}", daemon=True).start()
    while not end.wait(min(_TELL_SECS, max(0.0, start_time + secs - time.monotonic()))):
        secs_waited = time.monotonic() - start_time
        if secs_waited >= secs:
            raise TimeoutError(f"{what}: no result within {secs:g} s")
        logging.warning("Waiting for %.0f s, of %g s at most: %s", secs_waited, secs, what)
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def interruptible_wait(what: str) -> Iterator[None]:
    """Reports Ctrl-C in one line instead of a traceback.

    Args:
      what: the name of what is waited for.

    Raises:
      Interrupted: at Ctrl-C.
    """
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        error = interrupted(f"The wait for {what} was stopped by Ctrl-C.")
        if isinstance(error, SystemExit):  # of which Python shows nothing
            logging.warning("%s", error)
        raise error from None


def problem_at(host: str, port: int, secs: float) -> str | None:
    """Returns why no gRPC server answers at an address; None if one does.

    A connection alone proves little: a firewall, a proxy or a process that hangs accepts it too. A
    server of HTTP/2 answers a client's preface with a frame of settings.

    Args:
      host: a name or an IP address.
      port: its port.
      secs: the longest wait for the connection and the answer together.
    """
    end = time.monotonic() + secs
    answer = b""
    try:
        with contextlib.closing(socket.create_connection((host, port), secs)) as connection:
            connection.sendall(_PREFACE)
            while len(answer) < _FRAME_HEADER:
                connection.settimeout(max(0.01, end - time.monotonic()))
                data = connection.recv(_FRAME_HEADER - len(answer))
                if not data:
                    break
                answer += data
    except socket.timeout:
        if not answer:
            return f"timed out: no answer of a gRPC server within {secs:g} s"
    except socket.gaierror as error:
        name = host.rpartition("@")[2]  # a password may stand before it
        return f"the name {name!r} cannot be resolved: {error.strerror}"
    except OSError as error:
        return str(error) or type(error).__name__
    if len(answer) == _FRAME_HEADER and answer[_TYPE_AT] == _SETTINGS:
        return None
    reaction = f"sent {answer!r}" if answer else "closed the connection"
    return f"the server at this address does not speak gRPC: it {reaction}"
