"""The types and shapes of a model's inputs, which stay the same from one call to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["Signature", "check_signature", "placeholders_of", "signature_of"]

_v1 = tf.compat.v1


class Signature(NamedTuple):
    """The type and shape that a tensor's successors have to share; the first dimension may differ.

    Attributes:
      dtype: the type.
      shape: the shape; unknown for a SparseTensor.
      is_sparse: whether the tensor is a SparseTensor.
    """

    dtype: tf.DType
    shape: tf.TensorShape
    is_sparse: bool

    def accepts(self, other: Signature) -> bool:
        """Returns whether a tensor of another signature may take the place of one of this."""
        if (self.dtype, self.is_sparse) != (other.dtype, other.is_sparse):
            return False
        if self.shape.rank is None or other.shape.rank is None:
            return True
        if self.shape.rank != other.shape.rank:
            return False
        return self.shape[1:].is_compatible_with(other.shape[1:])

    def placeholder(self) -> Any:
        """Makes a placeholder for a batch of any size."""
        if self.is_sparse:
            return _v1.sparse_placeholder(self.dtype)
        return _v1.placeholder(self.dtype, [None, *self.shape[1:]] if self.shape.rank else None)


def signature_of(tensors: Any) -> Any:
    """Returns the signatures of tensors, in the same structure."""
    return tf.nest.map_structure(_signature, tensors)


def placeholders_of(signatures: Any) -> Any:
    """Makes placeholders of signatures, in the same structure."""
    if isinstance(signatures, Mapping):
        return {key: placeholders_of(each) for key, each in signatures.items()}
    return signatures.placeholder() if isinstance(signatures, Signature) else signatures


def check_signature(kind: str, tensors: Any, required: Any) -> None:
    """Checks that tensors have the types and shapes of those of an earlier call.

    Args:
      kind: "Features" or "Labels".
      tensors: a tensor, or tensors by name; further names may be among them.
      required: the signatures of the earlier call.

    Raises:
      ValueError: a name is missing, or a tensor has another type or shape.
    """
    signature = signature_of(tensors)
    if isinstance(required, Mapping) and isinstance(signature, Mapping):
        is_same = all(
            key in signature and _accepts(required[key], signature[key]) for key in required
        )
    else:
        is_same = _accepts(required, signature)
    if not is_same:
        raise ValueError(
            f"{kind} are incompatible with given information. Given {kind.lower()}: {signature}, "
            f"required signatures: {required}. An estimator keeps those of its first call: make "
            "the input's types and shapes the same, or make another estimator for this input."
        )


def _accepts(required: Any, signature: Any) -> bool:
    if isinstance(required, Signature) and isinstance(signature, Signature):
        return required.accepts(signature)
    return type(required) is type(signature)


def _signature(tensor: Any) -> Signature:
    is_sparse = isinstance(tensor, tf.SparseTensor)
    tensor = tensor if is_sparse else tf.convert_to_tensor(tensor)
    shape = tf.TensorShape(None) if is_sparse else tensor.shape
    return Signature(tensor.dtype.base_dtype, shape, is_sparse)
