"""The RunConfig and ModeKeys that preceded tf.estimator's."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import tensorflow as tf

from estimator_bridge.model import Cluster
from estimator_bridge.model import RunConfig as _RunConfig
from estimator_bridge_contrib.learn.cluster_place import learn_place
from estimator_bridge_contrib.learn.keys import TaskType

__all__ = ["ModeKeys", "RunConfig", "TaskType"]


# What a program may change between two runs without another uid.
_NOT_IN_UID = (
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)


class ModeKeys:
    """Modes as strings, which equal tf.estimator's."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class RunConfig(_RunConfig):
    """tf.estimator's RunConfig with the arguments of its predecessor, in their order.

    A cluster in TF_CONFIG needs no chief, as worker 0 is the chief. An estimator refuses a config
    that has the address of another process, or both intervals between checkpoints.

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
      ValueError: TF_CONFIG's cluster lacks its task; or as tf.estimator.RunConfig.
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
        self._masters = master, evaluation_master
        addresses = {"master": master, "evaluation_master": evaluation_master}
        self._other_processes = {name: address for name, address in addresses.items() if address}
        if session_config is None and (num_cores or log_device_placement):
            session_config = _session_config(num_cores, log_device_placement, gpu_memory_fraction)
        if save_checkpoints_secs == 0:  # not given
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            save_checkpoints_steps=None,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_config=session_config,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._settings["save_checkpoints_steps"] = save_checkpoints_steps
        self._tf_config = _session_config(num_cores, log_device_placement, gpu_memory_fraction)

    @property
    def environment(self) -> str:
        """TF_CONFIG's "environment": "local" by default."""
        return self._environment

    def get_task_id(self) -> int:
        """Returns the number of this process among those of its type: 0 outside a cluster."""
        return self.task_id or 0

    @property
    def tf_config(self) -> tf.compat.v1.ConfigProto:
        """The session options of num_cores, log_device_placement and gpu_memory_fraction."""
        return self._tf_config

    def uid(self, whitelist: Iterable[str] | None = None) -> str:
        """Returns a text that differs for configs that differ.

        Args:
          whitelist: the names of properties that may differ; by default those that a program may
            change between two runs, such as ``tf_random_seed``.
        """
        spec = sorted(self.cluster_spec.as_dict().items())
        place = {**asdict(self._cluster_place), "cluster_spec": spec}
        every = {**self._settings, **place, "tf_config": self.tf_config}
        left_out = set(_NOT_IN_UID if whitelist is None else whitelist)
        return ", ".join(
            f"_{name}={value!r}" for name, value in sorted(every.items()) if name not in left_out
        )

    def replace(self, **kwargs: Any) -> RunConfig:
        """Copies this config with some settings changed; see tf.estimator.RunConfig.

        Both intervals between checkpoints stay if neither is changed.
        """
        names = ("save_checkpoints_steps", "save_checkpoints_secs")
        both = {name: self._settings[name] for name in names}
        if None in both.values() or any(name in kwargs for name in names):
            return super().replace(**kwargs)  # type: ignore[return-value]
        single = copy.deepcopy(self)
        single._settings["save_checkpoints_steps"] = None
        replaced = super(RunConfig, single).replace(**kwargs)
        replaced._settings.update(both)
        return replaced  # type: ignore[return-value]

    def _find_place(self, tf_config: Mapping[str, Any]) -> Cluster:
        self._environment = str(tf_config.get("environment", "local"))
        return learn_place(tf_config, *self._masters)


def _session_config(cores: int, placement: bool, fraction: float) -> tf.compat.v1.ConfigProto:
    gpu = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=fraction)
    return tf.compat.v1.ConfigProto(
        log_device_placement=placement,
        inter_op_parallelism_threads=cores,
        intra_op_parallelism_threads=cores,
        gpu_options=gpu,
    )
