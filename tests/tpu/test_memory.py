"""The memory of a run is freed when it is over."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.mark.parametrize("cores", [1, 2])
def test_a_finished_training_keeps_nothing(cores, tmp_path):
    graphs = []

    def model_fn(features, labels, mode, params):
        graphs.append(weakref.ref(v1.get_default_graph()))
        loss = tf.reduce_mean(v1.layers.dense(features, 1) ** 2)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer())
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn(params):
        return tf.data.Dataset.from_tensors(np.ones([4, 3], np.float32)).repeat()

    config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)
    estimator.train(input_fn, steps=2)
    estimator.train(input_fn, steps=2)
    gc.collect()
    assert len(graphs) == 2
    assert [graph() for graph in graphs] == [None, None]
