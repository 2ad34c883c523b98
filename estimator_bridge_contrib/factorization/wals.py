"""WALSMatrixFactorization: an estimator of the factors of a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.factorization.wals_model import WALSModel, WALSUpdate
from estimator_bridge_contrib.learn.configuration import ModeKeys
from estimator_bridge_contrib.learn.estimator import Estimator
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["WALSMatrixFactorization"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook


class WALSMatrixFactorization(Estimator):
    """Factorizes a sparse matrix by weighted alternating least squares; see `WALSModel`.

    An input_fn returns features and None. The features are sparse tensors INPUT_ROWS, some rows of
    the matrix, and INPUT_COLS, some rows of the transposed matrix, with their indices there. A
    sweep ends when all rows (columns) have been in the input. To evaluate and predict, the features
    have a boolean PROJECT_ROW, and optionally PROJECTION_WEIGHTS.

    Args:
      num_rows: the number of rows.
      num_cols: the number of columns.
      embedding_dimension: the number of dimensions of the factors.
      unobserved_weight: see `WALSModel`.
      regularization_coeff: the regularization of `WALSModel`.
      row_init: see `WALSModel`.
      col_init: as well.
      num_row_shards: as well.
      num_col_shards: as well.
      row_weights: as well.
      col_weights: as well.
      use_factors_weights_cache_for_training: has no effect: the variables are local.
      use_gramian_cache_for_training: as well.
      max_sweeps: the number of sweeps after which training stops.
      model_dir: see `Estimator`.
      config: see `Estimator`.

    Raises:
      ValueError: the config has several workers.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    # Variables of checkpoints.
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        del use_factors_weights_cache_for_training, use_gramian_cache_for_training
        if getattr(config, "num_worker_replicas", 1) > 1:
            raise ValueError(
                "WALSMatrixFactorization must be run on a single worker replica. Unset TF_CONFIG."
            )
        self._shards = num_row_shards, num_col_shards

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"It takes no labels: return (features, None). Got {labels}.")
            # A resource variable is read where it stands in the order of a step.
            with _v1.variable_scope(_v1.get_variable_scope(), use_resource=True):
                model = WALSModel(
                    num_rows,
                    num_cols,
                    embedding_dimension,
                    unobserved_weight,
                    regularization_coeff,
                    row_init,
                    col_init,
                    num_row_shards,
                    num_col_shards,
                    row_weights,
                    col_weights,
                    use_factors_weights_cache=False,
                    use_gramian_cache=False,
                )
                if mode == ModeKeys.TRAIN:
                    return _trained(model, features, (num_rows, num_cols), max_sweeps)
                built = _evaluated if mode == ModeKeys.EVAL else _projected
                return built(model, features)

        super().__init__(model_fn, model_dir, config)

    def get_row_factors(self) -> list[np.ndarray]:
        """Returns the rows' factors, an array for each shard."""
        names = (f"row_factors_shard_{number}" for number in range(self._shards[0]))
        return [self.get_variable_value(name) for name in names]

    def get_col_factors(self) -> list[np.ndarray]:
        """Returns the columns' factors, an array for each shard."""
        names = (f"col_factors_shard_{number}" for number in range(self._shards[1]))
        return [self.get_variable_value(name) for name in names]

    def get_projections(self, input_fn: Callable[..., Any]) -> Iterator[np.ndarray]:
        """Yields the factors of the rows or columns of an input."""
        for each in self.predict(input_fn=input_fn):
            yield each[self.PROJECTION_RESULT]


_Own = WALSMatrixFactorization


