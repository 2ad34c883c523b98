"""Replicas that are spread over several cores (num_cores_per_replica)."""

from __future__ import annotations

import numpy as np
import pytest
from pods import trace_loop

import estimator_bridge as eb
from estimator_bridge.testing import described_tpu
from estimator_bridge.tpu.input_partitions import flat_partitions

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig
TRAIN = eb.ModeKeys.TRAIN


def batches(params, mode):
    x = np.arange(48, dtype=np.float32).reshape([12, 4])
    data = tf.data.Dataset.from_tensor_slices(({"x": x, "y": x}, x[:, 0])).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


class Split:
    """A model whose second half is on the second core."""

    def __init__(self):
        self.contexts, self.shapes = [], []

    def __call__(self, features, labels, mode, params):
        self.contexts.append(params["context"])
        self.shapes.append(features["x"].shape.as_list())
        hidden = v1.layers.dense(features["x"], 3, name="first")
        with tf.device(v1.tpu.core(1)):
            predicted = v1.layers.dense(hidden, 1, name="second")[:, 0]
        loss = tf.reduce_mean(tf.square(predicted - labels))
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.001))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def trace(model, cores, hosts=2, size=32, **tpu_config):
    strategy = described_tpu(8, hosts, cores)
    return strategy, trace_loop(
        strategy, model, batches, TRAIN, size, num_cores_per_replica=cores, **tpu_config
    )


def test_operations_and_variables_stay_on_their_core(monkeypatch):
    strategy = described_tpu(8, 2, 2)
    cores, logical_device = [], strategy.extended.experimental_logical_device
    monkeypatch.setattr(
        strategy.extended,
        "experimental_logical_device",
        lambda core: cores.append(core) or logical_device(core),
    )
    model = Split()
    one = trace_loop(strategy, model, batches, TRAIN, 32, num_cores_per_replica=2)
    assert cores == [1, 1]  # kernel and bias of the second layer
    second = one.graph.placed["/device:TPU_REPLICATED_CORE:1"]
    assert second["MatMul"] == second["BiasAdd"] == 1
    assert one.graph.on_tpu["MatMul"] == 5  # with those of the gradients
    assert (one.graph.computations, one.graph.variables) == (1, 5)
    assert one.graph.on_tpu["CrossReplicaSum"] == 4


def test_the_functions_are_told_of_replicas_and_their_cores():
    model = Split()
    strategy, one = trace(model, 2)
    assert strategy.num_replicas_in_sync == 8
    assert model.shapes == [[4, 4]]
    deployments = [p["context"].current_input_fn_deployment() for p in one.calls]
    assert [(p["batch_size"], *d[1:]) for p, d in zip(one.calls, deployments)] == [
        (16, 0, 2, 4),
        (16, 1, 2, 4),
    ]
    (context,) = model.contexts
    assert context.device_assignment.num_cores_per_replica == 2
    assert context.device_assignment.num_replicas == 8
    devices = {context.device_for_replica(i) for i in range(8)}
    assert devices == {
        (f"/job:worker/task:{host}/device:CPU:0", core) for host in (0, 1) for core in (0, 2, 4, 6)
    }
    with pytest.raises(ValueError, match="not supported for model_parallelism"):
        _ = context.num_of_replicas_per_host


def test_a_replica_that_is_larger_than_a_host():
    with pytest.raises(ValueError, match=r"Except the PER_HOST_V2 mode.*replica: 16.*host: 8"):
        trace(Split(), 16)
    model = Split()
    _, one = trace(model, 16, per_host_input_for_training=Pipeline.PER_HOST_V2)
    (params,) = one.calls
    context = params["context"]
    assert (params["batch_size"], context.num_hosts, context.num_replicas) == (32, 2, 1)
    assert context.current_input_fn_deployment()[1:] == (0, 1, 1)
    assert model.shapes == [[32, 4]]


