"""'gpu:N' names GPUs of this machine."""

import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip


def test_gpus_that_are_not_there_are_no_cpu():
    there = len(tf.config.list_physical_devices("GPU"))
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match=f"TensorFlow sees {there}.*'jax'"):
        eb.runtime.tpu_strategy(master=f"gpu:{there + 1}")


@pytest.mark.parametrize("name", ["gpu:0", "gpu:two", "gpu:"])
def test_number_of_gpus(name):
    with pytest.raises(ValueError, match="positive whole number"):
        eb.tpu.TPUClusterResolver(name)
