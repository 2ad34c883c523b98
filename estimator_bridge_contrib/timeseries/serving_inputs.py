"""The inputs of an export: placeholders for a model's features and its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.export import ServingInputReceiver
from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.head import state_to_dictionary

__all__ = ["one_shot_receiver_fn", "raw_receiver_fn"]

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_Receiver = Callable[[], ServingInputReceiver]


def raw_receiver_fn(model: Any, batch: int | None, length: int | None) -> _Receiver:
    """Makes a function that makes the inputs of an export that takes arrays.

    Args:
      model: the model.
      batch: the size of a batch; None for any.
      length: the length of a series; None for any.
    """

    def receiver_fn() -> ServingInputReceiver:
        times = _v1.placeholder(tf.int64, [batch, length], name=_TIMES)
        inputs = {_TIMES: times}
        # A prediction takes no values.
        nothing = tf.zeros([batch or 0, length or 0, model.num_features], dtype=model.dtype)
        inputs[_VALUES] = _v1.placeholder_with_default(
            nothing, (batch, length, model.num_features), name=_VALUES
        )
        for name, (kind, sizes) in _column_features(model).items():
            inputs[name] = _v1.placeholder(kind, [batch, length, *sizes], name=name)
        inputs.update(_state(model, tf.shape(times)[0], batch))
        return ServingInputReceiver(inputs, inputs)

    return receiver_fn


def one_shot_receiver_fn(
    model: Any,
    filtering_length: int,
    prediction_length: int,
    batch: int | None,
    values_dtype: Any,
    truncate_values: bool,
) -> _Receiver:
    """Makes a function that makes the input of an export that takes serialized examples.

    Args:
      model: the model.
      filtering_length: the number of times with values.
      prediction_length: the number of times to predict.
      batch: the size of a batch; None for any.
      values_dtype: the type of an example's values, float32 or int64; None for float32.
      truncate_values: whether examples have values also for the times to predict, which are not
        used.
    """
    total = filtering_length + prediction_length
    lengths = {_VALUES: total if truncate_values else filtering_length}

    def receiver_fn() -> ServingInputReceiver:
        columns = [
            *model.exogenous_feature_columns,
            tf.feature_column.numeric_column(_TIMES, dtype=tf.int64),
            tf.feature_column.numeric_column(
                _VALUES, dtype=values_dtype or tf.float32, shape=(model.num_features,)
            ),
        ]
        specs = tf.feature_column.make_parse_example_spec(columns)
        specs = {
            name: _of_series(name, spec, lengths.get(name, total)) for name, spec in specs.items()
        }
        examples = _v1.placeholder(tf.string, [batch], name="input")
        features = _v1.parse_example(examples, specs)
        features[_TIMES] = tf.squeeze(features[_TIMES], axis=[-1])
        values = tf.cast(features[_VALUES], model.dtype)
        features[_VALUES] = values[:, :filtering_length]
        features.update(_state(model, tf.shape(features[_TIMES])[0], batch))
        return ServingInputReceiver(features, {"examples": examples})

    return receiver_fn


def _of_series(name: str, spec: Any, length: int) -> Any:
    """Returns the spec of a feature that has a value for each of several times."""
    if isinstance(spec, tf.io.FixedLenFeature):
        return spec._replace(shape=(length, *spec.shape))
    if spec.dtype == tf.string:
        return tf.io.FixedLenFeature(shape=(length,), dtype=tf.string)
    raise ValueError(
        f"VarLenFeatures not supported, got {spec} for key {name}. Use a column of numbers with a "
        "fixed shape, or of strings."
    )


def _column_features(model: Any) -> dict[str, tuple[Any, list[Any]]]:
    """Returns types and sizes, without the batch's, of the features of a model's columns."""
    if not model.exogenous_feature_columns:
        return {}
    with tf.Graph().as_default():
        spec = tf.feature_column.make_parse_example_spec(model.exogenous_feature_columns)
        parsed = _v1.parse_example(_v1.placeholder(tf.string, [None]), spec)
        return {
            name: (value.dtype, value.get_shape().with_rank_at_least(1).as_list()[1:])
            for name, value in parsed.items()
        }


def _state(model: Any, size: tf.Tensor, batch: int | None) -> dict[str, tf.Tensor]:
    """Makes a placeholder for each tensor of a model's state; zeros if none is fed."""
    with tf.Graph().as_default():  # a model may have to make variables to know its state's shape
        model.initialize_graph()
        zeros = tf.nest.map_structure(
            lambda each: tf.get_static_value(tf.zeros_like(each)), model.get_start_state()
        )
    placeholders = {}
    for name, zero in state_to_dictionary(zeros).items():
        repeats = tf.concat([size[None], tf.ones(zero.ndim, dtype=tf.int32)], axis=0)
        placeholders[name] = _v1.placeholder_with_default(
            tf.tile(zero[None, ...], multiples=repeats),
            tf.TensorShape((batch,)).concatenate(zero.shape),
            name=name,
        )
    return placeholders
