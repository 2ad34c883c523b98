"""Rejects several replicas for models that train on one."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.model.cross_shard import number_of_parts

__all__ = ["check_one_replica"]


def check_one_replica(model: str, reason: str) -> None:
    """Checks that a training step is not built for several replicas.

    Args:
      model: the model's name.
      reason: the part of a step that depends on a replica's own batch.

    Raises:
      ValueError: there are several cores of a TPU or replicas of train_distribute.
    """
    cores, replicas = number_of_parts(), tf.distribute.get_strategy().num_replicas_in_sync
    if max(cores, replicas) == 1:
        return
    setup = (
        f"the {cores} cores of this TPUEstimator: train with use_tpu=False, or on one core "
        "(master='emulated:1')"
        if cores > 1
        else f"the {replicas} replicas of train_distribute: leave it out of the RunConfig"
    )
    raise ValueError(
        f"{model} trains on one replica only: {reason}, so the replicas' weights would drift "
        f"apart. Got {setup}. Evaluation and prediction may use several."
    )
