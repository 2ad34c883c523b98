"""Every private TensorFlow name that the library uses, each with the reason.

A new TensorFlow release that moves one of them breaks this file and no other. Import from here;
nothing else in the package may name ``tensorflow.python``.
"""

# The TF2 side (datasets, strategies, tf.function) runs eagerly even where the program called
# tf.compat.v1.disable_v2_behavior(); there is no public switch for one block of code.
from tensorflow.python.eager.context import eager_mode

__all__ = ["eager_mode"]
