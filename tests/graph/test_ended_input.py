"""A run's input ends with it: its threads are not left to Python's garbage collection."""

import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.tensorflow_private.datasets import end_iterator, watch_ends

SECONDS = 120  # an iterator's own thread may sleep for a minute


def wait_until(is_true):
    deadline = time.monotonic() + SECONDS
    while not is_true():
        assert time.monotonic() < deadline, f"not within {SECONDS} seconds"
        time.sleep(0.01)


@pytest.mark.parametrize(
    "element",
    [
        1,
        {"name": "x", "image": np.zeros([2, 3], np.float32)},
        (True, np.complex64(1), np.float16(1)),
        tf.zeros([2], tf.bfloat16),
        tf.sparse.from_dense([[1, 0], [0, 2]]),
        tf.ragged.constant([[1], [2, 3]]),
    ],
    ids=["number", "dict", "kinds", "bfloat16", "sparse", "ragged"],
)
def test_an_iterator_ends(element):
    iterator = iter(tf.data.Dataset.from_tensors(element).repeat())
    next(iterator)
    watch_ends()
    end_iterator(iterator)
    wait_until(lambda: next(iterator, None) is None)


@pytest.mark.parametrize("change", [iter, lambda d: iter(d.batch(3)), lambda d: iter(d.window(2))])
def test_elements_of_unknown_shape_and_datasets_of_datasets(change):
    strings = tf.data.Dataset.from_generator(lambda: iter(["a"] * 1000), tf.string).repeat()
    iterator = change(strings)
    next(iterator)
    watch_ends()
    end_iterator(iterator)
    wait_until(lambda: next(iterator, None) is None)


@pytest.mark.parametrize("cores", [0, 2])
def test_what_reads_the_input_ends_with_training(tmp_path, cores):
    open_files = set()

    def examples():
        open_files.add("train.csv")
        try:
            while True:
                yield [1.0], [2.0]
        finally:
            open_files.remove("train.csv")

    def input_fn(params):
        spec = tf.TensorSpec([1]), tf.TensorSpec([1])
        return tf.data.Dataset.from_generator(examples, output_signature=spec).batch(
            params.get("batch_size", 4), drop_remainder=True
        )

    model = eb.Model(
        inference=lambda features: tf.compat.v1.layers.dense(features, 1),
        loss=lambda labels, logits: tf.reduce_mean((labels - logits) ** 2),
        optimizer=lambda params: tf.compat.v1.train.GradientDescentOptimizer(0.01),
    )
    if cores:
        config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir=str(tmp_path))
        estimator = eb.tpu.TPUEstimator(model.tpu_model_fn, config=config, train_batch_size=4)
    else:
        estimator = eb.Estimator(model.model_fn, str(tmp_path), params={})
    estimator.train(input_fn, steps=3)
    wait_until(lambda: not open_files)


V1 = """
import time

import tensorflow as tf

tf.compat.v1.disable_v2_behavior()
from estimator_bridge.tensorflow_private.datasets import end_iterator, watch_ends
from estimator_bridge.tensorflow_private.names import eager_mode

watch_ends()
with eager_mode():
    iterator = iter(tf.data.Dataset.from_tensors(([1, 2], "a")).repeat().batch(2))
    next(iterator)
    end_iterator(iterator)
    while next(iterator, None) is not None:
        time.sleep(0.01)
    print("ended")
"""


def test_with_v2_behavior_off():
    done = subprocess.run(
        [sys.executable, "-c", V1], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "ended\n"
    assert "Traceback" not in done.stderr
