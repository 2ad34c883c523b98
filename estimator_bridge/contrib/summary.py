"""tf.contrib.summary: summaries that are written by operations, in host_call for example.

TensorFlow still has these functions. They write values as TensorFlow 1 did (``simple_value`` of a
scalar), take the global step where none is given, and record nothing unless
``always_record_summaries`` or its like says so.
"""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["summary"].opened()
