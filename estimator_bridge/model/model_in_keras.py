"""A `Model` as a tf_keras model: for fit and evaluate, and for a loop of the program's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_bridge.model.metrics_on_host import MetricsOnHost
from estimator_bridge.model.modes import ModeKeys
from estimator_bridge.model.named_arguments import NamedArguments
from estimator_bridge.model.optimizer_in_keras import as_keras_optimizer
from estimator_bridge.model.reused_variables import ReusedVariables
from estimator_bridge.model.spec_checks import check_loss

__all__ = ["ModelInKeras", "Parts", "keras_model"]

_OWN_ARGUMENTS = ("loss", "metrics", "loss_weights", "weighted_metrics")


@dataclasses.dataclass(frozen=True)
class Parts:
    """The functions of a `Model`, with an estimator's settings."""

    inference: NamedArguments
    loss: NamedArguments | None
    metrics: NamedArguments | None
    predictions: NamedArguments | None
    optimizer: NamedArguments | None
    params: Any = None
    config: Any = None

    def call(
        self,
        part: NamedArguments,
        mode: str,
        features: Any,
        labels: Any = None,
        outputs: Any = None,
    ) -> Any:
        """Calls one of the functions with the values that it names."""
        return part(
            {
                "features": features,
                "labels": labels,
                "outputs": outputs,
                "logits": outputs,
                "mode": mode,
                "training": mode == ModeKeys.TRAIN,
                "params": self.params,
                "config": self.config,
            }
        )


def keras_model(parts: Parts, spec: Any, **compile_arguments: Any) -> ModelInKeras:
    """Makes and compiles a tf_keras model; see ``Model.keras_model``."""
    features, labels = _features_and_labels(spec)
    conflicts = [name for name in _OWN_ARGUMENTS if name in compile_arguments]
    if conflicts:
        raise ValueError(
            f"keras_model() got {', '.join(conflicts)}, but the Model's own loss and metrics are "
            "used. Leave them out, or compile model.inference_model with them."
        )
    if parts.loss is None:
        raise ValueError("This Model has no loss, which a Keras model needs: Model(..., loss=...).")
    if "labels" in parts.inference.names:
        raise ValueError(
            "inference takes labels, but a Keras model is called with features only. Compute what "
            "needs labels in `loss` or `metrics`."
        )
    if "optimizer" not in compile_arguments:
        if parts.optimizer is None:
            raise ValueError(
                "This Model has no optimizer: Model(..., optimizer=...), or "
                "keras_model(..., optimizer=...)."
            )
        part = parts.optimizer
        make = lambda: parts.call(part, ModeKeys.TRAIN, None)  # noqa: E731
        compile_arguments["optimizer"] = as_keras_optimizer(make)
    model = ModelInKeras(parts, _networks(parts, features), (features, labels))
    model.compile(**compile_arguments)
    return model


