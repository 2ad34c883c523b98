"""Naming an accelerator: an attached TPU, a missing one, or emulated cores."""

import socket
import time

import pytest
import tensorflow as tf
from engine import run_program

from estimator_bridge import runtime
from estimator_bridge.errors import AcceleratorNotFoundError, TooLateError
from estimator_bridge.runtime import accelerators, strategies


@pytest.fixture
def no_tpu(monkeypatch):
    monkeypatch.setattr(accelerators, "find_tpu", lambda environ: None)


def test_emulated_cores_are_replicas():
    for cores in (1, 2, 8):
        strategy = runtime.tpu_strategy(master=f"emulated:{cores}")
        assert strategy.num_replicas_in_sync == cores
    resolver = runtime.TPUClusterResolver("emulated:2")
    assert resolver.master() == resolver.get_master() == "emulated:2"
    assert resolver.num_accelerators() == {"TPU": 2}
    assert resolver.cluster_spec().as_dict() == {"worker": ["emulated:2"]}
    assert runtime.tpu_strategy(resolver) is runtime.tpu_strategy(master="emulated:2")


@pytest.mark.parametrize("name", ["emulated:0", "emulated:x", "emulated:", "emulated:-1"])
def test_a_bad_number_of_cores(name):
    with pytest.raises(ValueError, match=f"'{name}' must be a positive whole number"):
        runtime.TPUClusterResolver(name)
    with pytest.raises(ValueError, match="'emulated:8'"):
        runtime.tpu_strategy(master=name)


@pytest.mark.usefixtures("no_tpu")
def test_no_name_and_no_tpu_mean_no_tpu():
    assert runtime.TPUClusterResolver("") is None
    assert runtime.TPUClusterResolver(None) is None
    assert runtime.TPUClusterResolver() is None
    with pytest.raises(AcceleratorNotFoundError, match="no TPU was named"):
        runtime.tpu_strategy()


def test_no_name_takes_the_tpu_of_the_environment(monkeypatch):
    monkeypatch.setenv("COLAB_TPU_ADDR", "10.0.0.2:8470")
    monkeypatch.delenv("TPU_NAME", raising=False)
    assert runtime.tpu_present()
    resolver = runtime.TPUClusterResolver()
    assert resolver.master() == "grpc://10.0.0.2:8470"


def test_cores_that_are_asked_for_too_late():
    lines = run_program(
        """
        import tensorflow as tf
        from estimator_bridge import runtime
        from estimator_bridge.errors import TooLateError
        tf.constant(1) + 1
        print(runtime.tpu_strategy(master="emulated:1").num_replicas_in_sync)
        try:
            runtime.tpu_strategy(master="emulated:4")
        except TooLateError as error:
            print(error)
        """
    )
    assert lines[-2] == "1"  # which is there from the start
    assert "4 emulated cores were asked for" in lines[-1]
    assert "runtime.emulate_cores(4)" in lines[-1]


def test_cores_in_a_process_of_their_own_with_v2_behavior_off():
    lines = run_program(
        """
        from estimator_bridge import runtime
        import tensorflow as tf
        tf.compat.v1.disable_v2_behavior()
        print(runtime.tpu_strategy(master="emulated:3").num_replicas_in_sync)
        print(runtime.tpu_strategy(master="emulated:2").num_replicas_in_sync)
        """
    )
    assert lines[-2:] == ["3", "2"]


def test_more_cores_than_this_process_was_given():
    with pytest.raises(TooLateError, match="started with 8 CPU device"):
        runtime.tpu_strategy(master="emulated:64")


@pytest.fixture
def silent_server(monkeypatch):
    """The address of a server that takes a connection and never says a word."""
    monkeypatch.setattr(accelerators, "_PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "{}:{}".format(*server.getsockname())


def test_a_named_tpu_is_not_waited_for_for_ever(silent_server, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", silent_server)
    start = time.monotonic()
    with pytest.raises(AcceleratorNotFoundError, match=r"'my-tpu'.*timed out"):
        runtime.TPUClusterResolver("my-tpu")
    assert time.monotonic() - start < 60
    assert socket.getdefaulttimeout() is None


def test_a_machine_out_of_the_cloud_reads_no_words_of_urllib(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("GCE_METADATA_HOST", "{}:{}".format(*server.getsockname()))
    with pytest.raises(AcceleratorNotFoundError) as raised:  # the server is gone
        runtime.TPUClusterResolver("my-tpu")
    first = str(raised.value).splitlines()[0]
    assert first == "No TPU 'my-tpu' was found: Google Cloud gave no answer: Connection refused."


def test_an_address_where_nothing_answers():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "grpc://{}:{}".format(*server.getsockname())
    cluster = runtime.TPUClusterResolver(address)  # the server is gone
    start = time.monotonic()
    with pytest.raises(AcceleratorNotFoundError, match=address):
        runtime.tpu_strategy(cluster)
    assert time.monotonic() - start < 60


def test_a_tpu_of_this_machine_that_is_not_there():
    with pytest.raises(AcceleratorNotFoundError, match="'local' could not be initialized") as one:
        strategies.tpu_strategy(master="local")
    assert "\nThe installed TensorFlow does not support TPUs. tensorflow-tpu supports" in str(
        one.value
    )


def test_the_tpu_of_this_machine_is_one_that_jax_alone_has(monkeypatch):
    monkeypatch.setattr(strategies, "attached_chip", lambda environ: "tpu7x")
    with pytest.raises(AcceleratorNotFoundError, match=r"TPU7x, .*JAX runs the steps"):
        strategies.tpu_strategy(master="local")


def test_the_default_strategy_is_one_replica():
    strategy = runtime.default_strategy()
    assert strategy.num_replicas_in_sync == 1
    assert strategy is runtime.default_strategy()
    assert isinstance(strategy, tf.distribute.OneDeviceStrategy)


def test_the_name_of_this_machines_tpu_does_not_go_to_the_cloud_api(monkeypatch):
    class Resolver:
        def __init__(self, tpu, **unused_named):
            self.tpu = tpu

    monkeypatch.setattr(tf.distribute.cluster_resolver, "TPUClusterResolver", Resolver)
    monkeypatch.setattr(accelerators, "attached_chip", lambda environ: "v5e")
    monkeypatch.setenv("TPU_NAME", "my-tpu")
    monkeypatch.delenv("TPU_WORKER_HOSTNAMES", raising=False)
    assert runtime.TPUClusterResolver("my-tpu", zone="z").tpu == "local"
    assert runtime.TPUClusterResolver().tpu == "local"
    assert runtime.TPUClusterResolver("another").tpu == "another"


def test_a_start_that_ends_the_process_is_tried_in_another_one(monkeypatch):
    from estimator_bridge.runtime.tpu_probe import check_local_start

    ends = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    check_local_start(60, ends)  # not asked for
    monkeypatch.setenv("NEXT_PLUGGABLE_DEVICE_USE_C_API", "true")
    check_local_start(60, "raise SystemExit(1)")  # the start itself will tell
    check_local_start(0.5, "import time; time.sleep(30)")
    with pytest.raises(AcceleratorNotFoundError, match=r"no TPU chip.* SIGSEGV.* unset NEXT_PLUG"):
        check_local_start(60, ends)
    monkeypatch.setattr("estimator_bridge.runtime.tpu_probe.attached_chip", lambda environ: "v5e")
    check_local_start(60, ends)  # a TPU belongs to one process
