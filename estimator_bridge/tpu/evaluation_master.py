"""RunConfig's evaluation_master: the TPU on which a TPUEstimator evaluates."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.model import TPURunConfig
from estimator_bridge.runtime import tpu_strategy
from estimator_bridge.runtime.local_clusters import parse_local

__all__ = ["EvaluationMaster"]


class EvaluationMaster:
    """The strategy of evaluations.

    Devices of this process are made at once, as TensorFlow cannot add any later. A TPU is looked
    for when the first evaluation needs it.

    Args:
      config: of the estimator.
      training: the strategy that the other modes run under.

    Raises:
      AcceleratorNotFoundError: devices of this machine were named that are not there.
      TooLateError: emulated cores were named after TensorFlow had started.
    """

    def __init__(self, config: TPURunConfig, training: tf.distribute.Strategy):
        self._name, self._master = config.evaluation_master, config.master
        self._cores_per_replica = config.tpu_config.num_cores_per_replica
        self._strategy: tf.distribute.Strategy | None = None
        self._is_trained_on_tpu = not isinstance(training, _OF_THIS_PROCESS)
        if self._name in ("", self._master):
            self._strategy = training
        elif parse_local(self._name):
            self._strategy = self._named()

    def strategy(self) -> tf.distribute.Strategy:
        """Returns the strategy for an evaluation.

        Raises:
          ValueError: it is another TPU than that of the other modes.
          AcceleratorNotFoundError: it is a TPU that cannot be found.
        """
        if self._strategy is None:
            if self._is_trained_on_tpu:
                raise ValueError(
                    f"evaluation_master={self._name!r} is another TPU than "
                    f"master={self._master!r}, and a process can drive one TPU: connecting to the "
                    "second would drop the first. Leave evaluation_master out to evaluate where "
                    "training runs, or call evaluate in a process of its own, with "
                    f"master={self._name!r}."
                )
            self._strategy = self._named()
        return self._strategy

    def _named(self) -> tf.distribute.Strategy:
        return tpu_strategy(master=self._name, cores_per_replica=self._cores_per_replica)


_OF_THIS_PROCESS = (tf.distribute.MirroredStrategy, tf.distribute.OneDeviceStrategy)
