"""The model_fn of the RNN estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from estimator_bridge.canned.optimizers import counting_by_global_step, optimizer_v2
from estimator_bridge.canned.rnn_network import rnn_layer, rnn_model_class
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.tensorflow_private.keras import keras_mask

__all__ = ["rnn_fn"]

# For optimizers given by name.
_RATE = 0.05
_CLIP_NORM = 5.0


def rnn_fn(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    sequence_columns: Any,
    context_columns: Any,
    units: Any,
    cell_type: Any,
    rnn_cell_fn: Callable[[], Any] | None,
    return_sequences: bool,
    optimizer: Any,
) -> EstimatorSpec:
    """The model of ``tf.estimator.experimental.RNNEstimator``."""
    model = rnn_model_class()(
        rnn_layer=rnn_layer(rnn_cell_fn, units, cell_type, return_sequences),
        units=head.logits_dimension,
        sequence_feature_columns=sequence_columns,
        context_feature_columns=context_columns,
        return_sequences=return_sequences,
        name="rnn_model",
    )
    keras_optimizer = None
    if mode == ModeKeys.TRAIN:
        if isinstance(optimizer, str):
            keras_optimizer = optimizer_v2(optimizer, _RATE)
            keras_optimizer.clipnorm = _CLIP_NORM
        else:
            keras_optimizer = optimizer_v2(optimizer)
        keras_optimizer = counting_by_global_step(keras_optimizer)
    logits = model(features, training=mode == ModeKeys.TRAIN)
    if return_sequences and head.input_sequence_mask_key not in features:
        features = {**features, head.input_sequence_mask_key: keras_mask(logits)}
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=keras_optimizer,
        logits=logits,
        update_ops=model.updates,
        trainable_variables=model.trainable_variables,
    )
