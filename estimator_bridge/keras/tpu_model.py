"""tf.contrib.tpu.keras_to_tpu_model: a TF1 Keras model on the cores of a TPU.

The loops around a step (fit, callbacks, generators, validation) are tf_keras' loops for graphs;
the step function that they call runs on the cores.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.compat.v1 import logging

from estimator_bridge.compile_for import refuse_uncovered
from estimator_bridge.keras.batches import is_dataset_fn, numpy_batches
from estimator_bridge.keras.cloning import CompiledModel
from estimator_bridge.keras.cores import Cores
from estimator_bridge.keras.tpu_strategy import TPUDistributionStrategy
from estimator_bridge.model import ModeKeys
from estimator_bridge.tensorflow_private.keras import compile_arguments, hypers, is_graph_network

__all__ = ["KerasTPUModel", "tpu_model"]

_WHOLE = "is not supported for TPU execution, where a batch is divided over the cores."
_NOT_COMPILED = (
    "a Keras model on a TPU's cores is not compiled here; only the steps of a TPUEstimator are. "
    "Call the model in a model_fn to have them compiled."
)


class KerasTPUModel(tf_keras.Model):
    """A functional or sequential model that trains, evaluates and predicts on cores.

    Batches are global: each core gets an equal part. If the number of cores does not divide a
    batch, such as a short last one, each core gets all of it. The weights are on the cores; every
    method that reads them (``get_weights``, ``save``, ``save_weights``, ``sync_to_cpu``) copies
    them to this process first.

    Args:
      cpu_model: the program's model.
      strategy: the strategy of the cores.
    """

    def __init__(self, cpu_model: Any, strategy: tf.distribute.Strategy):
        super().__init__(inputs=cpu_model.inputs, outputs=cpu_model.outputs, name=cpu_model.name)
        # Hidden in a closure, so that Keras does not count the layers twice.
        self._parts = functools.partial(lambda *parts: parts, cpu_model, strategy)
        self._cores: Cores | None = None
        if cpu_model.optimizer:
            arguments = compile_arguments(cpu_model)
            self.compile(cpu_model.optimizer, **arguments)

    @property
    def cpu_model(self) -> Any:
        """The program's model, with the weights of the last sync."""
        return self._parts()[0]

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, **options: Any
    ):
        """Configures the model for training; see tf.keras.Model.

        Raises:
          ValueError: ``target_tensors`` are given.
        """
        if options.get("target_tensors") is not None:
            raise ValueError(f"target_tensors {_WHOLE} Give the targets to fit().")
        self.sync_to_cpu()
        self._cores = None
        super().compile(optimizer, loss, metrics, **options)
        if not self.cpu_model.optimizer:
            self.cpu_model.compile(optimizer, loss, metrics, **options)

    def fit(self, x: Any = None, y: Any = None, batch_size: Any = None, *args: Any, **kwargs: Any):
        """Trains; see tf.keras.Model.

        ``x`` and ``validation_data`` may be functions that return a Dataset of global batches.
        ``steps_per_epoch`` and ``validation_steps`` are then required.
        """
        if is_dataset_fn(x):
            x = numpy_batches(x, "x", kwargs.get("steps_per_epoch"), "steps_per_epoch")
            kwargs["workers"] = 0
        validation = kwargs.get("validation_data")
        if is_dataset_fn(validation):
            kwargs["validation_data"] = numpy_batches(
                validation, "validation_data", kwargs.get("validation_steps"), "validation_steps",
                should_repeat=True,
            )  # fmt: skip
        try:
            return super().fit(x, y, batch_size, *args, **kwargs)
        finally:
            self.sync_to_cpu()

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any):
        """Evaluates; see tf.keras.Model. ``x`` may be a function that returns a Dataset."""
        if is_dataset_fn(x):
            x = numpy_batches(x, "x", kwargs.get("steps"), "steps")
            kwargs["workers"] = 0
        return super().evaluate(x, y, *args, **kwargs)

    def predict(self, x: Any, *args: Any, **kwargs: Any):
        """Predicts; see tf.keras.Model. ``x`` may be a function that returns a Dataset."""
        if is_dataset_fn(x):
            x = numpy_batches(x, "x", kwargs.get("steps"), "steps")
            kwargs["workers"] = 0
        return super().predict(x, *args, **kwargs)

    def reset_metrics(self) -> None:
        """Resets the metrics."""
        super().reset_metrics()
        if self._cores:
            self._cores.reset_metrics()

    def reset_states(self) -> None:
        """Resets stateful layers."""
        super().reset_states()
        if self._cores:
            self._cores.reset_states()

    def sync_to_cpu(self) -> Any:
        """Copies the weights from the cores.

        Returns:
          The program's model with these weights.
        """
        if self._cores:
            self._cores.give_weights()
        return self.cpu_model

    def get_weights(self) -> list[Any]:
        """Returns the weights on the cores."""
        return self.sync_to_cpu().get_weights()

    def set_weights(self, weights: Any) -> None:
        """Sets the weights of the program's model and on the cores."""
        self.cpu_model.set_weights(weights)
        self._take_weights()

    def load_weights(self, *args: Any, **kwargs: Any) -> Any:
        """Reads weights from a file; see tf.keras.Model."""
        status = self.cpu_model.load_weights(*args, **kwargs)
        self._take_weights()
        return status

    def save_weights(self, *args: Any, **kwargs: Any) -> None:
        """Writes the weights to a file; see tf.keras.Model."""
        self.sync_to_cpu().save_weights(*args, **kwargs)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Writes the program's model, with the weights on the cores; see tf.keras.Model."""
        self.sync_to_cpu().save(*args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration of the program's model."""
        return self.cpu_model.get_config()

    def shutdown(self) -> None:
        """Copies the weights to the program's model. A started TPU runs until the process ends."""
        self.sync_to_cpu()

    def _make_train_function(self) -> Any:
        self._recompile_weights_loss_and_weighted_metrics()
        self.train_function = self._function(ModeKeys.TRAIN)
        return self.train_function

    def _make_test_function(self) -> Any:
        self._recompile_weights_loss_and_weighted_metrics()
        self.test_function = self._function(ModeKeys.EVAL)
        return self.test_function

    def _make_predict_function(self) -> Any:
        self.predict_function = self._function(ModeKeys.PREDICT)
        return self.predict_function

    def _function(self, mode: str) -> Any:
        """Returns Keras' step function, which takes arrays and returns loss and metrics."""
        fed, weights = list(self._feed_inputs), []
        if mode != ModeKeys.PREDICT:
            fed += [*self._feed_targets, *self._feed_sample_weights]
            # Read now: fit compiles the model again for a validation without sample weights.
            weights = [weight is not None for weight in self.sample_weights]

        def run(inputs: Any) -> list[Any]:
            if not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            # Further inputs are Keras' training flag, which the mode replaces.
            arrays = [np.asarray(a, p.dtype.as_numpy_dtype) for a, p in zip(inputs, fed)]
            return self._on_cores().run(mode, arrays, weights)

        return run

    def _on_cores(self) -> Cores:
        if self._cores is None:
            cpu_model, strategy = self._parts()
            compiled = self if self.optimizer else None
            self._cores = Cores(CompiledModel(cpu_model, compiled=compiled), strategy, self._hypers)
        return self._cores

    def _take_weights(self) -> None:
        if self._cores:
            self._cores.take_weights()

    def _hypers(self) -> dict[str, Any]:
        """Returns the optimizer's numbers; callbacks may have set those that are variables."""
        settings = {k: v for k, v in hypers(self.optimizer).items() if not callable(v)}
        variables = {k: v for k, v in settings.items() if isinstance(v, tf.Variable)}
        settings.update(zip(variables, tf_keras.backend.batch_get_value(list(variables.values()))))
        return {name: value for name, value in settings.items() if not tf.is_tensor(value)}


def tpu_model(model: Any, strategy: Any = None) -> KerasTPUModel:
    """Puts a Keras model on the cores of a TPU.

    Args:
      model: a functional or sequential model with inputs of known shapes, compiled or not.
      strategy: a TPUDistributionStrategy; this machine's TPU by default.

    Returns:
      A model with the same layers and weights.

    Raises:
      RuntimeError: the program runs eagerly, as in TF2.
      TypeError: strategy is not a TPUDistributionStrategy.
      ValueError: a layer has an unknown size in a dimension other than the batch.
    """
    if tf.executing_eagerly():
        raise RuntimeError(
            "KerasTPUModel currently does not support eager mode: it is for programs of TF1. In "
            "TF2, make and compile the model in strategy.scope(), with strategy = "
            "estimator_bridge.runtime.tpu_strategy(resolver)."
        )
    if strategy is None:
        strategy = TPUDistributionStrategy()
    if not isinstance(strategy, TPUDistributionStrategy):
        raise TypeError(
            "`strategy` must have type `tf.contrib.tpu.TPUDistributionStrategy`. Got: "
            f"{type(strategy).__name__}. Write TPUDistributionStrategy(resolver)."
        )
    if not is_graph_network(model):
        raise ValueError(
            f"{model.name!r} is a {type(model).__name__} whose inputs are not known. Create a "
            "functional model, or give the first layer of a sequential model an input_shape."
        )
    _check_shapes(model)
    refuse_uncovered(f"Keras model {model.name!r}", _NOT_COMPILED)
    core_strategy = strategy.strategy_for(model)
    logging.info("%s runs on %d core(s).", model.name, core_strategy.num_replicas_in_sync)
    return KerasTPUModel(model, core_strategy)


def _check_shapes(model: Any) -> None:
    for layer in model.layers:
        for shape in tf.nest.flatten([layer.input, layer.output]):
            if shape.shape.rank is None or None in shape.shape.as_list()[1:]:
                raise ValueError(
                    f"Layer {layer.name!r} has a variable shape in a non-batch dimension: "
                    f"{shape.shape}. TPU models must have constant shapes for all operations. You "
                    "may have to specify `input_length` for RNN/TimeDistributed layers."
                )
