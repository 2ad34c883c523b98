"""A v1 optimizer as a tf_keras one, and the global step that its rate may depend on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_bridge.model.cross_shard import CrossShardOptimizer

__all__ = ["V1OptimizerInKeras", "as_keras_optimizer"]

_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


def as_keras_optimizer(make: Callable[[], Any]) -> tf_keras.optimizers.Optimizer:
    """Makes an optimizer for a compiled Keras model.

    Args:
      make: returns a v1 or a tf_keras optimizer. The global step that it sees, such as for a
        decaying rate, counts this optimizer's steps.

    Returns:
      A tf_keras optimizer, whose ``iterations`` are the global step.

    Raises:
      TypeError: `make` returned something else.
    """
    step = tf.Variable(
        0,
        trainable=False,
        dtype=tf.int64,
        name="global_step",
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )
    with _global_step(step):
        optimizer = make()
    if isinstance(optimizer, (CrossShardOptimizer, tf.compat.v1.tpu.CrossShardOptimizer)):
        raise TypeError(
            "The optimizer of a Keras model must not be a CrossShardOptimizer: Keras itself sums "
            "the gradients over the replicas. Return the optimizer inside of it; Model wraps it "
            "for a TPUEstimator."
        )
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        return V1OptimizerInKeras(optimizer, step)
    if not isinstance(
        optimizer, (tf_keras.optimizers.Optimizer, tf_keras.optimizers.legacy.Optimizer)
    ):
        raise TypeError(
            "The optimizer must be a tf.compat.v1.train.Optimizer or a tf_keras optimizer, got "
            f"{type(optimizer).__module__}.{type(optimizer).__qualname__}: {optimizer!r}."
        )
    optimizer.iterations = step
    return optimizer


class V1OptimizerInKeras(tf_keras.optimizers.Optimizer):
    """A v1 optimizer that tf_keras's loops call.

    Args:
      optimizer: the v1 optimizer.
      step: the variable that counts its steps.
    """

    def __init__(self, optimizer: tf.compat.v1.train.Optimizer, step: tf.Variable):
        super().__init__(name=optimizer.get_name())
        self.v1 = optimizer
        self.iterations = step

    @property
    def learning_rate(self) -> Any:
        """Not known: a v1 optimizer keeps its rate to itself."""
        raise AttributeError(
            f"The learning rate of {self.name} cannot be read or set, because it is a "
            "tf.compat.v1.train optimizer. Decay the rate in the model's `optimizer` function, or "
            "return a tf_keras optimizer there."
        )

    @learning_rate.setter
    def learning_rate(self, rate: Any) -> None:
        del rate
        _ = self.learning_rate

    def build(self, var_list: Any) -> None:
        """Does nothing: a v1 optimizer makes its slots with the first gradients."""

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, tf.Variable]], name: Any = None, **kwargs: Any
    ) -> Any:
        """Sums the gradients over the replicas and applies them; in a replica."""
        del kwargs
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        return self.v1.apply_gradients(pairs, self.iterations, name)

    def get_config(self) -> dict[str, Any]:
        """Not supported.

        Raises:
          NotImplementedError: always. A v1 optimizer has no configuration to save.
        """
        raise NotImplementedError(
            f"{self.name} is a tf.compat.v1.train optimizer, which Keras cannot save as a "
            "configuration. Save weights (save_weights, tf.train.Checkpoint), or save the model's "
            "inference_model."
        )


@contextlib.contextmanager
def _global_step(step: tf.Variable) -> Iterator[None]:
    """Makes a variable the global step of the current graph, also while there is no graph."""
    graph = tf.compat.v1.get_default_graph()
    before = graph.get_collection(_GLOBAL_STEP)
    graph.clear_collection(_GLOBAL_STEP)
    graph.add_to_collection(_GLOBAL_STEP, step)
    try:
        yield
    finally:
        graph.clear_collection(_GLOBAL_STEP)
        for each in before:
            graph.add_to_collection(_GLOBAL_STEP, each)
