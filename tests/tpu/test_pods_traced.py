"""Graphs for TPUs of one host and of two, traced under TensorFlow's own TPUStrategy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from bert_model import bert_input_fn, bert_model_fn
from pods import HOSTS, SLICED, trace_loop

import estimator_bridge as eb
from estimator_bridge.graph.compilable import xla_compiles
from estimator_bridge.testing import described_tpu
from models.mnist.model import MODEL

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT
SIZE = 32
PARAMS = {"learning_rate": 0.01, "train_steps": 10}


def digits(params, mode):
    images = np.random.RandomState(0).rand(70, 8, 8, 1).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(70) % 10))
    is_training = mode == TRAIN
    data = data.repeat() if is_training else data
    return data.batch(params["batch_size"], drop_remainder=is_training)


MODELS = {"digits": (MODEL.tpu_model_fn, digits, 2), "bert": (bert_model_fn, bert_input_fn, 4)}


@functools.cache
def traced(model, hosts, mode):
    model_fn, input_fn, _ = MODELS[model]
    options = {}
    if mode == EVAL:
        options["per_host_input_for_training"] = Pipeline.PER_HOST_V2
    if mode == PREDICT:
        options["eval_training_input_configuration"] = SLICED
    return trace_loop(described_tpu(8, hosts), model_fn, input_fn, mode, SIZE, PARAMS, **options)


every_loop = pytest.mark.parametrize(
    ("model", "hosts", "mode"),
    [(m, h, mode) for m in MODELS for h in (1, 2) for mode in (TRAIN, EVAL, PREDICT)],
)


@every_loop
def test_one_computation_of_all_cores(model, hosts, mode):
    one = traced(model, hosts, mode)
    assert one.graph.replicas == 8 * hosts
    assert one.graph.computations == one.graph.all["TPUReplicateMetadata"] == 1
    # Each variable arrives as the cores' own copies, training's slots and the step among them.
    assert one.graph.variables == one.variables
    slots = 2 if mode == TRAIN else 0
    assert one.graph.variables >= one.trainable * (1 + slots) > 0


@every_loop
def test_one_sum_a_gradient(model, hosts, mode):
    one = traced(model, hosts, mode)
    expected = one.trainable if mode == TRAIN else 0
    assert one.graph.on_tpu["CrossReplicaSum"] == one.graph.all["CrossReplicaSum"] == expected


@every_loop
def test_nothing_on_the_tpu_is_a_hosts(model, hosts, mode):
    one = traced(model, hosts, mode)
    assert [op for op in one.graph.names_on_tpu if not xla_compiles(op)] == []
    assert one.graph.dynamic == ()
    if model == "bert" and mode == TRAIN:
        assert one.graph.all["EagerPyFunc"] + one.graph.all["PyFunc"] == 1  # its host_call's
        assert one.graph.on_tpu["StatelessRandomUniformV2"] == 1 + 3 * 2  # dropout's


@every_loop
def test_each_host_splits_its_own_batch(model, hosts, mode):
    one = traced(model, hosts, mode)
    components = MODELS[model][2]
    placed = {device: ops for device, ops in one.graph.placed.items() if "job:worker" in device}
    splits = {device: ops["Split"] for device, ops in placed.items()}
    if hosts == 1:
        assert placed == {}
        # Batches are split where they are drawn, the first before the loop; padded ones in a step.
        assert one.graph.all["Split"] == components * (1 if mode == EVAL else 2)
    elif mode == PREDICT:  # one call for all
        assert splits == {HOSTS[0]: components}
    else:
        assert splits == dict.fromkeys(HOSTS, components)
    if hosts == 2:  # batches are drawn there, and not carried from step to step by the loop
        drawing = [HOSTS[0]] if mode == PREDICT else HOSTS
        assert [host for host in HOSTS if placed.get(host, {}).get("IteratorGetNext")] == drawing
        assert one.graph.all["IteratorGetNext"] == len(drawing)
        assert one.graph.all["OptionalGetValue"] == 0


def deployments(calls):
    return [
        (p["batch_size"], p["context"].current_host, *p["context"].current_input_fn_deployment())
        for p in calls
    ]


SHORT = [f"/job:worker/task:{i}/device:CPU:0" for i in range(2)]


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        (Pipeline.PER_HOST_V1, [(16, i, SHORT[i], i, 2, 8) for i in (0, 1)]),
        (Pipeline.SLICED, [(16, i, SHORT[i], i, 2, 8) for i in (0, 1)]),
        (Pipeline.PER_HOST_V2, [(2, i, SHORT[i], i, 2, 8) for i in (0, 1)]),
        (Pipeline.PER_SHARD_V1, [(2, i // 8, SHORT[i // 8], i, 16, 1) for i in range(16)]),
        (Pipeline.BROADCAST, [(32, 0, SHORT[0], 0, 1, 16)]),
    ],
)
def test_calls_of_the_input_fn_on_two_hosts(pipeline, expected):
    one = trace_loop(
        described_tpu(8, 2), summed, digits, TRAIN, SIZE, per_host_input_for_training=pipeline
    )
    assert deployments(one.calls) == expected
    contexts = [params["context"] for params in one.calls]
    assert {(c.num_hosts, c.num_replicas, c.num_of_replicas_per_host) for c in contexts} == {
        (2, 16, 8)
    }
    host = contexts[0].tpu_host_placement_function
    assert (host(1), contexts[0].device_for_replica(9)) == (SHORT[1], (SHORT[1], 1))
    splits = {host: one.graph.placed[host]["Split"] for host in HOSTS if host in one.graph.placed}
    if pipeline == Pipeline.BROADCAST:
        assert splits == {HOSTS[0]: 0}  # all of it goes to all
    else:
        assert splits == dict.fromkeys(HOSTS, 2)


def summed(features, labels, mode, params):
    total = eb.tpu.cross_replica_sum(tf.reduce_mean(features))
    step = v1.train.get_global_step()
    with tf.control_dependencies([total]):
        return eb.tpu.TPUEstimatorSpec(mode, loss=total, train_op=v1.assign_add(step, 1))


@pytest.mark.parametrize(
    ("mode", "pipeline", "words"),
    [
        (EVAL, Pipeline.PER_HOST_V1, "evaluate is only supported under three conditions"),
        (EVAL, Pipeline.PER_SHARD_V1, "evaluate is only supported under three conditions"),
        (PREDICT, Pipeline.PER_HOST_V1, "predict is only supported under three conditions"),
        (PREDICT, Pipeline.PER_HOST_V2, "predict is only supported under three conditions"),
    ],
)
def test_what_several_hosts_cannot_share_is_refused(mode, pipeline, words):
    with pytest.raises(ValueError, match=f"{words}(.|\n)*SLICED"):
        trace_loop(
            described_tpu(8, 2), summed, digits, mode, SIZE, per_host_input_for_training=pipeline
        )


def test_shapes_that_depend_on_data_are_told():
    def model_fn(features, labels, mode, params):
        large = tf.gather(features, tf.where(labels > 4)[:, 0], name="large_ones")
        total = eb.tpu.cross_replica_sum(tf.reduce_sum(large))
        with tf.control_dependencies([total]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=total, train_op=train_op)

    one = trace_loop(described_tpu(8, 2), model_fn, digits, TRAIN, SIZE)
    assert {name.split("/")[-1] for name in one.graph.dynamic} >= {"Where", "large_ones"}
