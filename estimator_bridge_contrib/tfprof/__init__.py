"""tf.contrib.tfprof: TensorFlow's profiler, before it was tf.profiler."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["tfprof"].opened()
