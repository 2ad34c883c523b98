"""Checks that shapes are static, which compiling for a TPU requires."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model.leaf_names import named_leaves

__all__ = ["check_static_shapes"]

_FIXES = {
    "features": "batch(..., drop_remainder=True) in input_fn, or tensor.set_shape([...]) in it",
    "labels": "batch(..., drop_remainder=True) in input_fn, or tensor.set_shape([...]) in it",
    "outputs": "tensor.set_shape([...]) in inference, or operations without dynamic shapes",
    "predictions": "operations without dynamic shapes (tf.where with three arguments, top_k)",
}


def check_static_shapes(name: str, structure: Any) -> None:
    """Checks that all sizes of tensors that pass through a TPU are known.

    Args:
      name: "features", "labels", "outputs" or "predictions", for the error.
      structure: any nesting of tensors.

    Raises:
      ValueError: a tensor has an unknown size, or is sparse or ragged.
    """
    for label, tensor in named_leaves(name, structure):
        if isinstance(tensor, (tf.SparseTensor, tf.RaggedTensor)):
            raise ValueError(
                f"{label} is a {type(tensor).__name__}, which a TPU cannot use; it needs dense "
                "tensors of static shape. Convert it in input_fn: tf.sparse.to_dense(x), or "
                "x.to_tensor(shape=[...])."
            )
        if tf.is_tensor(tensor) and not tensor.shape.is_fully_defined():
            # The original's wording for each.
            message = (
                f"The {name} to the model returned by input_fn must have static shape"
                if name in ("features", "labels")
                else f"{name} has dynamic shape (should be static)"
            )
            raise ValueError(
                f"{message}: {label} is {tensor!r}, of shape {tensor.shape}. TPU mode needs to "
                f"know each size in advance. Use {_FIXES[name]}."
            )
