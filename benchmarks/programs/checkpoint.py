"""Writes and restores a checkpoint of 400 MB, or of another size.

400 MB are written into a folder in memory, if there is one.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time

from benchmarks.estimators import estimators, tf, v1
from benchmarks.orders import Orders
from benchmarks.restore_time import RestoreTime

__all__ = ["serve"]

# A disk's time varies from round to round by a factor of five.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
_VARIABLES, _ROWS = 8, 12_500_000  # of float32: 50 MB each


def _model_fn(rows, features, labels, mode):
    del labels
    for i in range(_VARIABLES):
        # Equal values could share their memory.
        v1.get_variable(f"v{i}", initializer=tf.fill([rows], float(i)))
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


def serve(way: str, orders: Orders, rows: int = _ROWS) -> None:
    """Executes one order: a training, and one that resumes it in a process of its own.

    In the first process, restored variables could have the memory of those before.

    Args:
      way: does not matter.
      orders: one order.
      rows: the numbers in each of eight variables.
    """
    del way
    for _ in orders:
        fits = rows <= _ROWS  # beside the variables, of which the original holds copies
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY if fits else None) as folder:
            write_secs = _train(folder, rows)
            command = [sys.executable, "-m", "benchmarks.programs.checkpoint", folder, str(rows)]
            resumed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            orders.tell(**{"write, s": write_secs}, **json.loads(resumed.stdout.splitlines()[-1]))


def _train(folder: str, rows: int) -> float:
    """Trains one step and returns the seconds of the faster of its two saves."""
    config, saving = estimators.RunConfig(folder, tf_random_seed=1), _Saving()
    estimators.Estimator(functools.partial(_model_fn, rows), config=config).train(
        lambda: tf.data.Dataset.from_tensors(tf.ones([4])).repeat(),
        steps=1,
        saving_listeners=[saving],
    )
    return min(saving.save_secs)


def _resume(folder: str, rows: str) -> None:
    restoring = RestoreTime()
    write_secs = _train(folder, int(rows))
    figures = {"write again after a resume, s": write_secs, "restore, s": restoring.seconds}
    print(json.dumps(figures))


if __name__ == "__main__":
    _resume(*sys.argv[1:])
