"""The parts of a canned model as values: what both versions of an estimator say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["DeepPart", "LinearPart"]


@dataclasses.dataclass(frozen=True)
class DeepPart:
    """The fully connected layers of a model.

    Attributes:
      hidden_units: the width of each hidden layer.
      columns: the feature columns of the input layer.
      activation_fn: the activation of the hidden layers.
      dropout: the fraction of a hidden layer's outputs dropped in training; None for none.
      batch_norm: whether batch normalization follows each hidden layer.
      partitioner: the partitioner of the input layer's variables, in V1 only.
    """

    hidden_units: Sequence[int]
    columns: Sequence[Any]
    activation_fn: Callable[[Any], Any] | None
    dropout: float | None
    batch_norm: bool
    partitioner: Any = None


@dataclasses.dataclass(frozen=True)
class LinearPart:
    """The linear model of feature columns.

    Attributes:
      columns: the feature columns.
      sparse_combiner: how the weights of one example's ids are combined: sum, mean or sqrtn.
      partitioner: the partitioner of the variables, in V1 only.
    """

    columns: Sequence[Any]
    sparse_combiner: str
    partitioner: Any = None
