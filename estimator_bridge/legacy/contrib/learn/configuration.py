"""The RunConfig and ModeKeys that preceded tf.estimator's."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model import RunConfig as _RunConfig

__all__ = ["ModeKeys", "RunConfig", "TaskType"]


class ModeKeys:
    """Modes as strings, which equal tf.estimator's."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class TaskType:
    """The names of the jobs in TF_CONFIG."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class RunConfig(_RunConfig):
    """tf.estimator's RunConfig with the arguments of its predecessor, in their order.

    Args:
      master: the server for training: None or '' for this process.
      num_cores: threads of a session; 0 lets TensorFlow choose. Ignored if session_config is given.
      log_device_placement: accepted and ignored.
      gpu_memory_fraction: accepted and ignored.
      tf_random_seed: see tf.estimator.RunConfig.
      save_summary_steps: see tf.estimator.RunConfig.
      save_checkpoints_secs: see tf.estimator.RunConfig; the default 0 means 600 if no steps are
        given.
      save_checkpoints_steps: see tf.estimator.RunConfig.
      keep_checkpoint_max: see tf.estimator.RunConfig.
      keep_checkpoint_every_n_hours: see tf.estimator.RunConfig.
      log_step_count_steps: see tf.estimator.RunConfig.
      protocol: see tf.estimator.RunConfig.
      evaluation_master: the server for evaluation: '' for this process.
      model_dir: see tf.estimator.RunConfig.
      session_config: see tf.estimator.RunConfig.
      session_creation_timeout_secs: see tf.estimator.RunConfig.

    Raises:
      ValueError: a master is the address of another process; or as tf.estimator.RunConfig.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str | None = "",
        model_dir: Any = None,
        session_config: tf.compat.v1.ConfigProto | None = None,
        session_creation_timeout_secs: float = 7200,
    ):
        for name, address in (("master", master), ("evaluation_master", evaluation_master)):
            if address:
                raise ValueError(
                    f"{name}={address!r} is the address of another process, for which "
                    "tf.contrib.learn.RunConfig opened a session. Omit it to run in this process, "
                    "or set TF_CONFIG to make processes work together."
                )
        if session_config is None and (num_cores or log_device_placement):
            session_config = _session_config(num_cores, log_device_placement, gpu_memory_fraction)
        if save_checkpoints_secs == 0:  # not given
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            save_checkpoints_steps=save_checkpoints_steps,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_config=session_config,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._tf_config = _session_config(num_cores, log_device_placement, gpu_memory_fraction)

    @property
    def tf_config(self) -> tf.compat.v1.ConfigProto:
        """The session options of num_cores, log_device_placement and gpu_memory_fraction."""
        return self._tf_config


def _session_config(cores: int, placement: bool, fraction: float) -> tf.compat.v1.ConfigProto:
    gpu = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=fraction)
    return tf.compat.v1.ConfigProto(
        log_device_placement=placement,
        inter_op_parallelism_threads=cores,
        intra_op_parallelism_threads=cores,
        gpu_options=gpu,
    )
