"""Errors of a cluster's addresses blame the right one, with the reason."""

import json
import os
import socket
import sys
import threading

import pytest

from estimator_bridge import runtime
from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime import addresses


@pytest.fixture
def busy_port():
    """A port at which this process listens, at one address only."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_taken_port_and_a_free_one(busy_port):
    assert addresses.port_problem(busy_port) == "Address already in use"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    assert addresses.port_problem(free) is None
    assert "65535" in addresses.port_problem(70000)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the holder is not known")
def test_the_holder_of_a_port_is_known(busy_port):
    number, name = addresses.port_holder(busy_port)
    assert number == os.getpid()
    assert name
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    assert addresses.port_holder(free) is None


def test_an_own_port_that_is_taken_is_blamed_at_once_and_not_the_other_worker(
    monkeypatch, busy_port
):
    cluster = {"chief": [f"127.0.0.1:{busy_port}"], "worker": ["127.0.0.1:9"]}
    task = {"type": "chief", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    monkeypatch.setattr("estimator_bridge.runtime.cluster.port_holder", lambda port: (7, "python"))
    with pytest.raises(WorkerError) as raised:
        runtime.multi_worker_strategy(timeout_secs=3600)
    assert str(raised.value) == (
        f"chief 0 cannot listen on port {busy_port} of this machine, which its address "
        f"127.0.0.1:{busy_port} in TF_CONFIG names: Address already in use. Process 7 (python) "
        "holds it: end it, or give this process another port, in the TF_CONFIG of every process."
    )


def test_each_wrong_address_has_its_reason():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")

        threading.Thread(target=serve, daemon=True).start()
        other = f"127.0.0.1:{listening.getsockname()[1]}"
        problems = addresses.problems_at(["127.0.0.1:9", "no.such.invalid:2222", other, "host"])
    assert "refused" in problems["127.0.0.1:9"]
    assert "the name 'no.such.invalid' cannot be resolved" in problems["no.such.invalid:2222"]
    assert problems[other].startswith("the server at this address does not speak gRPC: it sent")
    assert problems["host"] == "it must be 'host:port'"
