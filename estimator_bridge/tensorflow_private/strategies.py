"""Properties of strategies, and the way they create variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "communication_options",
    "cores_per_replica",
    "device_assignment",
    "in_multi_worker_mode",
    "merges_replicas",
    "server_runs",
    "tpu_metadata",
    "wrap_variable_creation",
]


def server_runs(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether a MultiWorkerMirroredStrategy's server runs; False with v2 behavior off."""
    return getattr(strategy.extended, "_std_server_started", False)


def communication_options(strategy: tf.distribute.Strategy):
    """The CommunicationOptions that a MultiWorkerMirroredStrategy was given."""
    return strategy.extended._communication_options


def merges_replicas(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether replicas may use merge_call; with multi-GPU collectives they must not."""
    return strategy.extended._use_merge_call()


def device_assignment(strategy: tf.distribute.Strategy):
    """A TPUStrategy's DeviceAssignment; None without one, and for other strategies.

    No public API returns it.
    """
    return getattr(strategy.extended, "_device_assignment", None)


def cores_per_replica(strategy: tf.distribute.Strategy) -> int:
    """The number of TPU cores per replica: 1 without a DeviceAssignment."""
    assignment = device_assignment(strategy)
    return assignment.num_cores_per_replica if assignment else 1


def tpu_metadata(strategy: tf.distribute.Strategy) -> tf.tpu.experimental.TPUSystemMetadata | None:
    """The hosts and cores of a TPUStrategy's TPU; None for other strategies.

    The strategy's public API shows only the first core of each replica.
    """
    return getattr(strategy.extended, "_tpu_metadata", None)


def in_multi_worker_mode(extended: Any) -> bool:
    """Returns whether several processes share a strategy, given its extended object."""
    return extended._in_multi_worker_mode()


def wrap_variable_creation(
    strategy: tf.distribute.Strategy, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> None:
    """Wraps the function by which a strategy creates a variable's copies.

    The public variable_creator_scope sees only the variable, not its copies.

    Args:
      strategy: the strategy to change.
      wrap: maps the function that creates one copy to its replacement.
    """
    create = strategy.extended._create_variable

    def create_wrapped(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return create(wrap(next_creator), **kwargs)

    strategy.extended._create_variable = create_wrapped
