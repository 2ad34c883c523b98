"""Checkpoints of a Keras model by object paths, as tf.train.Checkpoint names them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.keras import track

__all__ = ["OBJECTS_OF", "object_saver", "object_scaffold"]

# The global step's name among a model's objects.
OBJECTS_OF = "estimator_global_step"


def object_saver(model: Any, **options: Any) -> tf.compat.v1.train.Saver:
    """Makes a saver of a model in the default graph, its optimizer and the global step.

    Args:
      model: a compiled copy of a Keras model.
      **options: arguments for the Saver.
    """
    step = tf.compat.v1.train.get_or_create_global_step()
    track(model, step, OBJECTS_OF)
    objects = tf.__internal__.tracking.ObjectGraphView(model)
    return tf.compat.v1.train.Saver(objects.frozen_saveable_objects(), sharded=True, **options)


def object_scaffold(model: Any) -> tf.compat.v1.train.Scaffold:
    """Makes a scaffold with the model's object saver."""
    return tf.compat.v1.train.Scaffold(saver=object_saver(model))