class ModelInKeras(tf_keras.Model):
    """A `Model` as a compiled tf_keras model.

    Args:
      parts: the model's functions.
      networks: a functional model of the inference function for each mode.
      spec: the specs of features and labels.
    """

    def __init__(self, parts: Parts, networks: dict[str, tf_keras.Model], spec: Any):
        super().__init__(name="model")
        self._networks = networks
        # Hidden from Keras, which would track and wrap what they hold.
        self._parts_and_spec: Callable[[], tuple[Parts, Any]] = lambda: (parts, spec)
        self._host_metrics: Any = None
        # Hidden as well: a checkpoint of the weights is not to hold an epoch's mean loss.
        mean_loss = tf_keras.metrics.Mean("loss")
        self._mean_loss: Callable[[], Any] = lambda: mean_loss

    @property
    def inference_model(self) -> tf_keras.Model:
        """The functional model for prediction. Save it to serve it without this library."""
        return self._networks[ModeKeys.PREDICT]

    @property
    def metrics(self) -> list[Any]:
        """The loss: other metrics are computed on the host, by `evaluate`."""
        return [self._mean_loss()]

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns the outputs of the inference function, on one replica's features."""
        mode = ModeKeys.TRAIN if training else ModeKeys.EVAL
        return self._networks[mode](inputs, training=bool(training))

    def replica_step(self, features: Any, labels: Any) -> tf.Tensor:
        """Trains on one replica's part of a batch; call it by ``strategy.run``.

        Args:
          features: the features of the replica's part.
          labels: its labels.

        Returns:
          The replica's loss with regularization, a scalar. The mean over the replicas is
          minimized.
        """
        with tf.GradientTape() as tape:
            outputs = self(features, training=True)
            loss = self._loss(features, labels, outputs, ModeKeys.TRAIN)
            # Optimizers sum the replicas' gradients.
            share = loss / tf.distribute.get_strategy().num_replicas_in_sync
        self.optimizer.minimize(share, self.trainable_variables, tape=tape)
        return loss

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One step of fit, on one replica."""
        mean_loss = self._mean_loss()
        mean_loss.update_state(self.replica_step(*_unpack(data)))
        return {"loss": mean_loss.result()}

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Computes the predictions.

        Args:
          x: a dataset of global batches of features, or of (features, labels), or the features as
            arrays.
          batch_size: for arrays; 32 by default.
          verbose: has no effect.
          steps: the number of batches; all by default.
          **kwargs: other arguments of tf_keras, which have no effect.

        Returns:
          The predictions of all examples in their order, as NumPy.

        Raises:
          ValueError: there are no examples.
        """
        del verbose, kwargs
        data = x
        if not isinstance(x, tf.data.Dataset):
            data = tf.data.Dataset.from_tensor_slices(x).batch(batch_size or 32)
        predictions: list[Any] = []
        for batch in data.take(-1 if steps is None else steps):
            predictions += self._on_replicas(self._predict_parts, batch)
        if not predictions:
            raise ValueError("predict() got no examples: the dataset is empty.")
        return tf.nest.map_structure(lambda *parts: np.concatenate(parts), *predictions)

    def predict_step(self, data: Any) -> Any:
        """One step of predict, on one replica: what the estimator would predict."""
        features = tf_keras.utils.unpack_x_y_sample_weight(data)[0]
        parts, _ = self._parts_and_spec()
        outputs = self._networks[ModeKeys.PREDICT](features, training=False)
        if parts.predictions:
            return parts.call(parts.predictions, ModeKeys.PREDICT, features, outputs=outputs)
        return outputs if isinstance(outputs, dict) else {"outputs": outputs}

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Computes the loss and the model's metrics.

        Args:
          x: a dataset of (features, labels) in global batches, or the features as arrays.
          y: the labels, if `x` is not a dataset.
          batch_size: for arrays; 32 by default.
          verbose: has no effect.
          sample_weight: not supported.
          steps: the number of batches; all by default.
          callbacks: have no effect.
          return_dict: whether to return a dict by name, instead of a list.
          **kwargs: other arguments of tf_keras, which have no effect.

        Returns:
          The mean loss over the examples, and the metrics over all of them, as NumPy.

        Raises:
          ValueError: there are sample weights, or no examples.
        """
        del verbose, callbacks, kwargs
        if sample_weight is not None:
            raise ValueError(_NO_WEIGHTS)
        data = x
        if not isinstance(x, tf.data.Dataset):
            data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size or 32)
        data = data.take(-1 if steps is None else steps)
        metrics, total, count = self._metrics_on_host(), 0.0, 0
        if metrics:
            metrics.reset()
        for batch in data:
            parts = self._on_replicas(self._evaluate_parts, batch)
            total += sum(float(loss) * int(size) for loss, size, _ in parts)
            count += sum(int(size) for _, size, _ in parts)
            if metrics:
                values = [part for _, _, part in parts]
                metrics.update(tf.nest.map_structure(lambda *each: tf.concat(each, 0), *values))
        if not count:
            raise ValueError("evaluate() got no examples: the dataset is empty.")
        results = {"loss": total / count, **(metrics.results() if metrics else {})}
        return results if return_dict else list(results.values())

    @property
    def metrics_names(self) -> list[str]:
        """The names of the values that `evaluate` returns."""
        metrics = self._metrics_on_host()
        return ["loss", *(metrics.names if metrics else [])]

    def _on_replicas(self, step: Callable[[Any], Any], batch: Any) -> list[Any]:
        """Calls a step with a global batch, divided over the replicas.

        A short last batch that cannot be divided goes whole to each replica, and only the first
        one's results count. A replica without examples would have a loss of 0/0, and some kernels
        fail for it.

        Returns:
          The results that count, in the order of the examples.
        """
        strategy = self.distribute_strategy
        replicas = strategy.num_replicas_in_sync
        if replicas == 1:
            return [step(batch)]
        size = int(tf.shape(tf.nest.flatten(batch)[0])[0])
        each, remainder = divmod(size, replicas)

        def part(context: Any) -> Any:
            first = context.replica_id_in_sync_group * each
            return (
                batch
                if remainder
                else tf.nest.map_structure(lambda x: x[first : first + each], batch)
            )

        results = step(strategy.experimental_distribute_values_from_function(part))
        local = strategy.experimental_local_results
        return [
            tf.nest.map_structure(lambda value, i=i: local(value)[i], results)
            for i in range(1 if remainder else replicas)
        ]

    @tf.function(reduce_retracing=True)
    def _predict_parts(self, batch: Any) -> Any:
        return self.distribute_strategy.run(self.predict_step, args=(batch,))

    @tf.function(reduce_retracing=True)
    def _evaluate_parts(self, batch: Any) -> Any:
        def on_replica(data: Any) -> Any:
            features, labels = _unpack(data)
            outputs = self(features, training=False)
            loss = self._loss(features, labels, outputs, ModeKeys.EVAL)
            return loss, tf.shape(tf.nest.flatten(features)[0])[0], (features, labels, outputs)

        return self.distribute_strategy.run(on_replica, args=(batch,))

    def _loss(self, features: Any, labels: Any, outputs: Any, mode: str) -> tf.Tensor:
        parts, _ = self._parts_and_spec()
        assert parts.loss is not None  # keras_model() checks it
        loss: Any = check_loss(parts.call(parts.loss, mode, features, labels, outputs), mode)
        # Those of this mode: another mode's layers have the same weights.
        layer_losses = self._networks[mode].losses
        return tf.add_n([loss, *(tf.cast(each, loss.dtype) for each in layer_losses)])

    def _metrics_on_host(self) -> Any:
        parts, (features, labels) = self._parts_and_spec()
        part = parts.metrics
        if self._host_metrics is None and part is not None:
            outputs = tf.nest.map_structure(
                lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype),
                self._networks[ModeKeys.EVAL].output,
            )

            def metrics(batch: Any) -> Any:
                return parts.call(part, ModeKeys.EVAL, *batch)

            # Hidden in a closure from Keras, which would track it.
            host_metrics = MetricsOnHost(metrics, (features, labels, outputs))
            self._host_metrics = lambda: host_metrics
        return self._host_metrics() if self._host_metrics else None


_NO_WEIGHTS = (
    "A Model has no sample weights. Put the weights among the features, and use them in `loss` and "
    "`metrics`."
)


def _unpack(data: Any) -> tuple[Any, Any]:
    features, labels, weights = tf_keras.utils.unpack_x_y_sample_weight(data)
    if weights is not None:
        raise ValueError(_NO_WEIGHTS)
    return features, labels


def _networks(parts: Parts, features: Any) -> dict[str, tf_keras.Model]:
    """Makes a functional model for each mode; all have the same variables."""
    variables = ReusedVariables()
    with variables.recording():
        training = _network(parts, features, ModeKeys.TRAIN)
    names = set(parts.inference.names)
    if not names & {"mode", "training"}:  # then Keras itself tells the layers the mode
        return dict.fromkeys((ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT), training)
    networks = {}
    for mode in (ModeKeys.EVAL, ModeKeys.PREDICT):
        with variables.reusing():
            networks[mode] = _network(parts, features, mode)
    return {ModeKeys.TRAIN: training, **networks}


def _network(parts: Parts, features: Any, mode: str) -> tf_keras.Model:
    inputs = tf.nest.map_structure(
        lambda spec: tf_keras.Input(shape=spec.shape[1:], dtype=spec.dtype), features
    )
    outputs = parts.call(parts.inference, mode, inputs)
    if outputs is None:
        raise TypeError("inference returned None; is a return statement missing in it?")
    return tf_keras.Model(inputs, outputs)


def _features_and_labels(spec: Any) -> tuple[Any, Any]:
    spec = spec.element_spec if isinstance(spec, tf.data.Dataset) else spec
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise ValueError(
            "keras_model() needs a dataset of (features, labels) in batches, or its element_spec; "
            f"got {spec!r}."
        )
    for each in tf.nest.flatten(spec):
        if not isinstance(each, tf.TensorSpec) or not each.shape.rank:
            raise ValueError(
                "keras_model() needs batches of dense tensors, batch first, but the dataset has "
                f"{each!r}. Batch it, and make sparse or ragged tensors dense."
            )
    return tf.nest.map_structure(
        lambda each: tf.TensorSpec([None, *each.shape[1:]], each.dtype), spec
    )
