"""The host's part of a replicated step: placeholders for values gathered from replicas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = ["Gathered", "check_loss", "check_padded"]


class Gathered:
    """Collects the tensors of a replica that the host reads, and their gathered counterparts.

    Their shapes are static, as a TPU's: a batch of another size has a trace of its own.

    Args:
      replicas: how many are concatenated.
    """

    def __init__(self, replicas: int):
        self._replicas = replicas
        self.inputs: dict[str, str] = {}

    def structure(self, field: str, tensors: Any) -> Any:
        """Returns the gathered counterparts of a list or dict of tensors."""
        if isinstance(tensors, Mapping):
            return {k: self.tensor(f"{field}[{k!r}]", t) for k, t in tensors.items()}
        return [self.tensor(f"{field}[{i}]", t) for i, t in enumerate(tensors)]

    def tensor(self, name: str, tensor: Any) -> tf.Tensor:
        """Returns the gathered counterpart of one tensor: a placeholder [global batch, ...].

        Raises:
          ValueError: it is a scalar, or its shape is not static; names it and the mend.
        """
        tensor = tf.convert_to_tensor(tensor)
        if tensor.shape.rank == 0:
            raise ValueError(
                "All tensors outfed from TPU should preserve batch size dimension, but got scalar "
                f"{name} ({tensor.name}). It is concatenated over the replicas: give it a first "
                "dimension, as in tf.reshape(x, [1])."
            )
        if not tensor.shape.is_fully_defined():
            raise ValueError(
                f"{name} has dynamic shape (should be static): {tensor.name}, shape "
                f"{tensor.shape}. Use operations with static results on a TPU (tf.where, masks "
                "instead of tf.boolean_mask), or x.set_shape([...])."
            )
        shape = tensor.shape.as_list()
        shape[0] *= self._replicas
        placeholder = tf.compat.v1.placeholder(
            tensor.dtype, shape, name="gathered/" + tensor.op.name
        )
        self.inputs[placeholder.name] = tensor.name
        return placeholder


def check_padded(predictions: Mapping[str, Any], batch_size: int) -> None:
    """Checks that values of padded examples can be told from the others.

    Args:
      predictions: a replica's, of static shapes.
      batch_size: of a replica.

    Raises:
      ValueError: the first dimension of one is not the batch's.
    """
    for key, tensor in predictions.items():
        first = tensor.shape.as_list()[0]
        if first != batch_size:
            raise ValueError(
                f"predictions[{key!r}] ({tensor.name}, shape {tensor.shape}) should preserve batch "
                f"size dimension: its first dimension is {first}, and a replica has {batch_size} "
                "examples. The last batch may be short, is padded then, and what was predicted for "
                "the padding could not be told apart. Give each example its predictions, or batch "
                "the dataset with drop_remainder=True."
            )


def check_loss(loss: tf.Tensor) -> None:
    """Checks that the static shape of a replica's loss is that of a scalar.

    Raises:
      ValueError: its shape is not known.
    """
    if loss.shape.rank is None:
        raise ValueError(
            f"loss has dynamic shape (should be static): {loss.name}, shape {loss.shape}. Where it "
            "is a scalar all the same, say so: tf.reshape(loss, [])."
        )
