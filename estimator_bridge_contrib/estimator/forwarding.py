"""Makes estimators whose predictions include some of the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.export import PredictOutput
from estimator_bridge.model import TPUEstimatorSpec
from estimator_bridge.training import EstimatorV1
from estimator_bridge.training.model_call import call_model_fn

__all__ = ["forward_features"]

_SERVED = ("predict", "serving_default")


def forward_features(
    estimator: Any,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> EstimatorV1:
    """Makes an Estimator like another one, whose predictions include some features.

    Args:
      estimator: the other Estimator; the new one uses the same model_dir.
      keys: the features, or a single one; None for all.
      sparse_default_values: for sparse features, the values of missing entries.

    Returns:
      The new Estimator. Its 'predict' and 'serving_default' exports include the features.

    Raises:
      TypeError: ``keys`` are not strings.
    """
    feature_names = _check_keys(keys)
    defaults = sparse_default_values or {}
    original_fn = estimator._model_fn

    def model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        spec = call_model_fn(original_fn, features, labels, mode, params, config)
        if isinstance(spec, TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        if spec.predictions is None:
            return spec
        names = list(features) if feature_names is None else feature_names
        _check_names(names, features, spec.predictions)
        added = {name: _dense(name, features[name], defaults) for name in names}
        outputs = dict(spec.export_outputs or {})
        for key in _SERVED:
            if isinstance(outputs.get(key), PredictOutput):
                outputs[key] = PredictOutput({**outputs[key].outputs, **added})
        return spec._replace(
            predictions={**spec.predictions, **added}, export_outputs=outputs or None
        )

    return EstimatorV1(
        model_fn, model_dir=estimator.model_dir, config=estimator.config, params=estimator.params
    )


def _check_keys(keys: Any) -> list[str] | None:
    if keys is None or isinstance(keys, str):
        return keys if keys is None else [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(
            f"keys should be either a string or a list of strings. Given: {type(keys).__name__}"
        )
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with "
                f"type: {type(key).__name__} ({key!r})"
            )
    return list(keys)


def _check_names(names: list[str], features: Any, predictions: Any) -> None:
    if not isinstance(predictions, Mapping):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. Given: "
            f"{type(predictions).__name__}. Return a dict in model_fn's spec."
        )
    for name in names:
        if name not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{name}" is not in features dict. features '
                f"dict has following keys: {sorted(features)}. Check forward_features' keys."
            )
        if name in predictions:
            raise ValueError(
                f"Cannot forward feature key ({name}). Since it does exist in predictions. "
                f"Existing prediction keys: {sorted(predictions)}. Rename one of them."
            )


def _dense(name: str, feature: Any, defaults: Mapping[str, Any]) -> tf.Tensor:
    if name in defaults:
        if not isinstance(feature, tf.SparseTensor):
            raise ValueError(
                f"Feature ({name}) is expected to be a `SparseTensor`, as it is in "
                f"sparse_default_values; got {type(feature).__name__}."
            )
        return tf.sparse.to_dense(feature, default_value=defaults[name])
    if isinstance(feature, tf.SparseTensor):
        raise ValueError(
            f"Feature ({name}) should be a Tensor, but is a SparseTensor. Leave it out of `keys`, "
            "or give its default in `sparse_default_values`."
        )
    return tf.convert_to_tensor(feature)
