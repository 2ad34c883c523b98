"""Masks of weights: their variables, and the collections that list them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.model_pruning import pruning_utils

__all__ = [
    "MASKED_WEIGHT_COLLECTION",
    "MASKED_WEIGHT_NAME",
    "MASK_COLLECTION",
    "THRESHOLD_COLLECTION",
    "WEIGHT_COLLECTION",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
    "masked",
]

_v1 = tf.compat.v1
MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
# The strip of a graph and quantization look for this name.
MASKED_WEIGHT_NAME = "weights/masked_weight"


def apply_mask(x: Any, scope: Any = "") -> tf.Tensor:
    """Multiplies weights by a mask, at first of ones.

    The variables are ``mask``, of the weights' shape, and the scalar ``threshold``; neither is
    trained.

    Args:
      x: the weights: a variable or a tensor of known shape.
      scope: the variable scope of the two variables, or its name.

    Returns:
      The masked weights.
    """
    mask = pruning_utils.weight_mask_variable(x, scope)
    threshold = pruning_utils.weight_threshold_variable(x, scope)
    return masked(x, mask, threshold, again=False)


def masked(weights: Any, mask: Any, threshold: Any, again: bool = True) -> tf.Tensor:
    """Multiplies weights by their mask, and adds all four to their collections.

    Args:
      weights: a variable or a tensor.
      mask: the mask's variable.
      threshold: the threshold's variable.
      again: whether to add to the collections what is already there, as layers do that reuse
        their variables.
    """
    product = tf.multiply(mask, weights, name=MASKED_WEIGHT_NAME)
    if again or not any(mask is each for each in _v1.get_collection_ref(MASK_COLLECTION)):
        _v1.add_to_collection(THRESHOLD_COLLECTION, threshold)
        _v1.add_to_collection(MASK_COLLECTION, mask)
        _v1.add_to_collection(MASKED_WEIGHT_COLLECTION, product)
        _v1.add_to_collection(WEIGHT_COLLECTION, weights)
    return product


def get_masked_weights() -> list[Any]:
    """Returns the graph's masked weights."""
    return _v1.get_collection(MASKED_WEIGHT_COLLECTION)


def get_masks() -> list[Any]:
    """Returns the graph's masks."""
    return _v1.get_collection(MASK_COLLECTION)


def get_thresholds() -> list[Any]:
    """Returns the thresholds of the graph's masks."""
    return _v1.get_collection(THRESHOLD_COLLECTION)


def get_weights() -> list[Any]:
    """Returns the graph's weights that have masks."""
    return _v1.get_collection(WEIGHT_COLLECTION)


def get_weight_sparsity() -> list[tf.Tensor]:
    """Returns the share of zeros in each mask."""
    return [tf.math.zero_fraction(mask) for mask in get_masks()]
