"""The steps for a real TPU if the last batch is short: only static shapes.

Nothing of it runs: the loops are traced under TensorFlow's own TPUStrategy for described cores.
"""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.testing import TPUGraph, described_tpu
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch
from estimator_bridge.training.short_batches import short_step
from estimator_bridge.training.trace_program import trace_program

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
CORES, BATCH = 8, 16
EVAL, PREDICT = eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


def examples(params):
    data = tf.data.Dataset.from_tensor_slices(np.ones([43, 3], np.float32))
    return data.batch(params["batch_size"])


class Model:
    def __init__(self):
        self.shapes = []

    def __call__(self, features, labels, mode, params):
        self.shapes.append(features.shape.as_list())
        y = v1.layers.dense(features, 1)
        metrics = (lambda y: {"mean": v1.metrics.mean(y)}, [y])
        return eb.tpu.TPUEstimatorSpec(
            mode, predictions={"y": y}, loss=tf.reduce_mean(y), eval_metrics=metrics
        )


def traced(mode):
    """The program and the model, which keeps the shapes that it was given."""
    model, config = Model(), eb.tpu.RunConfig(model_dir="unused")
    execution = TPUExecution(described_tpu(CORES), config, GlobalBatch(BATCH))
    return trace_program(execution, model, examples, mode, {}), model


def graph_of(loop, dataset):
    with eager_mode():
        iterator = iter(dataset)
    return TPUGraph.of(loop.traced(iterator), CORES)


@pytest.mark.parametrize("mode", [EVAL, PREDICT])
def test_full_batches_are_static_and_what_is_padded_is_counted_on_the_host(mode):
    program, model = traced(mode)
    outputs = [tensor.name for tensor in program.traced.outputs.values()]
    graph = graph_of(program.make_loop(outputs), program.dataset())
    assert model.shapes == [[BATCH // CORES, 3]]
    assert graph.computations == 1
    assert graph.on_tpu["MatMul"] == 1
    assert {"PadV2", "Pad", "Shape", "Where"}.isdisjoint(graph.on_tpu)


@pytest.mark.parametrize("size", [8, 11])
def test_a_short_batch_is_evaluated_by_a_step_of_its_own_size(size):
    program, model = traced(EVAL)
    with eager_mode():
        batch = tf.data.Dataset.from_tensors(tf.ones([size, 3]))
    step = short_step(program, batch)
    graph = graph_of(step.loop(), batch)
    # Divided over the cores, or whole on each of them.
    assert model.shapes[1:] == [[size // CORES if size % CORES == 0 else size, 3]]
    assert graph.computations == 1
    assert graph.on_tpu["MatMul"] == 1
    assert graph.variables == 2  # the model's own, not copies of another trace
    assert short_step(program, batch) is step
