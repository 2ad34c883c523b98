"""Heads for sequences: a head's examples are the steps of all sequences, without padding."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.base import Head
from estimator_bridge.heads.multi_objective import MultiHead
from estimator_bridge.heads.sequence_steps import real_steps
from estimator_bridge.model import EstimatorSpec, ModeKeys

__all__ = ["SequentialHead", "SequentialHeadWrapper"]


class SequentialHead(Head):
    """A head with logits of shape [batch, steps, logits_dimension], the last steps padding."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """The key of the mask among the features: bools [batch, steps], false for padding."""


class SequentialHeadWrapper(SequentialHead):
    """Passes each step of each sequence to a head as an example.

    Args:
      static_head: a head such as `BinaryClassHead`.
      sequence_length_mask: the key of the mask among the features.
      feature_columns: keys of the per-step features that the head needs, such as its weights.

    Raises:
      TypeError: a key is not a string.
      ValueError: static_head is a `MultiHead`.
    """

    def __init__(
        self,
        static_head: Any,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: str | Iterable[str] | None = None,
    ):
        if not isinstance(sequence_length_mask, str):
            raise TypeError(
                "`sequence_mask` column must be a string, the key of the mask among the features. "
                f"Given type: {type(sequence_length_mask)}."
            )
        if isinstance(static_head, MultiHead):
            raise ValueError(
                "`MultiHead` is not supported with `SequentialHeadWrapper`. Use a head of one "
                "objective."
            )
        self._mask_key = sequence_length_mask
        self._keys = _keys(feature_columns or [])
        self._static_head = static_head

    @property
    def static_head(self) -> Any:
        """The head for the steps."""
        return self._static_head

    @property
    def input_sequence_mask_key(self) -> str:
        """The key of the mask among the features."""
        return self._mask_key

    @property
    def name(self) -> str | None:
        """The head's name with '_sequential', or None."""
        name = self._static_head.name
        return f"{name}_sequential" if name else None

    @property
    def logits_dimension(self) -> int:
        """The number of logits per step."""
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """The reduction of the losses of a batch's steps."""
        return self._static_head.loss_reduction

    def loss(  # type: ignore[override]  # the original also has logits first here
        self,
        logits: Any,
        labels: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Computes the loss of a batch's steps, a scalar; see `Head`. Logits come first."""
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.loss(
            logits=logits,
            labels=labels,
            features=features,
            mode=mode,
            regularization_losses=regularization_losses,
        )

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Returns predictions for all steps, [batch, steps, ...], including padding; see `Head`."""
        return self._static_head.predictions(logits, keys=keys)

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> dict[str, Any]:
        """Makes the head's metrics; see `Head`."""
        return self._static_head.metrics(regularization_losses)

    def update_metrics(  # type: ignore[override]  # the original's heads take no mode here
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any] | None,
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> dict[str, Any]:
        """Updates metrics with a batch's steps; see `Head`."""
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics=eval_metrics,
            features=features,
            logits=logits,
            labels=labels,
            regularization_losses=regularization_losses,
        )

    def create_estimator_spec(
        self,
        features: Mapping[str, Any] | None,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[tf.Variable] | None = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> EstimatorSpec:
        """Makes the spec that a model_fn returns; see `Head`. Predictions include the mask."""
        if mode == ModeKeys.PREDICT:
            mask = self._mask(features)
            spec = self._static_head.create_estimator_spec(
                features=features, mode=mode, logits=logits
            )
            return spec._replace(predictions={**spec.predictions, self._mask_key: mask})
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        )

    def _mask(self, features: Mapping[str, Any] | None) -> tf.Tensor:
        features_by_name = features or {}
        if self._mask_key not in features_by_name:
            raise ValueError(
                f"The provided sequence_length_mask key `{self._mask_key}` should be included in "
                "the features dictionary, but was not found. Found keys: "
                f"{list(features_by_name)}. Add tf.sequence_mask(lengths) under it."
            )
        return features_by_name[self._mask_key]

    def _steps(self, labels: Any, logits: Any, features: Any) -> tuple[Any, Any, dict[str, Any]]:
        mask = self._mask(features)
        if mask.shape.ndims != 2:
            raise ValueError(
                "Mask is expected to have two dimensions, [batch, steps], got "
                f"{mask.shape.ndims} instead."
            )
        missing = [key for key in self._keys if key not in features]
        if missing:
            raise ValueError(
                f"`{missing[0]}` column expected in features dictionary. It has: {list(features)}."
            )
        with tf.name_scope("flatten"):
            flat_logits, flat_labels = real_steps(logits, mask), real_steps(labels, mask)
            return flat_labels, flat_logits, {k: real_steps(features[k], mask) for k in self._keys}


def _keys(columns: Any) -> list[str]:
    if not isinstance(columns, Iterable):
        raise TypeError(
            "`feature_columns` must be either a string or an iterable of strings got "
            f"{type(columns)} instead."
        )
    keys = [columns] if isinstance(columns, str) else list(columns)
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                f"Column must a string, the key of a feature. Given type: {type(key)}. With "
                "sequences, a weight_column is named by its key."
            )
    return keys
