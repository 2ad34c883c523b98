"""The metrics of a model, computed on the host from global batches, outside of a session."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.model.metric_checks import check_eval_metric_ops

__all__ = ["MetricsOnHost"]


class MetricsOnHost:
    """Streaming metrics: ``tf.compat.v1.metrics``, or tf_keras metrics after ``update_state``.

    Args:
      metrics: returns them by name, for tensors of the spec's structure.
      spec: tensor specs of a global batch.
    """

    def __init__(self, metrics: Callable[[Any], dict[str, Any]], spec: Any):
        self._metrics, self._spec = metrics, spec
        self.names: list[str] = []
        # A thread of its own has no strategy in scope: the metrics exist once.
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            threads.submit(self._build).result()

    def reset(self) -> None:
        """Sets the metrics back to their first values."""
        for variable, value in self._first_values:
            variable.assign(value)

    def update(self, batch: Any) -> None:
        """Counts a global batch."""
        self._update(*tf.nest.flatten(batch))

    def results(self) -> dict[str, Any]:
        """Returns the values by name, as NumPy."""
        values = tf.nest.pack_sequence_as(self._structure, self._value())
        return {name: tf.nest.map_structure(lambda x: x.numpy(), values[name]) for name in values}

    def _build(self) -> None:
        results: dict[str, Any] = {}

        def build(*tensors: tf.Tensor) -> list[tf.Tensor]:
            batch = tf.nest.pack_sequence_as(self._spec, tensors)
            pairs = check_eval_metric_ops(self._metrics(batch))
            values = {name: tf.nest.map_structure(tf.identity, p[0]) for name, p in pairs.items()}
            results["structure"], results["values"] = values, tf.nest.flatten(values)
            results["updates"] = [
                each if isinstance(each, tf.Operation) else tf.identity(each)
                for pair in pairs.values()
                for each in tf.nest.flatten(pair[1])
            ]
            return results["values"]

        function = tf.compat.v1.wrap_function(build, tf.nest.flatten(self._spec))
        count = len(tf.nest.flatten(self._spec))
        self._update = function.prune(function.inputs[:count], results["updates"])
        self._value = function.prune([], results["values"])
        self._structure = tf.nest.map_structure(lambda _: 0, results["structure"])
        self.names = list(results["structure"])
        self._first_values = [(each, each.numpy()) for each in function.graph.variables]
