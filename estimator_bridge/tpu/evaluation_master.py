"""RunConfig's evaluation_master: the TPU on which a TPUEstimator evaluates."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.model import TPURunConfig
from estimator_bridge.runtime import tpu_strategy
from estimator_bridge.runtime.local_clusters import parse_local

__all__ = ["EvaluationMaster"]


class EvaluationMaster:
    """The strategy of evaluations.

    Devices of this process are created at once, as TensorFlow cannot add any later. The first
    evaluation connects to a TPU.

    Args:
      config: the estimator's.
      training: the strategy that the other modes run under.

    Raises:
      AcceleratorNotFoundError: evaluation_master names devices that this machine does not have.
      TooLateError: evaluation_master names emulated cores, and TensorFlow has already started.
    """

    def __init__(self, config: TPURunConfig, training: tf.distribute.Strategy):
        self._name, self._master = config.evaluation_master, config.master
        self._cores_per_replica = config.tpu_config.num_cores_per_replica
        self._strategy: tf.distribute.Strategy | None = None
        self._is_trained_on_tpu = not isinstance(training, _OF_THIS_PROCESS)
        if self._name in ("", self._master):
            self._strategy = training
        elif parse_local(self._name):
            self._strategy = self._strategy_of_name()

    def strategy(self) -> tf.distribute.Strategy:
        """Returns the strategy for an evaluation.

        Raises:
          ValueError: evaluation_master is another TPU than that of the other modes.
          AcceleratorNotFoundError: the TPU cannot be found.
        """
        if self._strategy is None:
            if self._is_trained_on_tpu:
                raise ValueError(
                    f"evaluation_master={self._name!r} is another TPU than "
                    f"master={self._master!r}, and a process can drive one TPU: connecting to the "
                    "second would drop the first. Leave out evaluation_master to evaluate on the "
                    "TPU that trains, or call evaluate in a separate process, with "
                    f"master={self._name!r}."
                )
            self._strategy = self._strategy_of_name()
        return self._strategy

    def _strategy_of_name(self) -> tf.distribute.Strategy:
        return tpu_strategy(master=self._name, cores_per_replica=self._cores_per_replica)


_OF_THIS_PROCESS = (tf.distribute.MirroredStrategy, tf.distribute.OneDeviceStrategy)
