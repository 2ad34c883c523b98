"""A function that the host calls with tensors gathered from all replicas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model.cross_shard import number_of_shards
from estimator_bridge.model.leaf_names import named_leaves
from estimator_bridge.model.named_arguments import NamedArguments

__all__ = ["GatheredCall"]


class GatheredCall:
    """The metric_fn of an ``eval_metrics`` pair, for a function that takes structures.

    Args:
      part: the function.
      values: the values that it may be called with, by name; those that it names are gathered.

    Attributes:
      tensors: the tensors to gather, by name, such as "labels" or "outputs['logits']".

    Raises:
      ValueError: in TPU mode, a tensor has no batch dimension.
    """

    def __init__(self, part: NamedArguments, values: Mapping[str, Any]):
        self._part = part
        self._values = dict(values)
        aliases = {"logits": "outputs"}
        arguments = {aliases.get(name, name) for name in part.names}
        self._names = [n for n in ("features", "labels", "outputs") if n in arguments]
        leaves = {k: v for name in self._names for k, v in named_leaves(name, values[name])}
        self.tensors = {name: leaf for name, leaf in leaves.items() if tf.is_tensor(leaf)}
        if number_of_shards() is not None:
            self._check_batched()

    def __call__(self, **tensors: tf.Tensor) -> Any:
        """Calls the function.

        Args:
          **tensors: for each of `tensors`, the values of all replicas, concatenated along the
            batch dimension.

        Returns:
          What the function returns.
        """
        values = dict(self._values)
        for name in self._names:
            structure = values[name]
            leaves = [tensors.get(key, leaf) for key, leaf in named_leaves(name, structure)]
            values[name] = tf.nest.pack_sequence_as(structure, leaves)
        values["logits"] = values["outputs"]
        return self._part(values)

    def _check_batched(self) -> None:
        for name, tensor in self.tensors.items():
            if tensor.shape.rank == 0:
                raise ValueError(
                    "All tensors outfed from TPU should preserve batch size dimension, but "
                    f"{name}, which {self._part.role} asks for, is the scalar {tensor!r}. Give "
                    "each example its value (tf.fill([batch_size], x)), or leave it out of what "
                    "inference returns."
                )
