"""What a strategy knows, and what it makes variables with."""

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
    """Whether a MultiWorkerMirroredStrategy has met its peers: not where v2 behavior is off."""
    return getattr(strategy.extended, "_std_server_started", False)


def communication_options(strategy: tf.distribute.Strategy):
    """The CommunicationOptions that a MultiWorkerMirroredStrategy was given."""
    return strategy.extended._communication_options


def merges_replicas(strategy: tf.distribute.Strategy) -> bool:
    """Whether replicas meet in merge_call; the others (collectives of many GPUs) must not."""
    return strategy.extended._use_merge_call()


def device_assignment(strategy: tf.distribute.Strategy):
    """The DeviceAssignment that a TPUStrategy was given; None for none, and for other strategies.

    TensorFlow has no public way to ask.
    """
    return getattr(strategy.extended, "_device_assignment", None)


def cores_per_replica(strategy: tf.distribute.Strategy) -> int:
    """Over how many of a TPU's cores a replica is spread: 1 where there is no DeviceAssignment."""
    assignment = device_assignment(strategy)
    return assignment.num_cores_per_replica if assignment else 1


def tpu_metadata(strategy: tf.distribute.Strategy) -> tf.tpu.experimental.TPUSystemMetadata | None:
    """The hosts and cores of a TPUStrategy's TPU; None for other strategies.

    The strategy itself tells only of its replicas' first cores.
    """
    return getattr(strategy.extended, "_tpu_metadata", None)


def in_multi_worker_mode(extended: Any) -> bool:
    """Whether several processes share a strategy; TensorFlow asks a strategy's extended object."""
    return extended._in_multi_worker_mode()


def wrap_variable_creation(
    strategy: tf.distribute.Strategy, wrapped: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> None:
    """Replaces the function by which a strategy makes a variable's copies.

    A public variable_creator_scope sees the variable, and not its copies.

    Args:
      strategy: that is changed.
      wrapped: of the function that makes one copy, the one that is to be called.
    """
    create = strategy.extended._create_variable

    def create_wrapped(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return create(wrapped(next_creator), **kwargs)

    strategy.extended._create_variable = create_wrapped
