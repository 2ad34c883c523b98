"""The model_dir of a training is lost while it runs."""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf
from small_training import examples, make

import estimator_bridge as eb
from estimator_bridge.checkpoint import lock

v1 = tf.compat.v1


class At(v1.train.SessionRunHook):
    """Calls a function after a number of steps."""

    def __init__(self, steps, call):
        self.steps, self.call, self.values = steps, call, None

    def after_run(self, run_context, run_values):
        self.steps -= 1
        if self.steps == 0:
            with run_context.session.graph.as_default():
                (weights,) = v1.trainable_variables()
            self.values = run_context.session.run(weights)
            self.call()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("save_steps", [2, 1000], ids=["before a checkpoint", "between steps"])
def test_a_second_training_has_a_renamed_folders_name_to_itself(save_steps, tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_CHECK_SECS", 0.0)
    model_dir, left = tmp_path / "model", {}

    def rename():
        model_dir.rename(tmp_path / "moved")
        make(model_dir).train(examples, max_steps=4)
        left.update(contents(model_dir))

    hooks = [At(5, rename), eb.training.RescueCheckpoint()]
    with pytest.raises(
        eb.errors.ModelDirLostError, match="another folder is in its place"
    ) as error:
        make(model_dir, save_checkpoints_steps=save_steps).train(examples, hooks=hooks, steps=50)
    assert str(tmp_path / "moved") in str(error.value)
    assert "model.ckpt-4.index" in left
    assert contents(model_dir) == left
    assert not list((tmp_path / "moved").glob(".estimator_bridge.lock"))
    # The last state, from which training continues.
    (rescued,) = tmp_path.glob("model.rescued-*")
    assert f"was saved to {rescued}." in str(error.value)
    step = int(rescued.name.split("-")[1])
    if save_steps == 1000:
        assert step == 6, "the loss is noticed after the next step"
    estimator = make(rescued)
    estimator.train(examples, max_steps=step)
    if step == 5:
        np.testing.assert_array_equal(estimator.get_variable_value("weights"), hooks[0].values)
    assert estimator.get_variable_value("global_step") == step


def test_a_removed_folder_is_not_made_anew(tmp_path, monkeypatch):
    monkeypatch.delenv("ESTIMATOR_BRIDGE_RESCUE_CHECKPOINT", raising=False)
    model_dir = tmp_path / "model"
    estimator = make(model_dir, save_checkpoints_steps=3)
    hooks = [At(5, lambda: shutil.rmtree(model_dir))]
    with pytest.raises(eb.errors.ModelDirLostError, match="was removed, and nothing") as error:
        estimator.train(examples, hooks=hooks, steps=50)
    assert "ESTIMATOR_BRIDGE_RESCUE_CHECKPOINT=1 saves them" in str(error.value)
    assert os.listdir(tmp_path) == []
    estimator.train(examples, steps=2)  # its summaries go into the new folder's event file
    steps = {
        event.step
        for path in model_dir.glob("*.tfevents.*")
        for event in v1.train.summary_iterator(str(path))
    }
    assert 2 in steps


def test_checkpoints_from_the_future_are_deleted_like_others(tmp_path):
    """Those that a training with a wrong clock has left."""
    make(tmp_path, keep_checkpoint_max=3).train(examples, max_steps=6)
    for path in tmp_path.glob("model.ckpt-*"):
        os.utime(path, (3e9, 3e9))
    make(tmp_path, keep_checkpoint_max=3).train(examples, max_steps=12)
    names = {path.name for path in tmp_path.glob("model.ckpt-*.index")}
    assert names == {"model.ckpt-8.index", "model.ckpt-10.index", "model.ckpt-12.index"}
