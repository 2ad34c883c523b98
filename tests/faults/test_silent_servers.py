"""A wait for a TPU or a worker ends with an error that says what was tried and for how long."""

import contextlib
import itertools
import socket
import threading
import time
import types

import pytest
import tensorflow as tf

from estimator_bridge import runtime
from estimator_bridge.errors import AcceleratorNotFoundError, WorkerError
from estimator_bridge.runtime import accelerators, addresses, cluster, deadlines, strategies

SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextlib.contextmanager
def server(answer):
    """Takes connections, sends each the same bytes, and nothing more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connections = []
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    connection.sendall(answer)
                    connections.append(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()


def test_a_server_of_tensorflow_answers():
    address = tf.distribute.Server.create_local_server().target.removeprefix("grpc://")
    host, _, port = address.rpartition(":")
    assert deadlines.problem_at(host, int(port), 10) is None
    assert addresses.problems_at([address]) == {}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", r"timed out: no answer of a gRPC server within 0\.3 s"),
        (b"HTTP/1.1 400 Bad Request\r\n", r"does not speak gRPC: it sent b'HTTP/1.1 '"),
    ],
)
def test_a_tpu_address_that_is_none_is_an_error_in_time(answer, message, monkeypatch):
    monkeypatch.setattr(accelerators, "_PATIENCE", 0.3)
    with server(answer) as (host, port):
        started = time.monotonic()
        with pytest.raises(AcceleratorNotFoundError, match=message):
            runtime.tpu_strategy(master=f"grpc://{host}:{port}")
        assert time.monotonic() - started < 60
        assert list(addresses.problems_at([f"{host}:{port}"], 0.3)) == [f"{host}:{port}"]


def test_a_tpu_that_answers_and_does_not_start_is_an_error_in_time(monkeypatch, caplog):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_CONNECT_SECS", "0.5")
    monkeypatch.setattr(deadlines, "_TELL_SECS", 0.2)
    hangs = threading.Event()
    monkeypatch.setattr(
        strategies.tf.config, "experimental_connect_to_cluster", lambda cluster: hangs.wait(120)
    )
    with server(SETTINGS) as (host, port):
        address = f"grpc://{host}:{port}"
        started = time.monotonic()
        with pytest.raises(AcceleratorNotFoundError) as raised:
            runtime.tpu_strategy(master=address)
        assert time.monotonic() - started < 60
    hangs.set()
    assert f"The TPU at '{address}' answers, but did not start within 0.5 s" in str(raised.value)
    assert f"Waiting for 0 s, of 0.5 s at most: the TPU at '{address}' to start" in caplog.text


def test_a_deadline_that_is_no_time(monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_CONNECT_SECS", "0")
    with pytest.raises(ValueError, match=r"CONNECT_SECS must be a number of seconds > 0, got '0'"):
        deadlines.connect_secs()


def test_workers_that_listen_and_say_nothing_are_named(monkeypatch, caplog):
    # A clock of its own: on a busy machine the first look alone may take longer than the wait.
    ticks = itertools.count()
    monkeypatch.setattr(
        cluster,
        "time",
        types.SimpleNamespace(monotonic=lambda: 30.0 * next(ticks), sleep=lambda secs: None),
    )
    monkeypatch.setattr(cluster, "problems_at", lambda silent: addresses.problems_at(silent, 0.2))
    came = r"waited 120 s .*No TensorFlow server answers at 127.0.0.1:\d+ \(timed out: no answer"
    with server(b"") as (host, port), pytest.raises(WorkerError, match=came):
        cluster.wait_for_servers([f"{host}:{port}"], 120.0, "chief 0")
    assert "chief 0 has waited 60 s, of 120 s at most, for other processes." in caplog.text
    assert f"No TensorFlow server answers at {host}:{port} (timed out" in caplog.text
