"""tf.contrib.tensorboard.plugins, whose only one is the projector."""

from __future__ import annotations

from estimator_bridge_contrib.tensorboard import projector

__all__ = ["projector"]
