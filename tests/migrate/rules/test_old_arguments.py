"""EB063: an argument that Estimator's classes renamed or removed."""

import pytest
from migrate.model_sources import HEAD
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        HEAD
        + "tf.reduce_sum(a, keep_dims=True, reduction_indices=1)\ntf.squeeze(a, squeeze_dims=1)\n",
        HEAD + "eb.tpu.TPUConfig(iterations_per_loop=9, num_shards=8, tpu_job_name=None)\n",
        "TPUClusterResolver(tpu_names=a)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import estimator_bridge as eb\neb.tpu.TPUClusterResolver(tpu_names=a)\n",
            "import estimator_bridge as eb\neb.tpu.TPUClusterResolver(tpu=a)\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB063", before, after)


@pytest.mark.parametrize(
    ("severity", "source", "words"),
    [
        (
            "by hand",
            HEAD + "eb.tpu.TPUConfig(computation_shape=[1, 2])\n",
            "Write num_cores_per_replica",
        ),
        (
            "works as is",
            HEAD + "eb.tpu.TPUConfig(tpu_job_name=FLAGS.job)\n",
            "is accepted, without effect",
        ),
    ],
)
def test_reported(severity, source, words):
    check_reported("EB063", severity, source, words)


def test_arguments_that_are_left_alone_are_taken():
    """tf.compat.v1 of the installed TensorFlow still has what 1.15 warned of."""
    import tensorflow.compat.v1 as tf

    a = tf.constant([[1.0], [2.0]])
    assert tf.reduce_sum(a, reduction_indices=1, keep_dims=True).shape == (2, 1)
    assert tf.squeeze(a, squeeze_dims=[1]).shape == (2,)
    assert tf.argmax(a, dimension=0).shape == (1,)
    assert tf.expand_dims(a, dim=0).shape == (1, 2, 1)
