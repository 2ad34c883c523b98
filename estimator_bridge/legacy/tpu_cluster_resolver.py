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

    TensorFlow's class raises an error for an empty name, which programs use to say that there is no
    TPU, and does not know emulated cores.
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
        """Returns a resolver whose TPU, or whose cores, are connected and initialized.

        Raises:
          ValueError: there is no TPU.
        """
        resolver: Any = TPUClusterResolver(tpu, zone, project)
        if resolver is None:
            raise ValueError(
                "TPUClusterResolver.connect() found no TPU: this machine has none, and its "
                "environment names none. Name one, or pass 'emulated:8' for CPU cores."
            )
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return resolver
