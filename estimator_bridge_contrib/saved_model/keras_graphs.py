"""The graph of a Keras model in one mode, as part of a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.export import EvalOutput, PredictOutput
from estimator_bridge.export.signatures import build_signatures
from estimator_bridge.export.supervised_outputs import TrainOutput
from estimator_bridge.keras.cloning import CompiledModel, keras_in_graphs
from estimator_bridge.model import ExportOutput, ModeKeys
from estimator_bridge.tensorflow_private.keras import (
    compiled_metrics,
    make_function_of_mode,
    model_targets,
)
from estimator_bridge.tensorflow_private.saving import last_meta_graph, variables_are_written
from estimator_bridge_contrib.older_graphs import leave_out_later_parts

__all__ = ["add_graph", "check_optimizer"]

_v1 = tf.compat.v1
_TAGS = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "eval", ModeKeys.PREDICT: "serve"}
# Signatures of operations, by which loaders find the two.
_INIT, _TRAIN = "__saved_model_init_op", "__saved_model_train_op"


def check_optimizer(optimizer: Any) -> None:
    """Checks that an optimizer's slots can be saved for a graph.

    Raises:
      ValueError: it is one of Keras's newer optimizers, which work only in eager code.
    """
    import tf_keras

    if isinstance(optimizer, tf_keras.optimizers.Optimizer):
        kind = type(optimizer).__name__
        raise ValueError(
            f"save_keras_model cannot write a training graph with {kind}, which works only in "
            f"eager code. Compile the model with tf.keras.optimizers.legacy.{kind}."
        )


def add_graph(
    builder: Any,
    model: Any,
    mode: str,
    weights: str,
    custom_objects: Mapping[str, Any] | None,
    input_signature: Any,
    completes_weights: bool,
) -> None:
    """Adds a model's graph in one mode to a SavedModel.

    Args:
      builder: the SavedModel's builder.
      model: the model, which is not changed.
      mode: one of ModeKeys.
      weights: the prefix of the checkpoint of the model's weights.
      custom_objects: classes and functions that the model's configuration names.
      input_signature: the inputs' specs, or None for those of the model.
      completes_weights: whether to write the checkpoint again, with the variables that only the
        copy in this graph has.
    """
    recipe = CompiledModel(model, custom_objects)
    with tf.Graph().as_default() as graph, keras_in_graphs(mode == ModeKeys.TRAIN):
        inputs = None
        if input_signature is not None:
            inputs = tf.nest.map_structure(_placeholder, input_signature)
        if mode == ModeKeys.PREDICT:
            copy = recipe.copy(inputs)
        else:
            copy = recipe.build(inputs, counts_steps=False)
            _v1.add_to_collection(_v1.GraphKeys.GLOBAL_STEP, copy.optimizer.iterations)
        train_op = make_function_of_mode(copy, mode)
        graph.get_collection_ref(_v1.GraphKeys.UPDATE_OPS).extend(copy.state_updates)
        with _v1.Session().as_default():
            objects = tf.__internal__.tracking.ObjectGraphView(copy).frozen_saveable_objects()
            status = copy.load_weights(weights)
            if completes_weights:
                copy.save_weights(weights, overwrite=True, save_format="tf")
            else:
                status.assert_existing_objects_matched()
            _write(builder, copy, mode, train_op, objects)


def _write(builder: Any, copy: Any, mode: str, train_op: Any, objects: Any) -> None:
    """Adds the default graph to the SavedModel; the weights have been written by objects."""
    signatures = build_signatures(
        _fed(copy, mode), _outputs(copy, mode), serving_only=mode == ModeKeys.PREDICT
    )
    operations = {_INIT: _v1.local_variables_initializer()}
    if train_op is not None:
        operations[_TRAIN] = train_op
    variables_are_written(builder)
    builder.add_meta_graph(
        [_TAGS[mode]],
        signature_def_map=signatures,
        saver=_v1.train.Saver(objects, allow_empty=True),
        strip_default_attrs=True,
    )
    written = last_meta_graph(builder)
    leave_out_later_parts(written.graph_def)
    for name, operation in operations.items():
        info = written.signature_def[name].outputs[name]
        info.name = operation.name
        info.tensor_shape.unknown_rank = True


def _placeholder(spec: tf.TensorSpec) -> tf.Tensor:
    return _v1.placeholder(spec.dtype, spec.shape, spec.name)


def _fed(copy: Any, mode: str) -> dict[str, tf.Tensor]:
    fed = dict(zip(copy.input_names, copy.inputs))
    if mode != ModeKeys.PREDICT:
        targets = (each for each in model_targets(copy) if each is not None)
        fed.update((each.op.name, each) for each in targets)
    return fed


def _outputs(copy: Any, mode: str) -> dict[str, ExportOutput]:
    predictions = dict(zip(copy.output_names, copy.outputs))
    if mode == ModeKeys.PREDICT:
        return {tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    metrics = {each.name: each for each in compiled_metrics(copy)}
    _register(metrics.values())
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    return {mode: kind(copy.total_loss, predictions, metrics or None)}


def _register(metrics: Any) -> None:
    """Adds the metrics' variables to the local ones, which the graph's first operation resets."""
    local_variables = _v1.get_collection(_v1.GraphKeys.LOCAL_VARIABLES)
    for variable in (each for metric in metrics for each in metric.variables):
        if not any(variable is each for each in local_variables):
            _v1.add_to_collection(_v1.GraphKeys.LOCAL_VARIABLES, variable)
