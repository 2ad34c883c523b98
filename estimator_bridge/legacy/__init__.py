"""Provides this library under the names and paths of tf.estimator."""

from estimator_bridge.legacy.install import install

__all__ = ["install"]
