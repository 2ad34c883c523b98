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


DAMAGE = {
    "truncated data": ("data-00000-of-00001", b"short"),
    "garbage index": ("index", b"no index"),
}


@pytest.mark.parametrize(("ending", "content"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_checkpoint(trained, ending, content, caplog):
    """Training goes on from the one before it; if there is none, it says so."""
    (trained / f"model.ckpt-1.{ending}").write_bytes(content)
    estimator = eb.Estimator(model(), str(trained))
    estimator.train(ones, steps=2)
    assert "model.ckpt-1 is damaged" in caplog.text
    assert estimator.get_variable_value("global_step") == 2
    for step in (0, 2):
        (trained / f"model.ckpt-{step}.{ending}").write_bytes(content)
    with pytest.raises(eb.errors.CheckpointError, match=r"model\.ckpt-2 is damaged"):
        estimator.train(ones, steps=1)


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
