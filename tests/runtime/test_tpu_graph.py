"""The graph that a TPU is given, traced under TensorFlow's own TPUStrategy."""

import json
import pathlib
import runpy

import pytest
from engine import run_program

PROGRAM = pathlib.Path(__file__).with_name("described_tpu.py")


@pytest.fixture(scope="module")
def traced():
    return json.loads(run_program(PROGRAM.read_text(), arguments=["8"])[-1])


def test_eight_cores_are_one_replicated_computation(traced):
    assert traced["replicas"] == 8
    assert traced["all"]["TPUReplicateMetadata"] == traced["all"]["TPUCompilationResult"] == 1
    assert len(traced["groups"]) == 1


def test_each_variable_reaches_the_cores_as_their_own_copies(traced):
    assert len(traced["variables"]) == 9
    assert traced["handles"] == 9


def test_sums_are_the_tpus_own(traced):
    # One of four gradients each, one of the batch's mean, and that one's gradient.
    assert traced["on_tpu"]["CrossReplicaSum"] == 6
    assert traced["all"]["CrossReplicaSum"] == 6


def test_the_training_runs_on_the_tpu(traced):
    on_tpu = traced["on_tpu"]
    assert on_tpu["ResourceApplyMomentum"] == 4
    assert on_tpu["Conv2DBackpropFilter"] == 1
    assert on_tpu["AssignAddVariableOp"] == 1
    assert on_tpu["StatelessRandomUniformV2"] == 1  # dropout's, a form that XLA compiles


def test_what_no_tpu_can_compute_stays_on_the_host(traced):
    for op in ("PyFunc", "ScalarSummary", "IteratorGetNextAsOptional", "While", "ConcatV2"):
        assert traced["all"][op] >= 1
        assert op not in traced["on_tpu"]


def test_on_emulated_cores_the_same_program_really_runs():
    described = runpy.run_path(str(PROGRAM), run_name="described")
    import tensorflow as tf
    from engine import lifted_session

    from estimator_bridge.graph import trace_graph
    from estimator_bridge.runtime import StepLoop, tpu_strategy
    from estimator_bridge.tensorflow_private import eager_mode

    strategy = tpu_strategy(master="emulated:8")
    with trace_graph(seed=1, shards=8) as graph:
        x, y, loss, train, host = described["program"](8, 16)
    loop = StepLoop(
        lifted_session(graph, strategy), strategy, [x.name, y.name], [f"^{train.name}"], loss.name,
        host=host, limit_variable="global_step",
    )  # fmt: skip
    with eager_mode():
        data = tf.data.Dataset.from_tensors((tf.ones([16, 4, 4, 1]), tf.zeros([16], "int64")))
        result = loop(iter(data.repeat()), 10, limit=7)
    assert result.steps == 7
    assert result.loss < 1.1
