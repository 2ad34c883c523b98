"""Stochastic dual coordinate ascent, an optimizer for linear models only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from estimator_bridge.canned.columns import are_v2

__all__ = ["LinearSDCA", "check_sdca"]


class LinearSDCA:
    """Stochastic dual coordinate ascent, for `LinearClassifier` and `LinearRegressor`.

    It keeps a dual variable for each example by the example's ID. It has no learning rate. The
    model must have two classes or predict one number, and sum the weights of an example's IDs.
    Method: https://www.jmlr.org/papers/volume14/shalev-shwartz13a/shalev-shwartz13a.pdf; proximal
    step: https://arxiv.org/pdf/1309.2375.pdf; adaptive sampling:
    https://arxiv.org/pdf/1502.08053.pdf.

    Args:
      example_id_column: the feature key of the example IDs, strings [batch].
      num_loss_partitions: the number of workers that train on parts of the data.
      num_table_shards: the number of tables for the examples' state; None is 1.
      symmetric_l1_regularization: at least 0.
      symmetric_l2_regularization: above 0; about the examples' mean L2 norm.
      adaptive: whether to sample examples by their expected gain.

    Raises:
      ValueError: a regularization is out of range.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ):
        if symmetric_l2_regularization <= 0.0:
            raise ValueError(
                "symmetric_l2_regularization should be positive. Got "
                f"{symmetric_l2_regularization}: the dual problem divides by it."
            )
        if symmetric_l1_regularization < 0.0:
            raise ValueError(
                "symmetric_l1_regularization should be non-negative. Got "
                f"{symmetric_l1_regularization}."
            )
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards or 1
        self.l1 = symmetric_l1_regularization
        self.l2 = symmetric_l2_regularization
        self.adaptive = adaptive


def check_sdca(
    optimizer: Any,
    columns: Iterable[Any],
    sparse_combiner: str,
    n_classes: int = 2,
    label_dimension: int = 1,
) -> None:
    """Checks that a linear model is compatible with `LinearSDCA`, if that is its optimizer.

    Raises:
      ValueError: it is not.
    """
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError(
            'sparse_combiner must be "sum" when optimizer is a LinearSDCA object. Got '
            f"{sparse_combiner!r}."
        )
    if not are_v2(columns):
        raise ValueError(
            "V2 feature columns required when optimizer is a LinearSDCA object: those of "
            "tf.feature_column."
        )
    if n_classes > 2:
        raise ValueError(
            f"LinearSDCA cannot be used in a multi-class setting. Got n_classes={n_classes}."
        )
    if label_dimension > 1:
        raise ValueError(
            "LinearSDCA can only be used with one-dimensional label. Got label_dimension="
            f"{label_dimension}."
        )
