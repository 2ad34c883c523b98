"""initialize_system and shutdown_system, which programs run in their own sessions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model.replaced_functions import original_tpu_function
from estimator_bridge.runtime import tpu_present
from estimator_bridge.runtime.strategies import started_topology
from estimator_bridge.runtime.topology import topology_of

__all__ = ["initialize_system", "shutdown_system"]

_initialize_system = original_tpu_function("initialize_system")
_shutdown_system = original_tpu_function("shutdown_system")


def initialize_system(
    embedding_config: Any = None,
    job: str | None = None,
    compilation_failure_closes_chips: bool = True,
    tpu_cancellation_closes_chips: bool | None = None,
) -> tf.Tensor:
    """Returns an operation that starts the TPU and outputs its topology.

    TensorFlow's own operation starts a TPU that this process has not started yet. A TPU that a
    TPUEstimator has started is not started again: that would drop its variables. Without a TPU, the
    topology is that of the CPU's cores, and any session computes it.

    Args:
      embedding_config: not supported.
      job: the job name of the TPU's hosts.
      compilation_failure_closes_chips: passed to TensorFlow's own operation.
      tpu_cancellation_closes_chips: passed to TensorFlow's own operation.

    Returns:
      A string scalar: a serialized TopologyProto, for ``tf.tpu.experimental.Topology``.

    Raises:
      NotImplementedError: embedding_config is not None.
    """
    if embedding_config is not None:
        raise NotImplementedError(
            "initialize_system(embedding_config=...) (TPU embeddings) is not supported. Use "
            "tf.Variable tables with tf.nn.embedding_lookup in model_fn."
        )
    if _is_programs_own():
        return _initialize_system(
            job=job,
            compilation_failure_closes_chips=compilation_failure_closes_chips,
            tpu_cancellation_closes_chips=tpu_cancellation_closes_chips,
        )
    topology = started_topology() or topology_of(_cores())
    return tf.constant(topology.serialized(), name="topology")


def shutdown_system(job: str | None = None) -> tf.Operation:
    """Shuts down a TPU that ``initialize_system`` has started; otherwise does nothing.

    A TPU that a TPUEstimator has started runs until the process ends.

    Args:
      job: the job name of the TPU's hosts.

    Returns:
      An operation that shuts down the TPU.
    """
    if _is_programs_own():
        return _shutdown_system(job=job)
    return tf.no_op(name="shutdown_system")


def _is_programs_own() -> bool:
    """Returns whether the program uses an attached TPU in its own sessions."""
    return tpu_present() and started_topology() is None


def _cores() -> int:
    """Returns the configured number of CPU cores, without listing devices, which would fix it."""
    (physical, *_) = tf.config.list_physical_devices("CPU")
    return len(tf.config.get_logical_device_configuration(physical) or [None])
