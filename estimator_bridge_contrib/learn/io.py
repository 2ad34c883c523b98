"""tf.contrib.learn.io: inputs of arrays, frames, generators and files."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.io"].opened()
