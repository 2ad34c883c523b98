"""tf.contrib.training: hyperparameters, evaluation of checkpoints, and a training loop."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["training"].opened()
