"""tf.contrib.compiler.xla: functions that XLA compiles."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["compiler.xla"].opened()
