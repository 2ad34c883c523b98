"""The base of tf.contrib.predictor's functions: a model in its own session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.sessions import SessionCalls

__all__ = ["Predictor", "tensors_of_signature"]


class Predictor:
    """A function from arrays to arrays. Close it with ``predictor.session.close()``.

    A subclass sets ``_graph``, ``_session``, ``_feed_tensors`` and ``_fetch_tensors``, each with
    tensors by the keys that callers use.
    """

    _graph: tf.Graph
    _session: Any
    _feed_tensors: Mapping[str, tf.Tensor]
    _fetch_tensors: Mapping[str, tf.Tensor]
    _calls: SessionCalls | None = None  # of one session after another

    @property
    def graph(self) -> tf.Graph:
        """The model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that runs the model."""
        return self._session

    @property
    def feed_tensors(self) -> Mapping[str, tf.Tensor]:
        """The inputs, by key."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> Mapping[str, tf.Tensor]:
        """The outputs, by key."""
        return self._fetch_tensors

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Runs the model once.

        Args:
          input_dict: arrays by key. Keys that are omitted or None are not fed.

        Returns:
          Arrays by key.

        Raises:
          ValueError: a key is not one of the model's.
        """
        feed_tensors = self.feed_tensors
        if not input_dict.keys() <= feed_tensors.keys():
            expected = set(feed_tensors)
            raise ValueError(
                f"Got unexpected keys in input_dict: {set(input_dict) - expected}\n"
                f"expected: {expected}"
            )
        feeds = {feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        if self._calls is None:  # a subclass need not call __init__
            self._calls = SessionCalls()
        return self._calls.run(self.session, self.fetch_tensors, feeds)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors "
            f"{self._fetch_tensors}"
        )


def tensors_of_signature(
    graph: tf.Graph, signature: Any
) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]:
    """Returns the inputs and the outputs of a SignatureDef, by key."""
    inputs, outputs = (
        {key: graph.get_tensor_by_name(info.name) for key, info in part.items()}
        for part in (signature.inputs, signature.outputs)
    )
    return inputs, outputs
