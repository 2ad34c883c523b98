"""initialize_system and shutdown_system, as programs run them in their own sessions."""

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
    """The topology of the TPU, once it is started.

    TensorFlow's own operation starts a TPU that this process has not started yet. Where a
    TPUEstimator has, it is not started again, which would drop the variables on it. Where there is
    no TPU, the topology is that of the CPU's cores, and it runs in any session.

    Args:
      embedding_config: not supported.
      job: of the TPU's hosts.
      compilation_failure_closes_chips: for TensorFlow's own operation.
      tpu_cancellation_closes_chips: for TensorFlow's own operation.

    Returns:
      A string scalar: a serialized TopologyProto, for ``tf.tpu.experimental.Topology``.

    Raises:
      NotImplementedError: there is an embedding_config.
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
    """Shuts down a TPU that ``initialize_system`` has started; else does nothing.

    What a TPUEstimator has started lasts as long as the process.

    Args:
      job: of the TPU's hosts.

    Returns:
      The operation.
    """
    if _is_programs_own():
        return _shutdown_system(job=job)
    return tf.no_op(name="shutdown_system")


def _is_programs_own() -> bool:
    """Whether the program uses an attached TPU in its own sessions."""
    return tpu_present() and started_topology() is None


def _cores() -> int:
    """Returns the configured number of CPU cores; listing the devices would fix it."""
    (physical, *_) = tf.config.list_physical_devices("CPU")
    return len(tf.config.get_logical_device_configuration(physical) or [None])
