"""Reads and assignments of distributed variables while one replica's graph is traced.

TensorFlow's distributed variables combine the replicas' values when a program reads a variable that
each replica updates separately, and when a replica assigns to a shared variable. A trace has one
variable, and these functions give it the same behavior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import ReplicaLocal, replica_locals
from estimator_bridge.tensorflow_private.variables import (
    replace_tensor_conversion,
    tensor_conversion,
)
from estimator_bridge.training.distribution.replica_exchange_ops import (
    first_of_replicas,
    join,
    sum_over_replicas,
)

__all__ = ["make_replica_local", "make_shared"]

_Aggregation = tf.VariableAggregation
_OPS = {
    _Aggregation.SUM: tf.distribute.ReduceOp.SUM,
    _Aggregation.MEAN: tf.distribute.ReduceOp.MEAN,
}


def make_replica_local(variable: Any, replicas: int, in_replica: Callable[[], bool]) -> None:
    """Makes a variable local to each replica; a read outside of them gives the sum or mean.

    Args:
      variable: declared with ``synchronization=ON_READ``.
      replicas: the number of replicas.
      in_replica: whether code of one replica is traced now.
    """
    notes = replica_locals(variable.graph)
    aggregation = variable.aggregation
    if aggregation in _OPS:
        is_mean = aggregation == _Aggregation.MEAN
        notes.variables[variable.op.name] = ReplicaLocal(is_mean, variable.initializer.name)
    own_read = variable.read_value

    def note(operation: tf.Operation) -> None:
        notes.joins.add(operation.name)

    def whole() -> tf.Tensor:
        value = own_read()
        if aggregation not in _OPS:
            return first_of_replicas(value, replicas)
        total = sum_over_replicas(value, replicas, note)
        if aggregation == _Aggregation.SUM:
            return total
        divide = tf.math.floordiv if total.dtype.is_integer else tf.realdiv
        mean = divide(total, tf.constant(replicas, total.dtype))
        note(mean.op)
        return mean

    def is_own() -> bool:
        return in_replica() or tf.compat.v1.get_default_graph() is not variable.graph

    _override_reads(variable, is_own, whole)


def make_shared(variable: Any, replicas: int, in_replica: Callable[[], bool]) -> None:
    """Makes a replica's assignment to a shared variable an assignment by all replicas.

    Args:
      variable: the variable. Its aggregation chooses the assigned value: the sum or the mean of
        the replicas' values, or the first one. Without an aggregation each replica assigns its
        own value, as in the original.
      replicas: the number of replicas.
      in_replica: whether code of one replica is traced now.
    """
    aggregation = variable.aggregation
    if aggregation == _Aggregation.NONE:
        return

    def sum_of_replicas(value: Any) -> Any:
        if not tf.is_tensor(value) or getattr(value.op, "type", None) == "Const":
            return value  # the same on all replicas
        if aggregation == _Aggregation.ONLY_FIRST_REPLICA:
            return first_of_replicas(value, replicas)
        if aggregation == _Aggregation.MEAN and not variable.dtype.is_floating:
            raise ValueError(
                "Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation "
                f"in replica context. Variable {variable.name!r} is of type "
                f"{variable.dtype.name}; declare it as a float, or with another aggregation."
            )
        return join(_OPS[aggregation], value, replicas)

    def overridden(assign: Callable[..., Any]) -> Callable[..., Any]:
        def assign_joined(value: Any, *args: Any, **kwargs: Any) -> Any:
            return assign(sum_of_replicas(value) if in_replica() else value, *args, **kwargs)

        return assign_joined

    for method in ("assign", "assign_add", "assign_sub"):
        setattr(variable, method, overridden(getattr(variable, method)))


def _override_reads(
    variable: Any, is_own: Callable[[], bool], whole: Callable[[], tf.Tensor]
) -> None:
    value, read_value = variable.value, variable.read_value
    as_tensor = tensor_conversion(variable)

    def convert(
        dtype: tf.DType | None = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        if (
            is_own()
            or as_ref
            or (dtype is not None and not dtype.is_compatible_with(variable.dtype))
        ):
            return as_tensor(dtype=dtype, name=name, as_ref=as_ref)
        return whole()

    variable.value = lambda *args, **kwargs: value(*args, **kwargs) if is_own() else whole()
    variable.read_value = lambda: read_value() if is_own() else whole()
    replace_tensor_conversion(variable, convert)
