"""The host's part of a replicated step: placeholders for values gathered from replicas."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tpu.host_strings import computed_by_host

__all__ = ["Gathered", "check_loss", "check_padded"]


class Gathered:
    """Collects the tensors of a replica that the host reads, and their gathered counterparts.

    Their shapes are static, as on a TPU: a batch of another size gets another trace.

    Args:
      replicas: the number of replicas whose tensors are concatenated.
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
          ValueError: the tensor is a scalar, or its shape is not static. The message names the
            tensor and the fix.

        Strings that a replica would compute are computed here, from its numbers.
        """
        tensor = tf.convert_to_tensor(tensor)
        if tensor.shape.rank == 0:
            raise ValueError(
                "All tensors outfed from TPU should preserve batch size dimension, but got scalar "
                f"{name} ({tensor.name}). It is concatenated over the replicas. Give it a first "
                "dimension, as in tf.reshape(x, [1])."
            )
        if not tensor.shape.is_fully_defined():
            raise ValueError(
                f"{name} has dynamic shape (should be static): {tensor.name}, shape "
                f"{tensor.shape}. On a TPU, use operations with static shapes (tf.where and masks "
                "instead of tf.boolean_mask), or call x.set_shape([...])."
            )
        if tensor.dtype == tf.string:
            strings = computed_by_host(tensor, functools.partial(self.tensor, name), self._replicas)
            if strings is not None:
                return strings
        shape = tensor.shape.as_list()
        shape[0] *= self._replicas
        placeholder = tf.compat.v1.placeholder(
            tensor.dtype, shape, name="gathered/" + tensor.op.name
        )
        self.inputs[placeholder.name] = tensor.name
        return placeholder


def check_padded(predictions: Mapping[str, Any], batch_size: int) -> None:
    """Checks that the predictions of padding can be distinguished from the others.

    Args:
      predictions: a replica's predictions, with static shapes.
      batch_size: a replica's batch size.

    Raises:
      ValueError: the first dimension of a prediction is not the batch size.
    """
    for key, tensor in predictions.items():
        first = tensor.shape.as_list()[0]
        if first != batch_size:
            raise ValueError(
                f"predictions[{key!r}] ({tensor.name}, shape {tensor.shape}) should preserve batch "
                f"size dimension: its first dimension is {first}, and a replica has {batch_size} "
                "examples. A short last batch is padded, and the predictions for the padding could "
                "not be removed. Return one prediction per example, or batch the dataset with "
                "drop_remainder=True."
            )


def check_loss(loss: tf.Tensor) -> None:
    """Checks that the rank of a replica's loss is known.

    Raises:
      ValueError: the rank is not known.
    """
    if loss.shape.rank is None:
        raise ValueError(
            f"loss has dynamic shape (should be static): {loss.name}, shape {loss.shape}. If it is "
            "a scalar, return tf.reshape(loss, [])."
        )
