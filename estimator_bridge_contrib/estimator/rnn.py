"""The recurrent estimators of tf.contrib.estimator, made of ``tf.nn.rnn_cell`` cells."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.columns import as_tuple
from estimator_bridge.canned.optimizers import optimizer_v1
from estimator_bridge.canned.partitioners import input_partitioner, partitioner
from estimator_bridge.heads import SequentialHead, binary_or_multi_class_head_v1
from estimator_bridge.model import EstimatorSpec, RunConfig
from estimator_bridge.training import EstimatorV1
from estimator_bridge_contrib.estimator.clipping import clip_gradients_by_norm
from estimator_bridge_contrib.estimator.rnn_network import (
    USE_DEFAULT,
    CellFn,
    check_cells,
    make_rnn_cell_fn,
    rnn_logit_fn_builder,
)

__all__ = ["USE_DEFAULT", "RNNClassifier", "RNNEstimator", "rnn_model_fn"]

_v1 = tf.compat.v1

# For optimizers that are not objects.
_RATE = 0.05
_CLIP_NORM = 5.0


class RNNClassifier(EstimatorV1):
    """A recurrent network that classifies sequences by the output of their last step.

    Args:
      sequence_feature_columns: the inputs of each step: sequence columns of
        ``tf.contrib.feature_column``, or embedding or indicator columns of them.
      context_feature_columns: dense columns without steps, inputs of every step.
      num_units: the width of each layer's cell, such as ``[32, 16]``.
      cell_type: 'basic_rnn' (the default), 'lstm', 'gru', or a subclass of
        ``tf.nn.rnn_cell.RNNCell``.
      rnn_cell_fn: a function of the mode that returns a cell, instead of num_units and cell_type.
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: a v1 optimizer; a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD), whose gradients are clipped to a global norm of 5. A name gets a learning
        rate of 0.05.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      input_layer_partitioner: the partitioner of the columns' variables.
      config: see `Estimator`.

    Raises:
      ValueError: cells are described in two ways, or an argument of the head is not valid.
    """

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = _v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        cell_fn = check_cells(rnn_cell_fn, num_units, cell_type)
        model_fn = functools.partial(
            rnn_model_fn,
            head=binary_or_multi_class_head_v1(
                n_classes, weight_column, label_vocabulary, loss_reduction
            ),
            rnn_cell_fn=cell_fn,
            sequence_feature_columns=as_tuple(sequence_feature_columns),
            context_feature_columns=as_tuple(context_feature_columns),
            return_sequences=False,
            optimizer=optimizer,
            input_layer_partitioner=input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config)


class RNNEstimator(EstimatorV1):
    """A recurrent network below a head of your choice.

    Args:
      head: a head, such as one of ``tf.contrib.estimator``, for the loss, predictions and metrics.
      sequence_feature_columns: see `RNNClassifier`.
      context_feature_columns: see `RNNClassifier`.
      num_units: see `RNNClassifier`.
      cell_type: see `RNNClassifier`.
      rnn_cell_fn: see `RNNClassifier`.
      return_sequences: whether to predict for each step, and not only for the last one. The head
        must then be a `heads.SequentialHead`.
      model_dir: see `Estimator`.
      optimizer: see `RNNClassifier`.
      input_layer_partitioner: see `RNNClassifier`.
      config: see `Estimator`.

    Raises:
      ValueError: cells are described in two ways, or the head does not support sequences.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        return_sequences: bool = False,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        cell_fn = check_cells(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                f"to True. Got a {type(head).__name__}: wrap it, "
                "estimator_bridge.heads.SequentialHeadWrapper(head, 'sequence_mask')."
            )
        model_fn = functools.partial(
            rnn_model_fn,
            head=head,
            rnn_cell_fn=cell_fn,
            sequence_feature_columns=as_tuple(sequence_feature_columns),
            context_feature_columns=as_tuple(context_feature_columns),
            return_sequences=return_sequences,
            optimizer=optimizer,
            input_layer_partitioner=input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config)


def rnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    rnn_cell_fn: CellFn,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any],
    return_sequences: bool = False,
    optimizer: Any = "Adagrad",
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
) -> EstimatorSpec:
    """Builds the model of both classes, in the variable scope 'rnn'.

    Args:
      features: tensors by key; sequences are sparse, ``[batch, steps, ...]``.
      labels: the head's labels.
      mode: one of `ModeKeys`.
      head: see `RNNEstimator`.
      rnn_cell_fn: see `RNNClassifier`.
      sequence_feature_columns: see `RNNClassifier`.
      context_feature_columns: see `RNNClassifier`; may be empty.
      return_sequences: see `RNNEstimator`.
      optimizer: see `RNNClassifier`.
      input_layer_partitioner: see `RNNClassifier`.
      config: the estimator's config; None for a model that is not divided among servers.

    Raises:
      ValueError: features are not a dict, or the optimizer's name is unknown.
    """
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}. Return "
            "({'key': feature}, labels) from input_fn."
        )
    v1_optimizer = optimizer_v1(optimizer, _RATE)
    if v1_optimizer is not optimizer:
        v1_optimizer = clip_gradients_by_norm(v1_optimizer, _CLIP_NORM)
    scope = _v1.variable_scope(
        "rnn", values=tuple(features.values()), partitioner=partitioner(config)
    )
    with scope:
        logit_fn = rnn_logit_fn_builder(
            head.logits_dimension,
            rnn_cell_fn,
            sequence_feature_columns,
            context_feature_columns,
            input_layer_partitioner or input_partitioner(config),
            return_sequences,
        )
        logits, mask = logit_fn(features=features, mode=mode)
        if return_sequences:
            features = {head.input_sequence_mask_key: mask, **features}
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: v1_optimizer.minimize(loss, _v1.train.get_global_step()),
            logits=logits,
        )


# The original's private names, by which programs build models of their own.
_make_rnn_cell_fn = make_rnn_cell_fn
_rnn_logit_fn_builder = rnn_logit_fn_builder
_rnn_model_fn = rnn_model_fn
