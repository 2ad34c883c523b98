"""tf.distribute.cluster_resolver.TPUClusterResolver, as programs of TF1 mean it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["TPUClusterResolver"]

_TensorFlows: Any = tf.distribute.cluster_resolver.TPUClusterResolver


class _Kind(type(_TensorFlows)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is not TPUClusterResolver:
            return super().__instancecheck__(instance)
        from estimator_bridge.runtime.accelerators import LocalClusterResolver

        return isinstance(instance, (_TensorFlows, LocalClusterResolver))


class TPUClusterResolver(_TensorFlows, metaclass=_Kind):
    """Makes what `estimator_bridge.tpu.TPUClusterResolver` makes, where TensorFlow has its own.

    TensorFlow's raises for an empty name, by which programs say that there is no TPU, and knows
    nothing of emulated cores.
    """

    of_tensorflow = _TensorFlows

    def __new__(cls, tpu: Any = None, zone: Any = None, project: Any = None, **more: Any) -> Any:
        """Returns no object of this class, but for one that is derived from it."""
        if cls is not TPUClusterResolver:
            return super().__new__(cls)
        from estimator_bridge import runtime

        return runtime.TPUClusterResolver(tpu, zone, project, **more)
