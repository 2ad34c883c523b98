"""A linear classifier whose dense features are mapped first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.kernel_methods.mappers import DenseKernelMapper
from estimator_bridge_contrib.layers.column_types import Numbers
from estimator_bridge_contrib.learn.canned.linear import LinearEstimator
from estimator_bridge_contrib.learn.heads.factories import multi_class_head
from estimator_bridge_contrib.learn.keys import PredictionKey

__all__ = ["KernelLinearClassifier"]

_Mappers = Mapping[Any, Sequence[DenseKernelMapper]]


class KernelLinearClassifier(LinearEstimator):
    """A linear model of features, and of features that maps have put into another space.

    Args:
      feature_columns: columns of tf.contrib.layers, which are used as they are.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      n_classes: the number of classes.
      weight_column_name: the key of weights among the features.
      optimizer: an optimizer, a function that returns one, or the name of one; by default Ftrl.
      kernel_mappers: by real-valued column, the maps whose results are concatenated.
      config: a RunConfig.

    Raises:
      ValueError: n_classes is below 2, there are neither columns nor maps, or a map is no
        DenseKernelMapper.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: _Mappers | None = None,
        config: Any = None,
    ):
        head = multi_class_head(n_classes, weight_column_name=weight_column_name)
        columns, maps = tuple(feature_columns or ()), dict(kernel_mappers or {})
        if not columns and not maps:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        for mapper in (each for mappers in maps.values() for each in mappers):
            if not isinstance(mapper, DenseKernelMapper):
                raise ValueError(
                    f"Invalid kernel mappers. Got {mapper!r}; wanted a RandomFourierFeatureMapper, "
                    "or another DenseKernelMapper."
                )
        maps = {column: mappers for column, mappers in maps.items() if _is_mapped(column)}
        mapped = [
            layers.real_valued_column(_name(column), sum(each.output_dim for each in mappers))
            for column, mappers in maps.items()
        ]
        super().__init__(
            [*columns, *mapped],
            head,
            model_dir,
            optimizer=optimizer,
            config=config,
            feature_engineering_fn=_with_mapped(maps) if maps else None,
        )

    def predict_classes(self, input_fn: Callable[[], Any] | None = None) -> Any:
        """Returns an iterator over the predicted classes.

        Args:
          input_fn: returns features, or a dataset of them.
        """
        return self._predicted(PredictionKey.CLASSES, {"input_fn": input_fn}, as_iterable=True)

    def predict_proba(self, input_fn: Callable[[], Any] | None = None) -> Any:
        """Returns an iterator over the probabilities of all classes.

        Args:
          input_fn: returns features, or a dataset of them.
        """
        arguments = {"input_fn": input_fn}
        return self._predicted(PredictionKey.PROBABILITIES, arguments, as_iterable=True)


def _is_mapped(column: Any) -> bool:
    if isinstance(column, Numbers):
        return True
    tf.get_logger().warning(
        "Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn %s "
        "will not be updated.",
        column.name,
    )
    return False


def _name(column: Any) -> str:
    return f"{column.name}_MAPPED"


def _with_mapped(maps: _Mappers) -> Callable[..., Any]:
    def engineer(features: Mapping[str, Any], labels: Any) -> tuple[dict[str, Any], Any]:
        added = {
            _name(column): tf.concat([each.map(features[column.name]) for each in mappers], 1)
            for column, mappers in maps.items()
        }
        return {**features, **added}, labels

    return engineer
