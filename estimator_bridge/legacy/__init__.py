"""Old names in old places: what lets a program of tf.estimator's time find this library."""

from estimator_bridge.legacy.install import install

__all__ = ["install"]
