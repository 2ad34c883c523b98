"""Saves a Keras model's weights as a checkpoint when it becomes an estimator."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import latest_checkpoint
from estimator_bridge.keras.cloning import CompiledModel, keras_in_graphs
from estimator_bridge.keras.model_fn import train_op_of
from estimator_bridge.keras.object_checkpoints import object_saver
from estimator_bridge.model import RunConfig, WarmStartSettings

__all__ = ["first_values"]

_v1 = tf.compat.v1


def first_values(
    original: CompiledModel, config: RunConfig, save_object_ckpt: bool
) -> WarmStartSettings:
    """Writes the model's weights below the estimator's folder, unless they are there already.

    Args:
      original: a functional model.
      config: a config with a model_dir.
      save_object_ckpt: whether to write a checkpoint in tf.train.Checkpoint's format.

    Returns:
      The settings by which the estimator starts with all of the model's weights, including the
      moving averages of batch normalization.
    """
    folder = os.path.join(config.model_dir, "keras")
    path = latest_checkpoint(folder)
    values = original.model.get_weights()  # read now: in a graph, the model has other methods
    with tf.Graph().as_default(), keras_in_graphs(training=True):
        _v1.random.set_random_seed(config.tf_random_seed)
        _v1.train.create_global_step()
        copy = original.build()
        names = [
            weight.name for weight in copy.weights
        ]  # "kernel:0": collections are filtered by these
        if not path:
            train_op_of(copy)  # creates the optimizer's variables
            path = os.path.join(folder, "keras_model.ckpt")
            tf.io.gfile.makedirs(folder)
            _save(copy, values, path, save_object_ckpt)
    return WarmStartSettings(path, [re.escape(name) for name in names])


def _save(copy: Any, values: Sequence[Any], path: str, save_object_ckpt: bool) -> None:
    saver = object_saver(copy) if save_object_ckpt else _v1.train.Saver(sharded=True)
    placeholders = [_v1.placeholder(weight.dtype, weight.shape) for weight in copy.weights]
    assign_ops = [_v1.assign(weight, value).op for weight, value in zip(copy.weights, placeholders)]
    with _v1.Session() as session:
        session.run([_v1.global_variables_initializer(), _v1.local_variables_initializer()])
        session.run(assign_ops, dict(zip(placeholders, values)))
        saver.save(session, path)
