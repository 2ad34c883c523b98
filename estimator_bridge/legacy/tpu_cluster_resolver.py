"""tf.distribute.cluster_resolver.TPUClusterResolver with TF1's behavior."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["TPUClusterResolver"]

_TensorFlows: Any = tf.distribute.cluster_resolver.TPUClusterResolver


class _Kind(type(_TensorFlows)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is not TPUClusterResolver:
            return super().__instancecheck__(instance)
        from estimator_bridge.runtime.local_clusters import LocalClusterResolver

        return isinstance(instance, (_TensorFlows, LocalClusterResolver))


class TPUClusterResolver(_TensorFlows, metaclass=_Kind):
    """Makes an `estimator_bridge.tpu.TPUClusterResolver` in place of TensorFlow's.

    TensorFlow's class raises an error for an empty name, which programs use if there is no TPU, and
    does not support emulated cores.
    """

    of_tensorflow = _TensorFlows

    def __new__(cls, tpu: Any = None, zone: Any = None, project: Any = None, **more: Any) -> Any:
        """Returns an instance of this class only for subclasses."""
        if cls is not TPUClusterResolver:
            return super().__new__(cls)
        from estimator_bridge import runtime

        return runtime.TPUClusterResolver(tpu, zone, project, **more)

    @staticmethod
    def connect(tpu: Any = None, zone: Any = None, project: Any = None) -> Any:
        """Returns a resolver after connecting to its TPU or cores and initializing them.

        Raises:
          ValueError: no TPU was found.
        """
        resolver: Any = TPUClusterResolver(tpu, zone, project)
        if resolver is None:
            raise ValueError(
                "TPUClusterResolver.connect() found no TPU: this machine has none, and its "
                "environment names none. Pass the name of a TPU, or 'emulated:8' for CPU cores."
            )
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return resolver
