"""Rebuilds a compiled Keras model in a graph.

In a ``tf.Graph`` a tf_keras model has its loss, metrics and updates as tensors, as in TF1.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.keras import (
    add_sample_weights,
    compile_arguments,
    is_graph_network,
    set_model_inputs,
)
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["CompiledModel", "keras_in_graphs"]


@contextlib.contextmanager
def keras_in_graphs(training: bool) -> Iterator[None]:
    """Provides a context to build layers in the default graph.

    In graphs, tf_keras gives its classes other base classes than in eager code. The change holds
    for the whole process, and earlier models of the program would lose their methods. So this
    context restores the bases.

    Args:
      training: the default of layers that are called without ``training=``.
    """
    import tf_keras

    before = {kind: kind.__bases__ for kind in _below(tf_keras.layers.Layer)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated for TF2, not for graphs
            with tf_keras.backend.learning_phase_scope(int(training)):
                yield
    finally:
        for kind, bases in before.items():
            if kind.__bases__ != bases:
                kind.__bases__ = bases


def _below(kind: Any) -> Iterator[Any]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)


class CompiledModel:
    """The recipe of a compiled tf_keras model, to rebuild it.

    Args:
      model: a functional, sequential or subclassed model.
      custom_objects: classes and functions that its configuration names.
      compiled: the model to take optimizer, loss and metrics from; `model` by default.

    Raises:
      ValueError: the optimizer works only in eager code.

    Attributes:
      model: as given.
      is_functional: whether the model's inputs are known.
    """

    def __init__(
        self, model: Any, custom_objects: Mapping[str, Any] | None = None, compiled: Any = None
    ):
        compiled = model if compiled is None else compiled
        self.model = model
        self.is_functional = is_graph_network(model)
        self._custom_objects = dict(custom_objects or {})
        if not getattr(compiled, "optimizer", None):
            self._optimizers: list[_Optimizer] = []  # it can still be copied, to predict
            return
        # Read now: in a graph, the model may have other methods.
        arguments = compile_arguments(compiled)
        self._compiled = {key: value for key, value in arguments.items() if key != "optimizer"}
        # WideDeepModel has two. tf_keras wraps a list so that checkpoints see it.
        optimizer = compiled.optimizer
        several = isinstance(optimizer, (list, tuple))
        self._optimizers = [_Optimizer(each) for each in (optimizer if several else [optimizer])]

    @property
    def is_compiled(self) -> bool:
        """True if the model has an optimizer, loss and metrics."""
        return bool(self._optimizers)

    def check_compiled(self) -> None:
        """Checks that the model is compiled.

        Raises:
          ValueError: the model is not compiled.
        """
        if not self.is_compiled:
            raise ValueError(
                "The given keras model has not been compiled yet. Please compile the model with "
                "`model.compile()` first: it sets the optimizer, loss and metrics."
            )

    def build(
        self,
        inputs: Any = None,
        targets: Sequence[tf.Tensor] | None = None,
        sample_weights: Any = None,
        adapt_optimizer: Callable[[Any], Any] | None = None,
        counts_steps: bool = True,
    ) -> Any:
        """Builds the model in the default graph; call it within ``keras_in_graphs``.

        Args:
          inputs: tensors, a list or a dict; None makes placeholders.
          targets: one tensor per output; None makes placeholders.
          sample_weights: one tensor or None for each output.
          adapt_optimizer: maps each optimizer, whose count of iterations is the global step, to
            the one to use.
          counts_steps: whether optimizers count in the global step, and not in their own variable.

        Returns:
          The copy, compiled, with its own weights.
        """
        import tf_keras

        copy = self.copy(inputs)
        step = tf.compat.v1.train.get_or_create_global_step() if counts_steps else None
        optimizers = [optimizer.rebuild(step) for optimizer in self._optimizers]
        if adapt_optimizer:
            optimizers = [adapt_optimizer(optimizer) for optimizer in optimizers]
        optimizer = optimizers[0] if len(optimizers) == 1 else optimizers
        arguments = {**self._compiled, "optimizer": optimizer}
        for key in ("metrics", "weighted_metrics"):
            arguments[key] = tf.nest.map_structure(_metric_again, arguments.get(key))
        if targets is not None:
            arguments["target_tensors"] = list(targets)
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            copy.compile(**arguments)
        if sample_weights is not None:
            add_sample_weights(copy, sample_weights)
        return copy

    def copy(self, inputs: Any = None) -> Any:
        """Builds the model like ``build``, but without a loss, metrics and an optimizer."""
        import tf_keras

        with tf_keras.utils.custom_object_scope(self._custom_objects):
            return self._copy(inputs)

    def _copy(self, inputs: Any) -> Any:
        import tf_keras

        if self.is_functional or isinstance(self.model, tf_keras.Sequential):
            copy = tf_keras.models.clone_model(self.model, input_tensors=inputs)
            if self.model.built and copy.built:
                _check_weights(self.model, copy, inputs)
            return copy
        try:
            copy = type(self.model).from_config(self.model.get_config())
        except NotImplementedError as error:
            raise ValueError(
                "Subclassed `Model`s passed to `model_to_estimator` must implement "
                f"`Model.get_config` and `Model.from_config`: {type(self.model).__name__} does "
                "not, so it cannot be rebuilt in a graph."
            ) from error
        if inputs is not None:
            is_one = isinstance(inputs, (list, tuple)) and len(inputs) == 1
            set_model_inputs(copy, inputs[0] if is_one else inputs)
        return copy


def _check_weights(model: Any, copy: Any, inputs: Any) -> None:
    """Checks that the model's weights fit its copy, which was made for these inputs."""
    for weight, copy_weight in zip(model.weights, copy.weights):
        if weight.shape != copy_weight.shape:
            shapes = [tensor.shape for tensor in tf.nest.flatten(inputs)]
            raise ValueError(
                f"The Keras model {model.name!r} does not fit features of shape "
                f"{', '.join(map(str, shapes))}: with them, its weight {weight.name!r} would have "
                f"shape {copy_weight.shape}, but it has {weight.shape}. Give it features of shape "
                f"{', '.join(str(tensor.shape) for tensor in model.inputs)}."
            )


