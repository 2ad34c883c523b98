"""tf.contrib.learn.monitors: callbacks around a step, which hooks replaced in TensorFlow 1.1."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.monitors"].opened()