def test_input_is_cut_over_the_cores():
    dims = [{"x": [1, 2], "y": None}, None]
    per_core = {"per_host_input_for_training": Pipeline.PER_HOST_V2}
    _, cut = trace(Split(), 2, input_partition_dims=dims, **per_core)
    # One for each of x, y and the labels; the last two are given to all cores whole.
    assert cut.graph.on_tpu["XlaSharding"] == 3
    _, whole = trace(Split(), 2, **per_core)
    assert whole.graph.on_tpu["XlaSharding"] == 0


PAIR = ({"a": tf.TensorSpec([8, 4]), "b": tf.TensorSpec([8])}, tf.TensorSpec([8, 6]))


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ([{"a": [1, 2], "b": None}], [[1, 2], None, None]),
        ([{"b": [2], "a": None}, [2, 1]], [None, [2], [2, 1]]),
        ([{"a": [1, 1], "b": [1]}, None], [[1, 1], [1], None]),
    ],
)
def test_partitions_in_the_structure_of_the_batch(dims, expected):
    assert flat_partitions(dims, PAIR, 2) == expected


def test_none_stands_for_one_tensor_or_for_all_labels():
    one = tf.TensorSpec([8])
    spec = (one, {"first": {"second": one}, "third": one})
    whole = [[2], {"first": {"second": None}, "third": None}]
    assert flat_partitions(whole, spec, 2) == flat_partitions([[2], None], spec, 2)
    with pytest.raises(ValueError, match=r"\[1\] mismatched the structure of labels"):
        flat_partitions([[2], {"first": None, "third": None}], spec, 2)


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ([None, [1, 2]], r"input_partition_dims\[0\] must not be None"),
        ([{"a": [1, 2]}], r"\[0\] mismatched feature keys. Expected \['a', 'b'\], got \['a'\]"),
        ([[1, 2]], r"\[0\] mismatched feature keys. Expected \['a', 'b'\], got \[\]"),
        ([{"a": None, "b": None}, {"c": [1, 2]}], r"\[1\] mismatched label keys.*got \['c'\]"),
        ([{"a": [[1, 2]], "b": None}], r"\[0\] mismatched the structure of features"),
        ([{"a": [0, 2], "b": None}], r"All input partition dims must be >= 1. Got \[0, 2\]"),
        ([{"a": [2, 2], "b": None}], r"should equal to num_cores_per_replica. \(dim = \[2, 2\]"),
        ([{"a": [1, 1, 2], "b": None}], "must have the same number of dimensions"),
    ],
)
def test_partitions_that_do_not_fit(dims, words):
    with pytest.raises(ValueError, match=words):
        flat_partitions(dims, PAIR, 2)


def test_emulated_cores_run_replicas_whole(caplog):
    model = Split()
    config = eb.tpu.RunConfig(
        master="emulated:4",
        tpu_config=eb.tpu.TPUConfig(
            iterations_per_loop=1,
            num_shards=2,  # replicas, not cores
            num_cores_per_replica=2,
            per_host_input_for_training=Pipeline.PER_HOST_V2,
            input_partition_dims=[{"x": [1, 2], "y": None}],
        ),
    )
    estimator = eb.tpu.TPUEstimator(model, config=config, train_batch_size=8)
    estimator.train(batches, steps=2)
    assert estimator.get_variable_value("global_step") == 2
    assert "num_cores_per_replica=2 on emulated:4" in caplog.text
    (context,) = model.contexts
    assert (context.num_replicas, context.device_assignment.num_replicas) == (2, 2)
    assert model.shapes == [[4, 4]]


def test_num_shards_counts_replicas():
    config = eb.tpu.RunConfig(
        master="emulated:4", tpu_config=eb.tpu.TPUConfig(num_shards=4, num_cores_per_replica=2)
    )
    with pytest.raises(ValueError, match=r"num_replicas should be \(2\), got \(4\)"):
        eb.tpu.TPUEstimator(Split(), config=config, train_batch_size=8)
