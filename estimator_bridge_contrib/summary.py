"""tf.contrib.summary: summaries that operations write, for example in host_call.

TensorFlow still has these functions. They write values as TensorFlow 1 did (``simple_value`` of a
scalar), use the global step if none is given, and record nothing unless a function such as
``always_record_summaries`` says so.
"""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["summary"].opened()
