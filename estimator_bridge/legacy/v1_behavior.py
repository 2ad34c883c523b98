"""Sets up `estimator-bridge run`'s compatibility for a program that plain Python runs."""

from __future__ import annotations

import os

__all__ = ["bridge_v1_behavior"]


def bridge_v1_behavior() -> None:
    """Makes TensorFlow accept what TensorFlow 1 accepted, for the rest of this process.

    `estimator-bridge rewrite` inserts the call after the import of TensorFlow, if a program needs
    it. It changes no number. Afterwards:

    - ``tf.compat.v1.Session(master)`` runs on this machine if `master` names emulated cores, and
      infeed and outfeed are queues of this process.
    - ``tf.summary.scalar``, ``histogram``, ``image`` and ``text`` write their events without the
      package tensorboard.
    - A subclass of batch normalization may override ``_moments`` without today's argument `mask`.
    - A dimension may be a whole float, such as the result of ``x.shape[1].value / 2``.
    - In a graph, a variable is true, as in ``average if average else variable``.
    - If ESTIMATOR_BRIDGE_CORES is set, the CPU is split into that many emulated cores
      immediately, because the first operation fixes the devices.

    Repeated calls change nothing.
    """
    from estimator_bridge.base.tpu_presence import CORES
    from estimator_bridge.legacy.running.bridges.batch_norm import ignore_moments_mask
    from estimator_bridge.legacy.running.bridges.dimensions import accept_old_dimensions
    from estimator_bridge.legacy.running.bridges.sessions import (
        emulate_feeds,
        run_sessions_on_cores,
    )
    from estimator_bridge.legacy.running.bridges.summaries import write_without_tensorboard
    from estimator_bridge.legacy.running.tensorflow_setup import split_the_cpu
    from estimator_bridge.legacy.tf1.variable_truth import make_variables_truthy

    run_sessions_on_cores()
    emulate_feeds()
    write_without_tensorboard()
    ignore_moments_mask()
    accept_old_dimensions()
    make_variables_truthy()
    if os.environ.get(CORES) and not _is_split():
        split_the_cpu(int(os.environ[CORES]))


def _is_split() -> bool:
    import tensorflow as tf

    (cpu, *_) = tf.config.list_physical_devices("CPU")
    return tf.config.get_logical_device_configuration(cpu) is not None
