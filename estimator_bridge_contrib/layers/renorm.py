"""Batch renormalization and adjusted batch normalization by ``tf.layers``."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.utils import get_variable_collections

__all__ = ["batch_renorm"]

v1 = tf.compat.v1


def batch_renorm(
    inputs: Any, scope: Any, training: Any, variables_collections: Any, **arguments: Any
) -> tf.Tensor:
    """Applies ``tf.compat.v1.layers.BatchNormalization`` in a layer's scope.

    Args:
      inputs: a tensor.
      scope: the layer's variable scope, which is entered.
      training: a bool or a tensor.
      variables_collections: as in ``batch_norm``.
      **arguments: those of the class.
    """
    layer = v1.layers.BatchNormalization(name=scope.name, _scope=scope, fused=False, **arguments)
    outputs = layer(inputs, training=training)
    for name in ("moving_mean", "moving_variance", "beta", "gamma"):
        variable = getattr(layer, name)
        if variable is not None:
            for collection in get_variable_collections(variables_collections, name) or []:
                v1.add_to_collection(collection, variable)
    return outputs
