"""The RNN estimators of tf.estimator.experimental."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.canned.columns import as_tuple
from estimator_bridge.canned.heads import MEAN, classifier_head
from estimator_bridge.canned.rnn_fn import rnn_fn
from estimator_bridge.canned.rnn_network import USE_DEFAULT, check_cells
from estimator_bridge.heads import SequentialHead, SequentialHeadWrapper
from estimator_bridge.model import RunConfig
from estimator_bridge.training import EstimatorV1

__all__ = ["RNNClassifier", "RNNEstimator"]


class RNNEstimator(EstimatorV1):
    """A recurrent network of Keras layers below a head of your choice.

    Args:
      head: a head of ``estimator_bridge``, such as `RegressionHead`, for the loss, predictions and
        metrics.
      sequence_feature_columns: the inputs of each step: sequence columns of ``tf.feature_column``,
        or dense columns made of them.
      context_feature_columns: dense columns without steps, inputs of every step.
      units: the widths of the stacked cells; or an int, for one layer of Keras.
      cell_type: 'simple_rnn' (the default), 'lstm', 'gru', or a function of units that returns a
        Keras cell.
      rnn_cell_fn: a function without arguments that returns a cell or a list of cells, instead of
        units and cell_type.
      return_sequences: whether to predict for each step, and not only for the last one. The head
        must then be a `heads.SequentialHead`.
      model_dir: see `Estimator`.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD), which gets a learning rate of 0.05 and a clipnorm of 5.
      config: see `Estimator`.

    Raises:
      ValueError: cells are described in two ways, or the head does not support sequences.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        units: int | Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[], Any] | None = None,
        return_sequences: bool = False,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Adagrad",
        config: RunConfig | None = None,
    ):
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                f"to True. Got a {type(head).__name__}: wrap it, "
                "estimator_bridge.heads.SequentialHeadWrapper(head, 'sequence_mask')."
            )
        check_cells(rnn_cell_fn, units, cell_type)
        model_fn = functools.partial(
            rnn_fn,
            head=head,
            sequence_columns=as_tuple(sequence_feature_columns),
            context_columns=as_tuple(context_feature_columns),
            units=units if units is None or isinstance(units, int) else tuple(units),
            cell_type=cell_type,
            rnn_cell_fn=rnn_cell_fn,
            return_sequences=return_sequences,
            optimizer=optimizer,
        )
        super().__init__(model_fn, model_dir, config)


class RNNClassifier(RNNEstimator):
    """Classifies sequences, or their steps, by a recurrent network of Keras layers.

    Args:
      sequence_feature_columns: see `RNNEstimator`.
      context_feature_columns: see `RNNEstimator`.
      units: see `RNNEstimator`.
      cell_type: see `RNNEstimator`.
      rnn_cell_fn: see `RNNEstimator`.
      return_sequences: whether each step has a class: labels are of shape [batch, steps], dense or
        sparse.
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights; or, without return_sequences, a numeric
        column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: see `RNNEstimator`.
      loss_reduction: the reduction of the losses of examples or their steps to the batch's loss.
      sequence_mask: with return_sequences, the key of the mask of steps that are not padding: a
        feature if present, else made from the sequence lengths. Predictions have it too.
      config: see `Estimator`.

    Raises:
      ValueError: cells are described in two ways, or an argument of the head is invalid.
    """

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        units: int | Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[], Any] | None = None,
        return_sequences: bool = False,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = MEAN,
        sequence_mask: str = "sequence_mask",
        config: RunConfig | None = None,
    ):
        head: Any = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        if return_sequences:
            logging.info("Each step of a sequence is classified: `SequentialHeadWrapper`.")
            head = SequentialHeadWrapper(head, sequence_mask, weight_column)
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            units,
            cell_type,
            rnn_cell_fn,
            return_sequences,
            model_dir,
            optimizer,
            config,
        )