def _trained(
    model: WALSModel, features: Mapping[str, Any], sizes: tuple[int, int], sweeps: int | None
) -> ModelFnOps:
    """Returns a step: it begins a sweep if one is done, and updates some rows or columns."""
    is_row = _state(True, "is_row_sweep")
    is_done = _state(False, "is_sweep_done")
    completed = _state(0, _Own.COMPLETED_SWEEPS)
    loss, error = _state(0.0, _Own.LOSS), _state(0.0, _Own.RWSE)
    processed = [
        _state(tf.fill([size], False), f"processed_{name}")
        for size, name in zip(sizes, ("rows", "cols"))
    ]
    _v1.summary.scalar("loss", loss)
    _v1.summary.scalar("root_weighted_squared_error", error)
    _v1.summary.scalar("completed_sweeps", completed)

    def switch() -> tf.Tensor:
        reset = [_v1.assign(each, tf.zeros_like(each)) for each in processed]
        return _after([*reset, _v1.assign(is_row, tf.logical_not(is_row))])

    def sweep(axis: int) -> tf.Tensor:
        is_first = tf.logical_not(tf.reduce_any(processed[axis]))
        prepare = (model.prepare_row_update, model.prepare_col_update)[axis]
        ready = _v1.cond(is_first, lambda: _after([prepare()]), lambda: tf.constant(True))
        entries = features[(_Own.INPUT_ROWS, _Own.INPUT_COLS)[axis]]
        with tf.control_dependencies([ready]):
            update = _updates(model, entries, axis)
            updates = [
                update.update_op,
                _v1.assign(loss, update.unregularized_loss + update.regularization),
                _v1.assign(error, tf.sqrt(update.unregularized_loss / update.sum_weights)),
            ]
        rows = entries.indices[:, 0]
        with tf.control_dependencies(updates):
            marked = _v1.scatter_update(processed[axis], rows, tf.ones_like(rows, tf.bool))
        with tf.control_dependencies([marked]):
            is_complete = tf.reduce_all(processed[axis])
        return _after(
            [
                _v1.assign(is_done, is_complete),
                _v1.assign_add(completed, tf.cast(is_complete, tf.int32)),
            ]
        )

    switched = _v1.cond(is_done, switch, lambda: tf.constant(True))
    with tf.control_dependencies([switched]):
        swept = _v1.cond(tf.identity(is_row), lambda: sweep(0), lambda: sweep(1))
    with tf.control_dependencies([swept]):
        train_op = _v1.assign_add(_v1.train.get_global_step(), 1)
    with tf.control_dependencies([train_op]):
        reached = tf.identity(loss)
    hooks = [] if sweeps is None else [_StopAtSweepHook(completed, sweeps)]
    return ModelFnOps(
        ModeKeys.TRAIN, predictions={}, loss=reached, train_op=train_op, training_hooks=hooks
    )


def _evaluated(model: WALSModel, features: Mapping[str, Any]) -> ModelFnOps:
    def loss_of(name: str, axis: int) -> tf.Tensor:
        update = _updates(model, features[name], axis)
        return update.unregularized_loss + update.regularization

    loss = _v1.cond(
        features[_Own.PROJECT_ROW],
        lambda: loss_of(_Own.INPUT_ROWS, 0),
        lambda: loss_of(_Own.INPUT_COLS, 1),
    )
    return ModelFnOps(ModeKeys.EVAL, predictions={}, loss=loss)


def _projected(model: WALSModel, features: Mapping[str, Any]) -> ModelFnOps:
    weights = features.get(_Own.PROJECTION_WEIGHTS)
    projection = _v1.cond(
        features[_Own.PROJECT_ROW],
        lambda: model.project_row_factors(features[_Own.INPUT_ROWS], False, weights),
        lambda: model.project_col_factors(features[_Own.INPUT_COLS], True, weights),
    )
    return ModelFnOps(ModeKeys.INFER, predictions={_Own.PROJECTION_RESULT: projection})


def _updates(model: WALSModel, entries: tf.SparseTensor, axis: int) -> WALSUpdate:
    if axis == 0:
        return model.update_row_factors(entries, transpose_input=False)
    return model.update_col_factors(entries, transpose_input=True)


def _state(start: Any, name: str) -> Any:
    return _v1.Variable(start, trainable=False, name=name)


def _after(operations: list[Any]) -> tf.Tensor:
    with tf.control_dependencies(operations):
        return tf.identity(tf.constant(True))


class _StopAtSweepHook(_Hook):
    """Stops training after a number of sweeps.

    Args:
      completed: the variable of the completed sweeps.
      last: the number.
    """

    def __init__(self, completed: Any, last: int):
        self._completed, self._last = completed, last

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Reads the variable after the step."""
        del run_values
        if run_context.session.run(self._completed) >= self._last:
            run_context.request_stop()
