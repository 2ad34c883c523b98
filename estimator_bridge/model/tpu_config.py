"""The division of a TPUEstimator's work: steps into loops, batches over hosts and cores."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.model.number_checks import check_positive_integer, parse_iterations_per_loop
from estimator_bridge.model.reprs import call_repr, changed_from_defaults
from estimator_bridge.model.tf_config import read_tf_config

__all__ = ["InputPipelineConfig", "TPUConfig"]

_CORES_PER_REPLICA = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """Ways to call input_fn: how often, and for which part of the global batch."""

    PER_SHARD_V1 = 1  # once per core, for that core's batch
    PER_HOST_V1 = 2  # once per host, for the host's batch, which is split over its cores
    PER_HOST_V2 = 3  # once per host, for a core's batch, drawn once for each core
    BROADCAST = 4  # once, for the global batch, which every core gets whole
    SLICED = 5  # once, for the global batch, which is split over all cores


_Fields = collections.namedtuple(
    "_Fields",
    [
        "iterations_per_loop",
        "num_shards",
        "num_cores_per_replica",
        "per_host_input_for_training",
        "tpu_job_name",
        "initial_infeed_sleep_secs",
        "input_partition_dims",
        "eval_training_input_configuration",
        "experimental_host_call_every_n_steps",
        "experimental_allow_per_host_v2_parallel_get_next",
        "experimental_feed_hook",
    ],
)


class TPUConfig(_Fields):
    """The TPU settings of a `tpu.RunConfig`: a named tuple.

    Args:
      iterations_per_loop: training steps per call into the accelerator; between calls hooks run
        and checkpoints are saved. Or a time, such as "30s", from which the steps are estimated.
      num_shards: number of replicas; None counts them.
      num_cores_per_replica: number of cores that one replica of the model spans.
      per_host_input_for_training: an `InputPipelineConfig` value; True is PER_HOST_V1, False is
        PER_SHARD_V1. It determines which part of the global batch ``params['batch_size']`` is.
      tpu_job_name: the job of the TPU workers in the cluster.
      initial_infeed_sleep_secs: seconds to wait before the first batch is fed.
      input_partition_dims: for features, or for features and labels, how each tensor is split over
        the cores of one replica.
      eval_training_input_configuration: SLICED also calls input_fn once in evaluation, and splits
        its batch; PER_HOST_V1 follows `per_host_input_for_training`.
      experimental_host_call_every_n_steps: steps between host_calls in a loop.
      experimental_allow_per_host_v2_parallel_get_next: lets batches reach cores in any order.
      experimental_feed_hook: a hook class that replaces the one that feeds a TPU.

    Raises:
      ValueError: an argument is out of range, or requires another that is not given.
      TypeError: a count is not an integer.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: bool | int = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Sequence[Any] | None = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
        experimental_allow_per_host_v2_parallel_get_next: bool = False,
        experimental_feed_hook: type | None = None,
    ) -> TPUConfig:
        """Checks the arguments; see the class."""
        parse_iterations_per_loop(iterations_per_loop)
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        check_positive_integer(
            experimental_host_call_every_n_steps, "TPUConfig experimental_host_call_every_n_steps"
        )
        pipeline = _pipeline(per_host_input_for_training)
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES_PER_REPLICA:
            raise ValueError(
                f"num_cores_per_replica must be {', '.join(map(str, _CORES_PER_REPLICA))}; got "
                f"{num_cores_per_replica!r}"
            )
        if input_partition_dims is not None:
            _check_partition(input_partition_dims, pipeline, num_cores_per_replica)
        choices = (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED)
        if eval_training_input_configuration not in choices:
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration!r}"
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            pipeline,
            tpu_job_name or _job_name_in_tf_config(),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
            experimental_allow_per_host_v2_parallel_get_next,
            experimental_feed_hook,
        )

    def __repr__(self) -> str:
        values = self._asdict()
        if self.per_host_input_for_training == InputPipelineConfig.PER_HOST_V1:  # True, too
            del values["per_host_input_for_training"]
        return call_repr(type(self).__name__, changed_from_defaults(TPUConfig.__new__, values))

    def _replace(self, **kwargs: Any) -> TPUConfig:
        """Copies the config with some fields changed, and checks it."""
        return type(self)(**{**self._asdict(), **kwargs})


def _pipeline(per_host_input_for_training: bool | int) -> int:
    # True == 1 == PER_SHARD_V1 but means PER_HOST_V1, so compare by identity.
    if per_host_input_for_training is True:
        return InputPipelineConfig.PER_HOST_V1
    if per_host_input_for_training is False:
        return InputPipelineConfig.PER_SHARD_V1
    public = {k: v for k, v in vars(InputPipelineConfig).items() if not k.startswith("_")}
    names = {number: name for name, number in public.items()}  # not Python 3.13's __firstlineno__
    if per_host_input_for_training not in names:
        raise ValueError(
            "per_host_input_for_training must be True, False or one of InputPipelineConfig."
            f"{{{', '.join(names.values())}}}; got {per_host_input_for_training!r}"
        )
    return per_host_input_for_training


def _check_partition(dims: Sequence[Any], pipeline: int, cores: int | None) -> None:
    if not isinstance(dims, (list, tuple)) or len(dims) not in (1, 2):
        raise ValueError(
            "input_partition_dims must be a list/tuple with one or two elements: for features, "
            f"or for features and labels; got {dims!r}"
        )
    if pipeline != InputPipelineConfig.PER_HOST_V2:
        raise ValueError(
            "input_partition_dims is only supported in PER_HOST_V2 mode. "
            "Set per_host_input_for_training=InputPipelineConfig.PER_HOST_V2."
        )
    if cores is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_name_in_tf_config() -> str | None:
    name = (read_tf_config().get("service") or {}).get("tpu_worker_job_name")
    if name:
        logging.info("Load TPU job name from TF_CONFIG: %s", name)
    return name
