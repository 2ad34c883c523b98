"""The heads that canned estimators have by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["classifier_head", "classifier_head_v1", "regression_head", "regression_head_v1"]


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Any:
    raise NotImplementedError


classifier_head_v1 = classifier_head


def regression_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> Any:
    raise NotImplementedError


regression_head_v1 = regression_head
