"""Writes and restores a checkpoint of 400 MB, or of another size."""

from __future__ import annotations

import functools
import tempfile
import time

from benchmarks.estimators import estimators, tf, v1
from benchmarks.orders import Orders

__all__ = ["serve"]

_VARIABLES, _ROWS = 8, 12_500_000  # of float32: 50 MB each


def _model_fn(rows, features, labels, mode):
    del labels
    for i in range(_VARIABLES):
        v1.get_variable(f"v{i}", [rows], initializer=v1.zeros_initializer())
    step = v1.assign_add(v1.train.get_global_step(), 1)
    return estimators.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=step)


class _Saving(v1.train.CheckpointSaverListener):
    def __init__(self):
        self.save_secs = []

    def before_save(self, session, global_step_value):
        """Starts the clock."""
        self._start = time.perf_counter()

    def after_save(self, session, global_step_value):
        """Records the time of a save."""
        self.save_secs.append(time.perf_counter() - self._start)


class _Opening(v1.train.SessionRunHook):
    def begin(self):
        """Starts the clock."""
        self._start = time.perf_counter()

    def after_create_session(self, session, coord):
        """Records the time of the restore."""
        self.restore_secs = time.perf_counter() - self._start


def serve(way: str, orders: Orders, rows: int = _ROWS) -> None:
    """Executes one order.

    Args:
      way: does not matter.
      orders: one order.
      rows: the numbers in each of eight variables.
    """
    del way
    model_fn = functools.partial(_model_fn, rows)
    for _ in orders:
        with tempfile.TemporaryDirectory() as folder:

            def train():
                config = estimators.RunConfig(folder, tf_random_seed=1)
                saving, opening = _Saving(), _Opening()
                estimators.Estimator(model_fn, config=config).train(
                    lambda: tf.data.Dataset.from_tensors(tf.ones([4])).repeat(),
                    hooks=[opening],
                    steps=1,
                    saving_listeners=[saving],
                )
                return saving.save_secs, opening.restore_secs

            first, _ = train()
            again, restore_secs = train()
            orders.tell(
                **{
                    "write, s": min(first),
                    "write again after a resume, s": min(again),
                    "restore, s": restore_secs,
                }
            )
