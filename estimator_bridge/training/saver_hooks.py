"""The hooks of a training's chief: its saver, with the caller's listeners, and the model's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, RunConfig
from estimator_bridge.tensorflow_private.hooks import listeners_of, write_graph_def

__all__ = ["chief_hooks"]

_CheckpointSaverHook = tf.compat.v1.train.CheckpointSaverHook


def chief_hooks(
    config: RunConfig,
    spec: EstimatorSpec,
    scaffold: tf.compat.v1.train.Scaffold,
    model_dir: str,
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    saver_class: type[Any],
) -> list[Any]:
    """Makes the hooks that only the chief has: RunConfig's saver, and the spec's chief hooks.

    The original makes them in each process of a cluster, and drops them where it is no chief.

    Args:
      config: the RunConfig of the estimator.
      spec: the model's, in training.
      scaffold: the scaffold, whose saver is used.
      model_dir: the folder of the checkpoints.
      hooks: the caller's. If one of these, or of the spec's, saves checkpoints, it is the saver.
      saving_listeners: added to the saver.
      saver_class: the class of RunConfig's saver, a CheckpointSaverHook.

    Raises:
      ValueError: there are listeners, and no saver.
    """
    chief = list(spec.training_chief_hooks)
    everything = [*hooks, *spec.training_hooks, *chief]
    savers = [hook for hook in everything if isinstance(hook, _CheckpointSaverHook)]
    if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        saver = saver_class(
            model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            scaffold=scaffold,
        )
        write_graph_def(saver, config.checkpoint_save_graph_def)
        savers = [saver]
        chief.insert(0, saver)
    if saving_listeners:
        if not savers:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        listeners = listeners_of(savers[0])
        listeners.extend(listener for listener in saving_listeners if listener not in listeners)
    return chief
