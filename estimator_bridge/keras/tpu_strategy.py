"""tf.contrib.tpu.TPUDistributionStrategy: the cores that a Keras model runs on."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.runtime.accelerators import NoTPUClusterResolver
from estimator_bridge.runtime.local_clusters import parse_local
from estimator_bridge.runtime.strategies import default_strategy, tpu_strategy

__all__ = ["TPUDistributionStrategy"]


class TPUDistributionStrategy:
    """The cores of a TPU, for ``keras_to_tpu_model``.

    Args:
      tpu_cluster_resolver: the TPU's resolver; None for this machine's TPU.
      using_single_core: whether to use one core only.

    Raises:
      AcceleratorNotFoundError: the TPU was not found.
    """

    def __init__(self, tpu_cluster_resolver: Any = None, using_single_core: bool = False):
        master = getattr(tpu_cluster_resolver, "master", str)()
        cluster = parse_local(master) or tpu_cluster_resolver
        if isinstance(cluster, NoTPUClusterResolver):
            cluster = None
        self._all_cores = tpu_strategy(cluster)
        self._single_core = using_single_core

    def strategy_for(self, model: Any) -> tf.distribute.Strategy:
        """Returns the tf.distribute strategy for a model; a stateful model gets one core."""
        count = self._all_cores.num_replicas_in_sync
        if not (self._single_core or model.stateful) or count == 1:
            return self._all_cores
        if model.stateful:
            tf.compat.v1.logging.warning(
                "Model replication does not currently support stateful models. Degrading to a "
                "single core."
            )
        on_tpu = isinstance(self._all_cores, tf.distribute.TPUStrategy)
        return _first_core(self._all_cores) if on_tpu else default_strategy()


def _first_core(strategy: tf.distribute.TPUStrategy) -> tf.distribute.Strategy:
    return tf.distribute.OneDeviceStrategy(strategy.extended.worker_devices[0])
