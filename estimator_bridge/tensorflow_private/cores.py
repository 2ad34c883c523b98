"""A TPUStrategy's inner part for cores that are devices of this process."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

# One dataset for each device, through which a strategy's input reaches it.
from tensorflow.python.data.ops import multi_device_iterator_ops

# The public class cannot be derived from here: a strategy's inner part refers to the strategy that
# made it, which has to be a TPUStrategy.
from tensorflow.python.distribute.mirrored_strategy import MirroredExtended

# The check of TensorFlow's TPUStrategy, which allows no eager calls.
from tensorflow.python.distribute.tpu_strategy import validate_run_function

__all__ = [
    "ExtendedOnCores",
    "OnCores",
    "runs_on_cores",
    "stop_tuning_device_datasets",
    "validate_run_function",
    "without_jit",
]

_functions_without_jit: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class OnCores:
    """The private attributes by which TensorFlow finds out how to treat a strategy.

    Mix it into a strategy class before TensorFlow's.
    """

    _collective_key_base = 0
    # A packed variable is one handle for the copies on a TPU's cores. CPU devices have none.
    _enable_packed_variable_in_eager_mode = False


class ExtendedOnCores(MirroredExtended):
    """A strategy's inner part: a replica on each device, with what programs read of a TPU's.

    Args:
      strategy: the strategy that it belongs to.
      resolver: the resolver that named the devices.
      devices: one for each replica.
      cores_per_replica: the number of logical devices that a replica counts.
      reduction: a method of summing; None for TensorFlow's choice.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        resolver: Any,
        devices: Sequence[str],
        cores_per_replica: int = 1,
        reduction: tf.distribute.CrossDeviceOps | None = None,
    ):
        super().__init__(strategy, devices=list(devices), cross_device_ops=reduction)
        self._tpu_cluster_resolver = resolver
        self._replicas = len(devices)
        self.cores_per_replica = cores_per_replica
        self.steps_per_run = 1

    @property
    def num_hosts(self) -> int:
        """One: this machine."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """The number of replicas."""
        return self._replicas

    @contextlib.contextmanager
    def experimental_logical_device(self, logical_device_id: int) -> Iterator[None]:
        """Changes nothing: a replica is whole on one device.

        Raises:
          ValueError: a replica has no such core.
        """
        if not 0 <= logical_device_id < self.cores_per_replica:
            raise ValueError(
                f"`logical_device_id` not in range: got {logical_device_id}, but a replica has "
                f"{self.cores_per_replica} logical device(s), counted from 0. Pass a "
                "DeviceAssignment with more cores per replica to the strategy."
            )
        yield


def runs_on_cores(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether a strategy, such as a TPUStrategy, runs on devices that replace a TPU's."""
    return isinstance(strategy.extended, ExtendedOnCores)


def stop_tuning_device_datasets() -> None:
    """Lets the iterators of a strategy's devices end at once; a repeated call changes nothing.

    Each iterator has a thread that tunes its dataset, and waits for it at its end. A device's
    dataset has nothing to tune. With eight cores, the end of an iterator took ten times as long,
    and sometimes minutes.
    """
    create = multi_device_iterator_ops._create_device_dataset
    if hasattr(create, "of_tensorflow"):
        return

    def create_untuned(*args: Any) -> tf.data.Dataset:
        options = tf.data.Options()
        options.autotune.enabled = False
        dataset: tf.data.Dataset = create(*args)
        return dataset.with_options(options)

    create_untuned.of_tensorflow = create  # type: ignore[attr-defined]
    multi_device_iterator_ops._create_device_dataset = create_untuned


def without_jit(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that XLA does not compile.

    A compiled function runs on one device, so it cannot update the copies of a variable that are
    on others. A TPU compiles the whole step and ignores the flag as well.

    Args:
      fn: any function; a ``tf.function`` with ``jit_compile`` is replaced by one without.
    """
    if not getattr(fn, "_jit_compile", None):
        return fn
    if fn not in _functions_without_jit:
        python_function = fn.python_function  # type: ignore[attr-defined]  # it is a tf.function
        _functions_without_jit[fn] = tf.function(python_function, reduce_retracing=True)
    return _functions_without_jit[fn]
