"""A checkpoint that does not fit is refused before training, and says why."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def ones():
    return tf.data.Dataset.from_tensor_slices(np.ones([8, 3], np.float32)).batch(4)


def model(units=1, name="dense"):
    def model_fn(features, labels, mode):
        loss = tf.reduce_sum(v1.layers.dense(features, units, name=name) ** 2)
        optimizer = v1.train.GradientDescentOptimizer(0.01)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


@pytest.fixture
def trained(tmp_path):
    eb.Estimator(model(), str(tmp_path)).train(ones, steps=1)
    return tmp_path


def test_checkpoint_of_another_model(trained):
    with pytest.raises(eb.errors.CheckpointError, match=r"other/.*Use another model_dir"):
        eb.Estimator(model(name="other"), str(trained)).train(ones, steps=1)


def test_changed_shape(trained):
    with pytest.raises(tf.errors.InvalidArgumentError, match="a mismatch between"):
        eb.Estimator(model(units=2), str(trained)).train(ones, steps=1)


def test_truncated_checkpoint(trained):
    (data,) = trained.glob("model.ckpt-1.data*")
    data.write_bytes(data.read_bytes()[:10])
    with pytest.raises(eb.errors.CheckpointError, match=r"model\.ckpt-1"):
        eb.Estimator(model(), str(trained)).train(ones, steps=1)


def test_garbage_index(trained):
    (trained / "model.ckpt-1.index").write_bytes(b"no index")
    with pytest.raises(eb.errors.CheckpointError, match=r"model\.ckpt-1"):
        eb.Estimator(model(), str(trained)).train(ones, steps=1)


def test_model_dir_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        eb.Estimator(model(), str(tmp_path / "file")).train(ones, steps=1)


def test_refused_run_leaves_the_checkpoints(trained):
    before = sorted(p.name for p in trained.glob("model.ckpt-*"))
    with pytest.raises(eb.errors.CheckpointError):
        eb.Estimator(model(name="other"), str(trained)).train(ones, steps=1)
    assert sorted(p.name for p in trained.glob("model.ckpt-*")) == before
    eb.Estimator(model(), str(trained)).train(ones, steps=1)