def _metric_again(metric: Any) -> Any:
    """Rebuilds a metric with variables in the default graph; returns names and functions as is."""
    import tf_keras

    if not isinstance(metric, tf_keras.metrics.Metric):
        return metric
    return type(metric).from_config(metric.get_config())


class _Optimizer:
    """The recipe of a Keras model's optimizer, to rebuild it in a graph."""

    def __init__(self, optimizer: Any):
        import tf_keras

        if isinstance(optimizer, tf_keras.optimizers.Optimizer):
            if not hasattr(tf_keras.optimizers.legacy, type(optimizer).__name__):
                raise ValueError(
                    "Please set your optimizer as an instance of "
                    "`tf.keras.optimizers.legacy.Optimizer`, e.g., "
                    "`tf.keras.optimizers.legacy.Adam`. Received optimizer type: "
                    f"{type(optimizer).__name__}, which works only in eager code."
                )
            with eager_mode():
                optimizer = tf_keras.__internal__.optimizers.convert_to_legacy_optimizer(optimizer)
        self._kind = type(optimizer)
        # A v1 optimizer has no configuration, but works in any graph.
        self._v1 = getattr(optimizer, "optimizer", None)
        self._config = None if self._v1 is not None else optimizer.get_config()

    def rebuild(self, iterations: tf.Variable | None) -> Any:
        """Makes the optimizer in the default graph, counting in ``iterations`` or its own."""
        if self._v1 is not None:
            # Keras wraps it, and initializes the slots of those that it has wrapped itself.
            return self._v1 if iterations is None else self._kind(self._v1, iterations)
        optimizer = self._kind.from_config(self._config)
        if iterations is not None:
            optimizer.iterations = iterations
        return optimizer
