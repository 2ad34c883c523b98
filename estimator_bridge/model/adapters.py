"""A model described once, and its two model_fns."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model.cross_shard import number_of_shards
from estimator_bridge.model.estimator_spec import EstimatorSpec
from estimator_bridge.model.gathered_call import GatheredCall
from estimator_bridge.model.keras_layers import KerasLayers, watch_keras_layers
from estimator_bridge.model.modes import ModeKeys, check_mode
from estimator_bridge.model.named_arguments import NamedArguments
from estimator_bridge.model.spec_checks import check_loss
from estimator_bridge.model.static_shapes import check_static_shapes
from estimator_bridge.model.tpu_spec import TPUEstimatorSpec
from estimator_bridge.model.training_op import make_train_op, with_regularization

__all__ = ["Model"]

_SETTINGS = ("mode", "training", "params", "config")
_INPUTS = ("features", "labels", *_SETTINGS)
_ALL = ("features", "labels", "outputs", "logits", *_SETTINGS)


@dataclasses.dataclass(frozen=True)
class _Built:
    """The results of one call of a model_fn, except for the metrics."""

    values: dict[str, Any]  # values that the user's functions may take
    predictions: Any = None
    loss: tf.Tensor | None = None
    train_op: tf.Operation | None = None


class Model:
    """A model for both `Estimator` and `TPUEstimator`.

    Each part is a function. It is called with the values that its arguments name, out of:

    - ``features``, ``labels``: the results of the input_fn; labels are None in PREDICT mode.
    - ``outputs``, or ``logits``: the result of `inference`.
    - ``mode``: one of `ModeKeys`; ``training``: whether it is TRAIN.
    - ``params``, ``config``: the estimator's.

    ::

        def inference(features, training):
            net = tf.keras.layers.Dense(64, activation="relu")(features["x"])
            net = tf.keras.layers.Dropout(0.5)(net, training=training)
            return tf.keras.layers.Dense(10)(net)

        def loss(labels, logits):
            return tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)

        model = Model(inference, loss, optimizer=lambda params: Adam(params["learning_rate"]))
        Estimator(model.model_fn, ...)
        TPUEstimator(model.tpu_model_fn, ...)

    A function sees one replica's batch, which with one replica is the global batch. So each replica
    has its own loss; their mean is minimized.

    Layers' side effects are handled: updates of batch norm (of tf_keras layers, and all in
    ``UPDATE_OPS``) run with each training step, regularization losses are added to the loss, and
    layers with ``trainable=False`` are not trained.

    Args:
      inference: maps features to outputs, a tensor or a structure of tensors, batch first.
      loss: returns a scalar tensor, the mean over the batch. TRAIN and EVAL need it.
      metrics: for EVAL, returns a dict by name of ``tf.compat.v1.metrics`` pairs or of tf_keras
        metrics after ``update_state``. On a TPU it gets the global batch, gathered from all
        replicas.
      predictions: for PREDICT, returns a tensor or a dict of tensors, batch first; by default the
        outputs if they are a dict, otherwise {"outputs": outputs}.
      optimizer: returns a ``tf.compat.v1.train.Optimizer`` or a tf_keras optimizer. TRAIN needs it.
        For a TPU it becomes a `CrossShardOptimizer`.

    Raises:
      TypeError: a part is not a function.
      ValueError: a part has an argument that is not one of the names above.
    """

    def __init__(
        self,
        inference: Callable[..., Any],
        loss: Callable[..., tf.Tensor] | None = None,
        metrics: Callable[..., dict[str, Any]] | None = None,
        predictions: Callable[..., Any] | None = None,
        optimizer: Callable[..., Any] | None = None,
    ):
        self._inference = NamedArguments("inference", inference, _INPUTS)
        self._loss = _optional("loss", loss, _ALL)
        self._metrics = _optional("metrics", metrics, _ALL)
        self._predictions = _optional("predictions", predictions, _ALL)
        self._optimizer = _optional("optimizer", optimizer, _SETTINGS)

    def model_fn(
        self, features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        """Builds the model for an `Estimator`, in the default graph.

        Args:
          features: a batch of features, as the input_fn returned them.
          labels: the batch's labels, or None.
          mode: one of `ModeKeys`.
          params: the estimator's params.
          config: the estimator's RunConfig.

        Returns:
          The spec of the mode.

        Raises:
          ValueError: the model lacks a part that the mode needs.
          TypeError: a part returned something of the wrong type.
        """
        content = self._build(features, labels, mode, params, config, for_tpu=False)
        metrics = None
        if self._metrics and mode == ModeKeys.EVAL:
            metrics = self._metrics(content.values)
        return EstimatorSpec(
            mode,
            predictions=content.predictions,
            loss=content.loss,
            train_op=content.train_op,
            eval_metric_ops=metrics,
        )

    def tpu_model_fn(
        self, features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> TPUEstimatorSpec:
        """Builds the model for a `TPUEstimator`, in the default graph.

        Args:
          features: the features of one replica's batch.
          labels: the batch's labels, or None.
          mode: one of `ModeKeys`.
          params: the estimator's params.
          config: the estimator's tpu.RunConfig.

        Returns:
          The spec of the mode.

        Raises:
          ValueError: the model lacks a part that the mode needs, or, in TPU mode, a shape is not
            static.
          TypeError: a part returned something of the wrong type.
        """
        content = self._build(features, labels, mode, params, config, for_tpu=True)
        metrics = None
        if self._metrics and mode == ModeKeys.EVAL:
            host_call = GatheredCall(self._metrics, content.values)
            metrics = (host_call, host_call.tensors)
        return TPUEstimatorSpec(
            mode,
            predictions=content.predictions,
            loss=content.loss,
            train_op=content.train_op,
            eval_metrics=metrics,
        )

    def keras_model(
        self, spec: Any, params: Any = None, config: Any = None, **compile_arguments: Any
    ) -> Any:
        """Makes a compiled tf_keras model of the same functions, for ``fit`` or a custom loop.

        Call it in a strategy's scope to train on several cores. ``fit``, ``evaluate`` and
        ``predict`` use the model's own loss, metrics and predictions. The loss of a replica is
        that of its part of the batch, and the mean of the losses is minimized, as under an
        estimator. A loop of the program's own calls ``strategy.run(model.replica_step,
        args=(features, labels))``.

        `inference` is called with Keras's symbolic tensors. Its layers have to be tf_keras layers.

        Args:
          spec: a dataset of (features, labels) in batches, or its ``element_spec``.
          params: the params that the functions get.
          config: the config that they get.
          **compile_arguments: for tf_keras's ``compile``, such as ``steps_per_execution``. An
            ``optimizer`` replaces the model's own.

        Returns:
          A tf_keras model. Its ``inference_model`` is a plain functional model, to be saved.

        Raises:
          ValueError: the model lacks a loss or an optimizer, or the spec is not of batches of
            dense tensors.
          TypeError: a part returned something of the wrong type.
        """
        # Keras takes a second to load, which an estimator's program may not need.
        from estimator_bridge.model.model_in_keras import Parts, keras_model

        parts = Parts(
            self._inference,
            self._loss,
            self._metrics,
            self._predictions,
            self._optimizer,
            params,
            config,
        )
        return keras_model(parts, spec, **compile_arguments)

    def _build(
        self, features: Any, labels: Any, mode: str, params: Any, config: Any, for_tpu: bool
    ) -> _Built:
        check_mode(mode, "Model")
        self._check_parts(mode)
        on_tpu = for_tpu and number_of_shards() is not None
        training = mode == ModeKeys.TRAIN
        values = {
            "features": features,
            "labels": labels,
            "mode": mode,
            "training": training,
            "params": params,
            "config": config,
        }
        if on_tpu:
            check_static_shapes("features", features)
            check_static_shapes("labels", labels)
        with watch_keras_layers(training) as layers:
            values["outputs"] = values["logits"] = _result_of(self._inference, values)
            if on_tpu:
                check_static_shapes("outputs", values["outputs"])
            if mode == ModeKeys.PREDICT:
                predictions = self._predict(values)
                if on_tpu:
                    check_static_shapes("predictions", predictions)
                return _Built(values, predictions)
            return self._train_or_evaluate(values, mode, layers, for_tpu)

    def _predict(self, values: dict[str, Any]) -> Any:
        if self._predictions:
            return _result_of(self._predictions, values)
        outputs = values["outputs"]
        return outputs if isinstance(outputs, dict) else {"outputs": outputs}

    def _train_or_evaluate(
        self, values: dict[str, Any], mode: str, layers: KerasLayers, for_tpu: bool
    ) -> _Built:
        assert self._loss
        loss = check_loss(_result_of(self._loss, values), mode)
        loss = with_regularization(loss, layers)
        if mode == ModeKeys.EVAL:
            return _Built(values, loss=loss)
        assert self._optimizer
        optimizer = _result_of(self._optimizer, values)
        return _Built(values, loss=loss, train_op=make_train_op(optimizer, loss, layers, for_tpu))

    def _check_parts(self, mode: str) -> None:
        needs_by_mode = {ModeKeys.TRAIN: ("loss", "optimizer"), ModeKeys.EVAL: ("loss",)}
        for part in needs_by_mode.get(mode, ()):
            if getattr(self, f"_{part}") is None:
                raise ValueError(
                    f"This Model has no {part}, which mode {mode!r} needs. Give it one: "
                    f"Model(inference, ..., {part}={_EXAMPLES[part]})."
                )


_EXAMPLES = {
    "loss": "lambda labels, outputs: tf.compat.v1.losses.mean_squared_error(labels, outputs)",
    "optimizer": "lambda params: tf.compat.v1.train.AdamOptimizer(params['learning_rate'])",
}


def _optional(
    role: str, fn: Callable[..., Any] | None, available_names: tuple[str, ...]
) -> NamedArguments | None:
    return None if fn is None else NamedArguments(role, fn, available_names)


def _result_of(part: NamedArguments, values: dict[str, Any]) -> Any:
    result = part(values)
    if result is None:
        raise TypeError(f"{part.role} returned None; is a return statement missing in it?")
    return result
