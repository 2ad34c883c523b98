"""The guarantees of conftest.py about TensorFlow in this process."""


def test_one_cpu_has_eight_cores_and_keras_is_keras_2():
    import tensorflow as tf

    assert len(tf.config.list_logical_devices("CPU")) == 8
    assert tf.keras.layers.Dense.__module__.startswith("tf_keras.")
