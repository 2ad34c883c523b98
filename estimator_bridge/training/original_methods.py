"""Private methods and attributes of the original's Estimator that libraries use.

They build parts of a graph for a program that runs its own session. Training in this library does
not call them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.data.input_results import DatasetInitializerHook, parse_input_fn_result
from estimator_bridge.model import fn_args

__all__ = ["OriginalMethods"]


class OriginalMethods:
    """A base of `Estimator`."""

    _config: Any
    _model_fn: Callable[..., Any]
    params: Any
    config: Any

    @property
    def _session_config(self) -> Any:
        return self._config.session_config

    @property
    def _device_fn(self) -> Any:
        return self._config.device_fn

    @property
    def _train_distribution(self) -> Any:
        return self._config.train_distribute

    @property
    def _eval_distribution(self) -> Any:
        return self._config.eval_distribute

    def _create_global_step(self, graph: tf.Graph) -> Any:
        return tf.compat.v1.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: tf.Graph) -> Any:
        step = self._create_global_step(graph)
        assert step is tf.compat.v1.train.get_global_step(), "the graph is not the default one"
        return step

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        values = {"mode": mode, "params": self.params, "config": self.config}
        if input_context:
            values["input_context"] = input_context
        arguments = {name: values[name] for name in fn_args(input_fn) if name in values}
        with tf.device("/cpu:0"):
            return input_fn(**arguments)

    def _get_features_and_labels_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, Any, list[Any]]:
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _get_features_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, list[Any]]:
        features, _, hooks = self._get_features_and_labels_from_input_fn(input_fn, mode)
        return features, hooks

    def _get_iterator_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str, distribution: Any = None
    ) -> tuple[Any, list[Any]]:
        if distribution is not None:
            raise NotImplementedError(
                "_get_iterator_from_input_fn makes no iterator of a strategy. Pass the strategy as "
                "RunConfig(train_distribute=...), and call train(input_fn)."
            )
        dataset = self._call_input_fn(input_fn, mode)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        return iterator, [DatasetInitializerHook(iterator)]

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config  # the estimator's config is used
        call: Any = self._export_execution().call_model_fn  # type: ignore[attr-defined]
        return call(self._model_fn, features, labels, mode, self.params)

    def _extract_batch_length(self, preds_evaluated: Mapping[str, Any]) -> int | None:
        lengths = {key: np.shape(value)[0] for key, value in preds_evaluated.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(
                f"Batch length of predictions should be same. Got {lengths}; "
                "predict(yield_single_examples=False) takes batches of any lengths."
            )
        return next(iter(lengths.values()), None)

    def _extract_keys(self, predictions: Any, predict_keys: Any) -> Any:
        if not predict_keys:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError(
                "predict_keys argument is not valid in case of non-dict predictions. Got "
                f"predict_keys={predict_keys!r}, and the model predicts {predictions!r}."
            )
        outputs = {key: value for key, value in predictions.items() if key in predict_keys}
        if not outputs:
            raise ValueError(
                f"Expected to run at least one output from {list(predictions)}, provided "
                f"{predict_keys}."
            )
        return outputs
