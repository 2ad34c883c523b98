"""Assigns variables to parameter servers: ``ps_strategy`` of tf.train.replica_device_setter."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import tensorflow as tf

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
    """Assigns operations by a hash of their names, which is the same in all workers.

    Args:
      num_ps_tasks: the number of parameter servers.
      seed: changes the assignment.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: tf.Operation) -> int:
        """Returns the operation's task number."""
        key = f"{op.name}_{self._seed}".encode()
        return int(hashlib.md5(key).hexdigest(), 16) % self._tasks


class GreedyLoadBalancingStrategy:
    """Assigns each operation to the task with the smallest load so far.

    Args:
      num_tasks: the number of parameter servers.
      load_fn: a function that returns the load of an operation, in any unit.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[tf.Operation], float]):
        self._load_fn = load_fn
        self._loads = [0.0] * num_tasks

    def __call__(self, op: tf.Operation) -> int:
        """Returns the operation's task number."""
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: tf.Operation) -> int:
    """Returns the size in bytes of an operation's only output, as a load.

    Raises:
      ValueError: it does not have exactly one output, or the output's shape is unknown.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.name} must have a single output, but has {len(op.outputs)}.")
    output = op.outputs[0]
    # A resource variable's output is a handle; the variable's shape is an attribute.
    is_handle = op.type == "VarHandleOp"
    shape = tf.TensorShape(op.get_attr("shape")) if is_handle else output.shape
    if not shape.is_fully_defined():
        raise ValueError(
            f"Op {op.name} must have a fully-defined shape to be measured in bytes, got {shape}."
        )
    dtype = op.get_attr("dtype") if is_handle else output.dtype
    return dtype.size * shape.num_elements()
