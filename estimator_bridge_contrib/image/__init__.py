"""tf.contrib.image: projective transforms of images."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["image"].opened()
